"""What a warp does in `mma`: 32 lanes, each with a piece, multiply two matrices.

And what a lane does to its numbers beforehand, in `tf32`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .masks import WARP
from .primitives import whole_warp
from .values import dtype_of
from .warps import Warps

# Which number a lane holds as its first, second, …: NVIDIA, "PTX ISA", "Matrix fragments for
# mma.m16n8k8", TF32. Eight groups of four lanes: a group has a row of the left matrix and of the
# sums, and a column of the right matrix. (There: groupID, threadID_in_group.)
GROUP, MEMBER = np.divmod(np.arange(WARP), 4)
LEFT = ((GROUP, MEMBER), (GROUP + 8, MEMBER), (GROUP, MEMBER + 4), (GROUP + 8, MEMBER + 4))
RIGHT = ((MEMBER, GROUP), (MEMBER + 4, GROUP))
SUMS = tuple((GROUP + down, 2 * MEMBER + right) for down in (0, 8) for right in (0, 1))
FLOPS = 2 * 16 * 8 * 8 // WARP  # of each lane
UNUSED = np.uint32((1 << 13) - 1)  # the bits of a float32 that TF32 has not


def mma(w: Warps, left: tuple, right: tuple, sums: tuple) -> tuple:
    """The sums plus left times right, in each warp. Factors are exact in TF32, and so are their
    products in float64; they are added there and rounded once. A GPU rounds more often, in an order
    that NVIDIA does not publish."""
    if not w.mask:
        return sums
    whole_warp(w, "mma")
    x = gathered(factors(w, left), LEFT, (16, 8))
    y = gathered(factors(w, right), RIGHT, (8, 8))
    return multiplied(w, x, y, sums)


def multiplied(w: Warps, x: np.ndarray, y: np.ndarray, sums: tuple) -> tuple:
    total = gathered(lanes(w, sums), SUMS, (16, 8)) + x @ y
    w.count_tensor_core_flops(FLOPS)
    return tuple(total[:, row, column].astype(np.float32).ravel() for row, column in SUMS)


def lanes(w: Warps, values: tuple) -> list[np.ndarray]:
    """Each of these float32 values, as one number per lane."""
    if any(dtype_of(value) != np.float32 for value in values):
        raise TypeError("mma takes float32")
    return [np.broadcast_to(value, w.mask.bits.shape) for value in values]


def factors(w: Warps, values: tuple) -> list[np.ndarray]:
    """Without the bits that a tensor core ignores, and a caution where there were any."""
    bits = [np.ascontiguousarray(value).view(np.uint32) for value in lanes(w, values)]
    if any(w.any_lane(b & UNUSED) for b in bits):
        text = "mma is given a float32 that is not rounded to TF32: its last 13 bits are ignored"
        w.caution("not rounded", text)
    return [(b & ~UNUSED).view(np.float32) for b in bits]


def gathered(
    values: list[np.ndarray], places: Sequence[tuple], shape: tuple[int, int]
) -> np.ndarray:
    """One matrix per warp, float64, from the numbers that its lanes hold."""
    matrix = np.empty((values[0].size // WARP, *shape))
    for value, (row, column) in zip(values, places, strict=True):
        matrix[:, row, column] = value.reshape(-1, WARP)
    return matrix


def round_tf32(x: Any) -> Any:
    """float32 x with TF32's 11 bits: to the nearest, a tie away from zero, as a GPU's
    `cvt.rna.tf32.f32` rounds; a NaN stays a NaN.

    The bits of a float count up through exponents as through digits, so that a carry out of the
    digits makes the next power of two, and out of the largest number infinity.
    """
    x = np.asarray(x, np.float32)
    with np.errstate(over="ignore"):
        rounded = (x.view(np.uint32) + np.uint32(1 << 12)) & ~UNUSED
    return np.where(np.isnan(x), np.float32(np.nan), rounded.view(np.float32))[()]


def tf32(w: Warps, x: Any) -> Any:
    if dtype_of(x) != np.float32:
        raise TypeError("tf32 takes a float32")
    return round_tf32(x)
