"""All-reduce: every worker has a vector, and all want the sum. Three ways to send it round.

    naive   all send to one, which adds and sends back: one worker's wire carries everything
    tree    pairs, then pairs of pairs, up and down again: few steps, whole vectors
    ring    each vector in n pieces, each piece once round the ring to be added and once more to
            be shown: all wires are busy all the time, and a worker sends 2 (n − 1)/n of a vector,
            however many workers there are            Patarasuk & Yuan 2009; Gibiansky 2017

Written over sends and receives alone, with every byte counted. PyTorch's own, dist.all_reduce, does
the same in C++ (gloo, on CPUs) or in CUDA (NCCL).
"""

from collections.abc import Callable
from typing import cast

import torch.distributed as dist
from torch import Tensor
from torch.futures import Future


class Wire:
    """Sends and receives of one worker, counting the bytes that it sends."""

    def __init__(self) -> None:
        self.rank, self.world_size, self.sent = dist.get_rank(), dist.get_world_size(), 0

    def send(self, piece: Tensor, to: int) -> "dist.Work":
        """Begin to send; wait() on what is returned before the piece may change."""
        self.sent += piece.nbytes
        return cast("dist.Work", dist.isend(piece, to))  # None would be for one outside the group

    def receive(self, piece: Tensor, source: int) -> None:
        dist.recv(piece, source)

    def all_reduce(self, x: Tensor) -> None:
        """x ← the sum of every worker's x, by the backend: the best that there is on this wire."""
        dist.all_reduce(x)

    def begin_all_reduce(self, x: Tensor) -> Future[Tensor]:
        """The same, while the caller goes on; the future has x when it is done."""
        work = cast("dist.Work", dist.all_reduce(x, async_op=True))
        return work.get_future().then(lambda future: future.value()[0])

    def exchange(self, piece: Tensor, to: int, room: Tensor, source: int) -> None:
        """Send one piece and receive another, both under way at once."""
        self.sent += piece.nbytes
        both = [dist.P2POp(dist.irecv, room, source), dist.P2POp(dist.isend, piece, to)]
        for way in dist.batch_isend_irecv(both):  # as one: NCCL would wait in whichever is first
            way.wait()


def naive(x: Tensor, wire: Wire) -> None:
    """x ← the sum of every worker's x, through worker 0."""
    if wire.rank:
        wire.send(x, 0).wait()
        wire.receive(x, 0)
        return
    other = x.new_empty(x.shape)
    for source in range(1, wire.world_size):
        wire.receive(other, source)
        x += other
    for sending in [wire.send(x, to) for to in range(1, wire.world_size)]:
        sending.wait()


def tree(x: Tensor, wire: Wire) -> None:
    """x ← the sum, added up a binomial tree and sent down again: 2 log2(n) steps."""
    rank, other = wire.rank, x.new_empty(x.shape)
    steps = [2**k for k in range((wire.world_size - 1).bit_length())]
    for step in steps:
        if rank % (2 * step) == step:
            wire.send(x, rank - step).wait()
        elif rank % (2 * step) == 0 and rank + step < wire.world_size:
            wire.receive(other, rank + step)
            x += other
    for step in reversed(steps):
        if rank % (2 * step) == step:
            wire.receive(x, rank - step)
        elif rank % (2 * step) == 0 and rank + step < wire.world_size:
            wire.send(x, rank + step).wait()


def ring(x: Tensor, wire: Wire) -> None:
    """x ← the sum: a reduce-scatter, then an all-gather."""
    all_gather(x, wire, owned=reduce_scatter(x, wire))


def reduce_scatter(x: Tensor, wire: Wire) -> int:
    """Afterwards one piece of x, whose number is returned, holds the sum; the others are spoilt."""
    pieces, rank, world = cut(x, wire.world_size), wire.rank, wire.world_size
    for step in range(world - 1):
        mine, coming = (rank - step) % world, (rank - step - 1) % world
        other = x.new_empty(pieces[coming].shape)
        wire.exchange(pieces[mine], (rank + 1) % world, other, (rank - 1) % world)
        pieces[coming] += other
    return (rank + 1) % world


def all_gather(x: Tensor, wire: Wire, owned: int) -> None:
    """Every worker owns one piece of x, the next one to its neighbor's; afterwards all have all."""
    pieces, rank, world = cut(x, wire.world_size), wire.rank, wire.world_size
    for step in range(world - 1):
        mine, coming = (owned - step) % world, (owned - step - 1) % world
        wire.exchange(pieces[mine], (rank + 1) % world, pieces[coming], (rank - 1) % world)


def cut(x: Tensor, parts: int) -> list[Tensor]:
    """x, a vector, as views of nearly equal length: the first ones take what does not divide."""
    return list(x.tensor_split(parts))


ALGORITHMS: dict[str, Callable[[Tensor, Wire], None]] = {"naive": naive, "tree": tree, "ring": ring}
