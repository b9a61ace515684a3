"""`raise`, `assert` and an index that a tuple lacks: they end a thread, callers and all.

So does numba-cuda, without a word, unless the kernel was compiled with `debug=True`: then the host
raises the exception when the kernel is over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .warps import Warps


class AllEnded(Exception):
    """No thread of these warps is left."""


class Raised(NamedTuple):
    """The first exception of a launch: its type, its arguments, where it was raised and by whom."""

    kind: type[BaseException]
    arguments: tuple
    where: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def exception(self) -> BaseException:
        """As the host raises it in debugging."""
        place = f"{self.where}, tid={[*self.thread[::-1]]} ctaid={[*self.block[::-1]]}"
        text = ": ".join(map(str, (place, *self.arguments[:1])))
        return self.kind(text, *self.arguments[1:])


def end_threads(
    w: Warps, kind: type[BaseException], arguments: tuple = (), bits: Any = np.True_
) -> None:
    """The active lanes where `bits` end here."""
    mask = w.mask & bits
    if not mask:
        return
    if w.launch.raised is None:
        block, thread = w.coordinates(int(np.argmax(mask.bits)))
        where = f"In function {w.function!r}, file {w.launch.file}, line {w.line}"
        w.launch.raised = Raised(kind, arguments, where, block, thread)
    told = f"{kind.__name__}{f' ({arguments[0]})' if arguments else ''}"
    text = f"{told} ends threads here; a GPU does not tell, but in a kernel with debug=True"
    w.caution("exception", text, times=mask.count)
    w.mask, w.alive, w.ended = w.mask - mask, w.alive - mask, True
    if not w.alive:
        raise AllEnded
