"""More of cuda.fp16, reckoned in float32 and rounded to float16 at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .functions import floating
from .overloads import alike
from .values import FLOAT32, Instruction


def of_halves(function: Callable[[Any], Any]) -> Instruction:
    def reckoned(x: Any) -> Any:
        return function(x.astype(FLOAT32)).astype(np.float16)

    return floating(reckoned, cases=alike("float16", 1))


MORE_OF_HALVES = {
    "hexp10": of_halves(lambda x: np.power(FLOAT32.type(10), x)),
    "hrcp": of_halves(np.reciprocal),
    "hrint": of_halves(np.rint),
    "hrsqrt": of_halves(lambda x: 1 / np.sqrt(x)),
    "htanh": of_halves(np.tanh),
    "htanh_approx": of_halves(np.tanh),
}
