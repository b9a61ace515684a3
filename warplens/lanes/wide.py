"""Four neighbors at once: what a warp does in `load4` and `store4`, accesses of 16 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..faults import Misaligned, Unsupported
from .access import fetched, put
from .memory import View, locate, who_and_what
from .warps import Warps

WIDTH = 16  # bytes; a GPU wants such an access to begin at a multiple of it


def load4(w: Warps, target: Any, index: tuple) -> tuple:
    view, place = first_of_four(w, target, index, "read")
    return tuple(fetched(w, view, place + step) for step in range(4))


def store4(w: Warps, target: Any, index: tuple, values: tuple) -> None:
    view, place = first_of_four(w, target, index, "write")
    for step, value in enumerate(values):
        put(w, view, place + step, value)


def first_of_four(w: Warps, view: Any, index: tuple, access: str) -> tuple[View, Any]:
    """(the array, the place of the first of four), checked and logged as one access."""
    if type(view) is not View or view.array.dtype != np.float32 or view.strides[-1] != 1:
        raise Unsupported("four at once of anything but rows of float32", w.line, w.function)
    place = locate(w, view, index, access)
    locate(w, view, (*index[:-1], index[-1] + 3), access)
    if w.mask:
        check_alignment(w, view, place, index, access)
        w.log.access(w, view.array.wide(4), access, place)
    return view, place


def check_alignment(w: Warps, view: View, place: Any, index: tuple, access: str) -> None:
    """Raise Misaligned for the first lane that does not begin at a multiple of 16 bytes."""
    astray = np.broadcast_to(place * view.array.step + view.array.offset, w.mask.bits.shape)
    astray = (astray % WIDTH != 0) & w.mask.bits
    if not astray.any():
        return
    who, element, details = who_and_what(w, view, index, int(np.argmax(astray)), access)
    text = (
        f"{who} four numbers from {element}, which is not at a multiple of {WIDTH} bytes "
        "(a GPU stops the kernel)"
    )
    raise Misaligned(text, w.line, **details)
