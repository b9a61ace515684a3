"""How long do the backend's all-reduces of several sizes take, and which link would explain it?

A program, as those of gpulessons.workers, and the fit of the model to what it measured.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
import torch.distributed as dist

from gpulessons.hardware.budget import repeated
from gpulessons.workers import Link, Worker
from gpulessons.workers.links import messages, nonnegative
from gpulessons.workers.training import settle, slowest


@dataclass(frozen=True)
class Sample:
    """One all-reduce, measured: the lower quartile of several."""

    algorithm: str
    workers: int
    bytes: int
    seconds: float


def main(worker: Worker, sizes: Sequence[int], rounds: int = 30) -> list[Sample]:
    """Returns [Sample], for each size in bytes.

    A quarter of the rounds were as quick: on a machine that is shared, a median is often the time
    that a system takes to wake somebody up, and no property of the network.
    """
    samples = []
    for size in sizes:
        x = torch.ones(size // 4, device=worker.device)
        times = [run_round(x.fill_(1)) for _ in range(repeated(rounds) + 1)]
        quarter = float(np.quantile(times[1:], 0.25))
        samples.append(Sample("backend", worker.world_size, x.nbytes, quarter))
        worker.progress(len(samples), len(sizes), "sizes")
    return samples


def run_round(x: torch.Tensor) -> float:
    """Seconds until the slowest worker has its sum."""
    settle()
    dist.barrier()
    began = perf_counter()
    dist.all_reduce(x)
    settle()
    return slowest(perf_counter() - began)


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
    return Link(latency, 1 / slowness)
