"""What a live control shows on a saved page: its results for some of its values, drawn beforehand.

All combinations of a few values of each control, as many as can be drawn in a quarter of a minute
and fit on a page. What is measured when a button is pressed has no results beforehand.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

from gpulessons.plots.frames import fitting, frame, moving, still

from .sliders import Choice, Slider, written

MOST = 64  # results of one control
SECONDS = 15.0  # that they may take to draw

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
        named = [(titles[name], [words(each, value) for value in values], values.index(each.start))
                 for (name, each), values in zip(controls.items(), chosen, strict=True)]
        return moving(named, [drawn(*values) for values in product(*chosen)], still(start))

    return fitting(map(of, smaller(controls, min(MOST, affordable))))


def smaller(controls: Controls, most: float) -> Iterator[list[list[Any]]]:
    """The values to show of each control, at most so many combinations, then fewer and fewer."""
    for each in range(max(map(len_of, controls.values())), 1, -1):
        chosen = [some(control, each) for control in controls.values()]
        count = math.prod(map(len, chosen))
        if count <= most:
            yield chosen
            most = 0.7 * count


def some(control: Slider | Choice, most: int) -> list[Any]:
    """At most so many of a slider's values, about evenly apart, the first to show among them; all
    of a choice's.
    """
    values, count = list(control.values), len_of(control)
    if isinstance(control, Choice) or count <= most:
        return values
    here, apart = values.index(control.start), (count - 1) / (most - 1)
    places = {round(at * apart) for at in range(most)}
    nearest = min(places, key=lambda place: abs(place - here))
    return [values[place] for place in sorted(places - {nearest} | {here})]


def len_of(control: Slider | Choice) -> int:
    return len(control.values)


def words(control: Slider | Choice, value: Any) -> str:
    return written(value, control.unit if isinstance(control, Slider) else "")
