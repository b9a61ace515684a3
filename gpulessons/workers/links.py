"""A model of a network: every message costs its latency, and its bytes over a bandwidth.

    naive   2 latencies: all send at once, and then worker 0 does; 2 (n − 1) S bytes over its wire
    tree    2 ⌈log2 n⌉ of S bytes; a few less where n is no power of two
    ring    2 (n − 1) of S/n bytes, as gloo's own       NVIDIA/nccl-tests, doc/PERFORMANCE.md
    halving 2 log2 n of S/2, S/4 … and back, n a power of two    Thakur, Rabenseifner & Gropp 2005
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def messages(algorithm: str, workers: int) -> tuple[int, float]:
    """(how many latencies follow each other, vectors over the busiest wire in each, on average)"""
    rounds = math.ceil(math.log2(workers))
    return {
        "naive": (2, workers - 1.0),
        "tree": (2 * rounds, 1.0),
        "ring": (2 * (workers - 1), 1 / workers),
        "halving": (2 * rounds, (1 - 1 / workers) / max(rounds, 1)),
        "backend": (2 * (workers - 1), 1 / workers),
    }[algorithm]


@dataclass(frozen=True)
class Link:
    """What one message costs."""

    latency: float  # seconds
    bandwidth: float  # bytes/s

    def seconds(self, algorithm: str, workers: int, size: float) -> float:
        """An all-reduce of `size` bytes among so many workers, by the model."""
        count, share = messages(algorithm, workers)
        return count * (self.latency + share * size / self.bandwidth)


def ring_of(gpus: int, near: Link, far: Link) -> Link:
    """A hop of a ring, on average: from server to server of eight by all network cards.

    So many leave a server as NCCL's model has it: tuning.cc, nInterSteps, at 5067397c.
    """
    away = max(0, gpus // 8 - 1) / max(1, gpus - 1)
    latency = (1 - away) * near.latency + away * far.latency
    return Link(latency, 8 * far.bandwidth if away else near.bandwidth)


# Bytes a second one way, as sold. Latency: what NVIDIA's NCCL takes for one step of a ring, and for
# Ethernet by RDMA too; TCP takes longer.    NVIDIA/nccl, src/graph/tuning.cc, hwLat, at b6475625
LINKS = {
    "Ethernet, 1 Gbit/s": Link(14e-6, 0.125e9),
    "Ethernet, 25 Gbit/s": Link(14e-6, 3.125e9),
    "InfiniBand NDR, 400 Gbit/s": Link(14e-6, 50e9),
    "PCIe 3.0 x16": Link(5.7e-6, 16e9),
    "PCIe 4.0 x16": Link(5.7e-6, 32e9),
    "NVLink 4, H100": Link(3.4e-6, 450e9),
}


def nonnegative(rows: NDArray) -> tuple[float, float]:
    """The least squares of rows @ (latency, slowness) = 1, neither below zero."""
    found, *_ = np.linalg.lstsq(rows, np.ones(len(rows)))
    if found.min() > 0:
        return found[0], found[1]
    alone = (rows / (rows**2).sum(0)).sum(0)  # each without the other
    errors = ((rows * alone - 1) ** 2).sum(0)
    return (alone[0], 1e-30) if errors[0] < errors[1] else (0.0, alone[1])
