"""More of cuda.fp16: functions of float16, to which they convert what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .functions import floating
from .values import Instruction, cast

FLOAT16, FLOAT32 = np.dtype("float16"), np.dtype("float32")


def of_halves(function: Callable[[Any], Any]) -> Instruction:
    """Reckoned in float32, and rounded to float16 at the end."""
    instruction = floating(lambda x: function(x.astype(FLOAT32)).astype(FLOAT16))
    return lambda w, x: instruction(w, cast(w, x, FLOAT16))


MORE_OF_HALVES = {
    "hexp10": of_halves(lambda x: np.power(FLOAT32.type(10), x)),
    "hrcp": of_halves(np.reciprocal),
    "hrint": of_halves(np.rint),
    "hrsqrt": of_halves(lambda x: 1 / np.sqrt(x)),
    "htanh": of_halves(np.tanh),
    "htanh_approx": of_halves(np.tanh),
}
