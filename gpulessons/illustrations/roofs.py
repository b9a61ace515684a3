"""What no GPU can do sooner, beside what this CPU was measured to do: one-sided, by data sheets.

A roof is {card: seconds(size)}, of `warplens.model.devices.Sheet.least`: a card takes at least so
long. How much longer nobody says, so a roof shows that the CPU is ahead, and never that it is not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import Told
from gpulessons.plots.forms import LOOKS, log_lines
from gpulessons.plots.picture import DASH_DOT, Picture
from gpulessons.plots.timings import round_to_two

Seconds = Callable[[float], float]
MODELLED = {"linestyle": DASH_DOT, "linewidth": 1.2, "marker": ""}


def carried(measured: Mapping[float, float]) -> Seconds:
    """Seconds at any size: on straight lines between measured ones, both axes on log scales; and
    beyond the last as steeply as it rose between any two neighbors of them."""
    sizes, seconds = (np.log([*each]) for each in (measured, measured.values()))
    slope = max(0.0, *np.diff(seconds) / np.diff(sizes))

    def took(size: float) -> float:
        beyond = slope * max(0.0, np.log(size) - sizes[-1])
        return float(np.exp(np.interp(np.log(size), sizes, seconds) + beyond))

    return took


def ahead_from(roof: Seconds, took: Seconds, sizes: Iterable[float]) -> float | None:
    """From which size on, to the last, no card under this roof can be as quick as what `took` so
    long; None where one might be at the last size."""
    start = None
    for size in sizes:
        if took(size) >= roof(size):
            start = None
        elif start is None:
            start = size
    return start


def against(
    measured: Sequence[tuple[str, Mapping[float, float], dict]], took: Seconds, name: str,
    roofs: Mapping[str, Seconds], sizes: Sequence[float], x: Told, *,
    title: str, brute: str, what: str, **more,
) -> Picture:  # fmt: skip
    """Time against size: measured lines, (name, {size: seconds}, look); another one carried on from
    the last of them (modelled); and `brute`, dotted, on each card at best (bounded)."""
    beyond = [size for size in sizes if size >= max(measured[-1][1], default=0)]
    drawn = [(who, [*times], [*times.values()], look) for who, times, look in measured if times]
    drawn += [(f"{name}, modelled", beyond, [*map(took, beyond)], measured[-1][2] | MODELLED)]
    for (card, roof), look in zip(roofs.items(), LOOKS[3:], strict=False):
        held = [size for size in sizes if roof(size) < np.inf]
        drawn += [(f"{brute}, {card} at best", held, [*map(roof, held)],
                   {"color": look["color"], "linestyle": ":", "linewidth": 1.2})]
    return log_lines(drawn, x, (what, units.seconds), title=title, **more)


def about(size: float) -> str:
    """A size in two digits, as people say it: "410,000", "1.3 billion"."""
    digits = round_to_two(size)
    for scale, name in ((1e9, "billion"), (1e6, "million")):
        if digits >= scale:
            return f"{digits / scale:,g} {name}"
    return units.count(digits)
