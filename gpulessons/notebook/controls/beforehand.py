"""What a live control shows on a saved page: its results for some of its values, drawn beforehand.

All combinations of a few values of each control, as many as can be drawn in less than a minute
and fit on a page.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

from gpulessons.plots.frames import fitting, frame, moving, still

from .showing import escape
from .sliders import Choice, Slider, written

MOST = 64  # results of one control
SECONDS = 40.0  # that they may take to draw

Controls = Mapping[str, Slider | Choice]


def page(controls: Controls, titles: Mapping[str, str], shown: Callable[..., Any]) -> str:
    """The markup of `shown(**values)` under sliders; "" where there are too few to move.

    shown: gives something to display for one value of each control. titles: what each is called.
    """
    start = shown(**{name: each.start for name, each in controls.items()})

    @cache
    def drawn(*values: Any) -> tuple[str, str]:
        return frame(shown(**dict(zip(controls, values, strict=True))))

    begun = time.perf_counter()  # the first call may have compiled and imported: not this one
    drawn(*(each.start for each in controls.values()))
    affordable = SECONDS / max(time.perf_counter() - begun, 1e-3)

    def of(chosen: list[list[Any]]) -> str:
        shown_of = zip(controls.items(), chosen, strict=True)
        named = [(titles[name], [words(each, value) for value in values], values.index(each.start))
                 for (name, each), values in shown_of if len(values) > 1]
        fixed = [titles[name] for name, values in zip(controls, chosen, strict=True)
                 if len(values) == 1 < len_of(controls[name])]
        frames = [drawn(*values) for values in product(*chosen)]
        return moving(named, frames, still(start)) + others(fixed)

    return fitting(map(of, smaller(controls, min(MOST, affordable))))


def smaller(controls: Controls, most: float) -> Iterator[list[list[Any]]]:
    """The values to show of each control, at most so many combinations, then fewer and fewer: down
    to the ends of each and where it starts, then the last controls stay where they start.
    """
    longest = max(map(len_of, controls.values()))
    counts = [[each] * len(controls) for each in range(longest, 2, -1)]
    moved = range(len(controls) - 1, 0, -1)
    counts += [[3] * first + [1] * (len(controls) - first) for first in moved]
    for of_each in counts:
        chosen = [some(*each) for each in zip(controls.values(), of_each, strict=True)]
        count = math.prod(map(len, chosen))
        if count <= most:
            yield chosen
            most = 0.7 * count


def some(control: Slider | Choice, most: int) -> list[Any]:
    """One of a control's values, its first to show; or at most so many of its numbers for a saved
    page, three or more, their ends and the first to show among them; or all of a choice in words.
    """
    values, count = list(control.saved), len_of(control)
    if most == 1:
        return [control.start]
    if count <= most or not all(isinstance(value, int | float) for value in values):
        return values
    here, apart = values.index(control.start), (count - 1) / (most - 1)
    between = {round(at * apart) for at in range(1, most - 1)}
    nearest = min(between, key=lambda place: abs(place - here))
    if here not in (0, count - 1):
        between = between - {nearest} | {here}
    return [values[place] for place in sorted({0, *between, count - 1})]


def others(fixed: list[str]) -> str:
    """What a page says of the controls that have only one of their values on it."""
    return f"<p>Run this cell to turn also: {escape('; '.join(fixed))}.</p>" if fixed else ""


def len_of(control: Slider | Choice) -> int:
    return len(control.saved)


def words(control: Slider | Choice, value: Any) -> str:
    return written(value, control.unit if isinstance(control, Slider) else "")
