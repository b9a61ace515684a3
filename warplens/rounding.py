"""The number formats of tensor cores, exactly, in NumPy: what rounding costs, on any machine.

A float32 keeps 24 bits of a number's digits; tensor cores are fast because they multiply fewer.

    TF32        11 bits, the range of float32; stored as a float32 whose last 13 bits are 0
    bfloat16     8 bits, the range of float32; half a float32 is stored
    fp16        11 bits, and 65,504 is its largest number; stored in 16 bits
"""

from collections.abc import Callable
from typing import Any

import numpy as np


def round_tf32(x: Any) -> Any:
    """x as TF32: to the nearest, a tie away from zero, as a GPU's `cvt.rna.tf32.f32` rounds."""
    return keep_high_bits(x, 13, lambda bits: np.uint32(1 << 12))


def round_bf16(x: Any) -> Any:
    """x as bfloat16: to the nearest, a tie to the even one, as PyTorch rounds."""
    return keep_high_bits(x, 16, lambda bits: (bits >> 16 & 1) + np.uint32((1 << 15) - 1))


def round_fp16(x: Any) -> Any:
    """x as fp16, IEEE's half precision: to the nearest, a tie to the even one. Beyond 65,504 it is
    infinite, and below 6e-5 it loses digits."""
    with np.errstate(over="ignore"):
        return np.asarray(x, np.float32).astype(np.float16).astype(np.float32)[()]


def keep_high_bits(
    x: Any, dropped: int, carry: Callable[[np.ndarray], np.ndarray | np.uint32]
) -> Any:
    """float32 x with its last `dropped` bits 0, after carry(bits) was added; a NaN stays a NaN.

    The bits of a float count up through exponents as through digits, so that a carry out of the
    digits makes the next power of two, and out of the largest number infinity.
    """
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    with np.errstate(over="ignore"):
        rounded = (bits + carry(bits)) >> dropped << dropped
    return np.where(np.isnan(x), np.float32(np.nan), rounded.view(np.float32))[()]
