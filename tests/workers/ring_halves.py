"""A program for the tests: reduce-scatter and all-gather, each by itself."""

import torch

from gpulessons.workers.collectives import Wire, all_gather, cut, reduce_scatter


def main(worker, length):
    """(is the owned piece the sum of all?, has everybody every owner's piece?)"""
    x = torch.arange(float(length)) * (worker.rank + 1)
    due = torch.arange(float(length)) * sum(range(1, worker.world_size + 1))
    owned = reduce_scatter(x, Wire())
    right = torch.equal(cut(x, worker.world_size)[owned], cut(due, worker.world_size)[owned])
    shown = torch.full((length,), -1.0)
    cut(shown, worker.world_size)[owned].fill_(owned)
    all_gather(shown, Wire(), owned)
    pieces = cut(shown, worker.world_size)
    return right, all((piece == number).all() for number, piece in enumerate(pieces))
