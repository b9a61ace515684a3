"""A program: how long do all-reduces of several sizes take, ours and the backend's?"""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
import torch
import torch.distributed as dist

from gpulessons.hardware.budget import repeated

from ..collectives import ALGORITHMS, Wire
from ..emulated import wire_of
from ..links import Sample
from ..training import settle, slowest
from ..worker import Worker

BACKEND = "backend"
SIZES = 4_096, 65_536, 1 << 20, 1 << 24  # bytes


def main(
    worker: Worker, sizes: Sequence[int] = SIZES,
    algorithms: Sequence[str] = (BACKEND, *ALGORITHMS), rounds: int = 30,
    link: tuple[float, float] | None = None,
) -> list[Sample]:  # fmt: skip
    """Returns [Sample], for each algorithm at each size in bytes.

    link: (latency, bandwidth) of an emulated wire, which the backend knows nothing of.

    A quarter of the rounds were as quick: on a machine that is shared, a median is often the time
    that a system takes to wake somebody up, and no property of the network.
    """
    samples, wire = list[Sample](), wire_of(link)
    for size in sizes:
        x = torch.ones(size // 4, device=worker.device)
        times: dict[str, list[float]] = {name: [] for name in algorithms}
        for _ in range(repeated(rounds) + 1):
            for name in algorithms:  # in turn: a busy moment hits them all
                times[name].append(run_round(name, x.fill_(1), wire))
        for name in algorithms:
            quarter = float(np.quantile(times[name][1:], 0.25))
            samples.append(Sample(name, worker.world_size, x.nbytes, quarter))
        worker.progress(len(samples), len(sizes) * len(algorithms), "sizes")
    return samples


def run_round(name: str, x: torch.Tensor, wire: Wire) -> float:
    """Seconds until the slowest worker has its sum."""
    settle()
    dist.barrier()
    began = perf_counter()
    dist.all_reduce(x) if name == BACKEND else ALGORITHMS[name](x, wire)
    settle()
    return slowest(perf_counter() - began)
