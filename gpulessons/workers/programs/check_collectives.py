"""A program: is each of our all-reduces the backend's, and what did it send, for how long?"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray

from ..collectives import ALGORITHMS, Wire, all_gather, cut
from ..emulated import wire_of
from ..training import timed
from ..worker import Worker


def main(
    worker: Worker, lengths: Sequence[int] = (0, 1, 2, 3, 7, 64, 1009), yours: str = "",
    link: tuple[float, float] | None = None,
) -> list[tuple[str, int, bool, int, float]]:  # fmt: skip
    """Returns [(algorithm, length, equal?, bytes sent by this worker, seconds of the slowest)].

    yours: a reduce-scatter as the exercise asks for it, as text; for lengths that divide evenly.
    link: (latency, bandwidth), emulated.
    """
    found, ways = [], ALGORITHMS | ({"yours": partial(ring_of, yours)} if yours else {})
    for length in lengths:
        generator = torch.Generator().manual_seed(100 * length + worker.rank)
        mine = torch.randint(-99, 99, (length,), generator=generator).float().to(worker.device)
        expected = mine.clone()
        dist.all_reduce(expected)
        for name, algorithm in ways.items():
            x, wire = mine.clone(), wire_of(link)
            seconds = timed(partial(algorithm, x, wire))
            found.append((name, length, torch.equal(x, expected), wire.sent, seconds))
    return found


def ring_of(text: str, x: torch.Tensor, wire: Wire) -> None:
    """x ← the sum, by the last function of a text, which takes NumPy's arrays, and our all-gather.

    Where it wants what only a page has, x stays wrong on every worker.
    """
    names: dict[str, Any] = {"np": np}
    exec(text, names)
    views, world = cut(x, wire.world_size), wire.world_size
    pieces = [view.cpu().numpy() for view in views]

    def exchange(piece: NDArray) -> NDArray:
        leaving = torch.tensor(piece, device=x.device)
        room = torch.empty_like(leaving)
        wire.exchange(leaving, (wire.rank + 1) % world, room, (wire.rank - 1) % world)
        return room.cpu().numpy()

    with suppress(NameError):
        owned = list(names.values())[-1](pieces, wire.rank, exchange)
        for view, piece in zip(views, pieces, strict=True):
            view.copy_(torch.as_tensor(piece))
        all_gather(x, wire, owned)
