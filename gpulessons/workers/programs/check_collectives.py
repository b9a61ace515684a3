"""A program: is each of our all-reduces equal to the backend's, and how many bytes did it send?"""

from collections.abc import Sequence

import torch
import torch.distributed as dist

from ..collectives import ALGORITHMS, Wire
from ..worker import Worker


def main(
    worker: Worker, lengths: Sequence[int] = (0, 1, 2, 3, 7, 64, 1009)
) -> list[tuple[str, int, bool, int]]:
    """Returns [(algorithm, length, equal?, bytes sent by this worker)]."""
    found = []
    for length in lengths:
        generator = torch.Generator().manual_seed(100 * length + worker.rank)
        mine = torch.randint(-99, 99, (length,), generator=generator).float().to(worker.device)
        expected = mine.clone()
        dist.all_reduce(expected)
        for name, algorithm in ALGORITHMS.items():
            x, wire = mine.clone(), Wire()
            algorithm(x, wire)
            found.append((name, length, torch.equal(x, expected), wire.sent))
    return found
