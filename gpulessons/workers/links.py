"""A model of a network: every message costs its latency, and its bytes over a bandwidth.

    naive   2 latencies: all send at once, and then worker 0 does; 2 (n − 1) S bytes over its wire
    tree    2 ⌈log2 n⌉ of S bytes; a few less where n is no power of two
    ring    2 (n − 1) of S/n bytes, as gloo's own       NVIDIA/nccl-tests, doc/PERFORMANCE.md

It is fitted to what was measured, with its error shown; beyond what was measured it is a model and
nothing more.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def messages(algorithm: str, workers: int) -> tuple[int, float]:
    """(how many latencies follow each other, vectors over the busiest wire in each, on average)"""
    return {
        "naive": (2, workers - 1.0),
        "tree": (2 * math.ceil(math.log2(workers)), 1.0),
        "ring": (2 * (workers - 1), 1 / workers),
        "backend": (2 * (workers - 1), 1 / workers),
    }[algorithm]


@dataclass(frozen=True)
class Sample:
    """One all-reduce, measured: the lower quartile of several."""

    algorithm: str
    workers: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Link:
    """What one message costs, as fitted."""

    latency: float  # seconds
    bandwidth: float  # bytes/s
    errors: tuple[float, ...] = ()  # model over measured, for each sample it was fitted to

    def seconds(self, algorithm: str, workers: int, size: float) -> float:
        """An all-reduce of `size` bytes among so many workers, by the model."""
        count, share = messages(algorithm, workers)
        return count * (self.latency + share * size / self.bandwidth)

    def slowed(self, times: float) -> "Link":
        """So many times slower throughout: what is short for a clock here becomes long enough."""
        return Link(self.latency * times, self.bandwidth / times)

    @property
    def off(self) -> float:
        """The typical error: half of the samples are nearer to the model than this factor - 1."""
        return float(np.median(np.abs(np.array(self.errors) - 1)))


# Bytes a second one way, as sold. Latency: what NVIDIA's NCCL takes for one step of a ring, and for
# Ethernet by RDMA too; TCP takes longer.    NVIDIA/nccl, src/graph/tuning.cc, hwLat, at b6475625
LINKS = {
    "Ethernet, 1 Gbit/s": Link(14e-6, 0.125e9),
    "Ethernet, 25 Gbit/s": Link(14e-6, 3.125e9),
    "InfiniBand NDR, 400 Gbit/s": Link(14e-6, 50e9),
    "PCIe 4.0 x16": Link(5.7e-6, 32e9),
    "NVLink 3, A100": Link(3.4e-6, 300e9),
    "NVLink 4, H100": Link(3.4e-6, 450e9),
    "NVLink 5, B200": Link(3.4e-6, 900e9),
}


def fit(samples: Iterable[Sample]) -> Link:
    """The Link whose relative errors are least; ValueError without samples of two sizes."""
    samples = [s for s in samples if s.workers > 1]  # one alone sends nothing
    if len({s.bytes for s in samples}) < 2:
        raise ValueError(
            "A latency and a bandwidth need samples of two sizes, by two or more workers."
        )
    rows = []
    for s in samples:
        count, share = messages(s.algorithm, s.workers)
        rows.append((count / s.seconds, count * share * s.bytes / s.seconds))
    latency, slowness = nonnegative(np.array(rows))
    link = Link(latency, 1 / slowness)
    errors = (link.seconds(s.algorithm, s.workers, s.bytes) / s.seconds for s in samples)
    return Link(link.latency, link.bandwidth, tuple(errors))


def nonnegative(rows: NDArray) -> tuple[float, float]:
    """The least squares of rows @ (latency, slowness) = 1, neither below zero."""
    found, *_ = np.linalg.lstsq(rows, np.ones(len(rows)))
    if found.min() > 0:
        return found[0], found[1]
    alone = (rows / (rows**2).sum(0)).sum(0)  # each without the other
    errors = ((rows * alone - 1) ** 2).sum(0)
    return (alone[0], 1e-30) if errors[0] < errors[1] else (0.0, alone[1])
