"""The switch that makes every measurement short: GPULESSONS_BUDGET, in seconds.

    GPULESSONS_BUDGET=0.02 jupyter execute notebooks/05_matmul.ipynb

Tests use it to see that all of a notebook runs: what is checked and counted stays as it is, what is
timed becomes rough, and says so. No caches are flushed, and no timing calls itself cold. Where the
switch is not set nothing changes.
"""

import math
import os

NAME = "GPULESSONS_BUDGET"


def limit() -> float:
    """The most seconds that one measurement may take: infinity where the switch is not set.

    ValueError where it is set to anything but a number of seconds above 0.
    """
    text = os.environ.get(NAME) or "inf"
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:  # so written that NaN is refused
        raise ValueError(f"{NAME} is a number of seconds above 0, such as 0.02; not {text!r}.")
    return seconds


def capped(seconds: float) -> float:
    """These seconds, or the limit where that is less."""
    return min(seconds, limit())


def repeated(times: int) -> int:
    """How often to repeat what takes as long as it takes: so many times, under the limit once."""
    return 1 if note() else times


def note() -> str:
    """What must stand beside a figure that was measured under the limit; "" without one."""
    seconds = limit()
    return "" if seconds == math.inf else f"measured for at most {seconds:g} s each ({NAME}): rough"
