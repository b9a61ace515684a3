"""A program: how long do all-reduces of several sizes take, ours and the engine's?"""

from time import perf_counter

import numpy as np
import torch
import torch.distributed as dist

from gpulessons.budget import repeated
from gpulessons.workers.collectives import ALGORITHMS, Wire
from gpulessons.workers.links import Sample
from gpulessons.workers.training import settle, slowest

ENGINE = "engine"
SIZES = 4_096, 65_536, 1 << 20, 1 << 24  # bytes


def main(worker, sizes=SIZES, algorithms=(ENGINE, *ALGORITHMS), rounds=30):
    """Returns [Sample], for each algorithm at each size in bytes.

    A quarter of the rounds were as quick: on a machine that is shared, a median is often the time
    that a system takes to wake somebody up, and no property of the network.
    """
    samples = []
    for size in sizes:
        x = torch.ones(size // 4, device=worker.device)
        times = {name: [] for name in algorithms}
        for _ in range(repeated(rounds) + 1):
            for name in algorithms:  # in turn: a busy moment hits them all
                times[name].append(once(name, x.fill_(1)))
        for name in algorithms:
            quarter = float(np.quantile(times[name][1:], 0.25))
            samples.append(Sample(name, worker.world, x.nbytes, quarter))
        worker.progress(len(samples), len(sizes) * len(algorithms), "sizes")
    return samples


def once(name, x):
    """Seconds until the slowest worker has its sum."""
    wire = Wire()
    settle()
    dist.barrier()
    began = perf_counter()
    dist.all_reduce(x) if name == ENGINE else ALGORITHMS[name](x, wire)
    settle()
    return slowest(perf_counter() - began)
