"""Pictures in sequence: a slider steps through them; a still page has several of them in one."""

from functools import cache
from typing import Any

from .frames import fitting, frame, moving, saving, still
from .panel import panel

VIEW = "application/vnd.jupyter.widget-view+json"
MOST = 60, 40, 25, 15, 8  # steps that a saved page holds, the most that fit


class Film:
    """For a class with a length, `figure(number)` and `multiples()`, which give Pictures."""

    first = 1  # the number of the first step; 0, where nothing has happened yet: 1 is shown

    def __len__(self) -> int:
        raise NotImplementedError

    def figure(self, number: int) -> Any:
        raise NotImplementedError

    def multiples(self) -> Any:
        raise NotImplementedError

    def widget(self) -> Any:
        """A slider over the steps (arrow keys move it when it has the focus) and the picture."""
        from ipywidgets import HTML, IntSlider, Label

        begin, wide = 1 - self.first, {"width": "95%"}
        slider = IntSlider(begin, 0, len(self) - 1, description="step", layout=wide)
        told, shown = Label(), HTML()

        def show(number: int) -> None:
            shown.value, told.value = frame(self.figure(number))

        slider.observe(lambda change: show(change["new"]), names="value")
        show(begin)
        return panel(slider, told, shown)

    def page(self, rest: str) -> str:
        """The markup of a saved page: as many steps, evenly chosen, as it may hold; `rest` is what
        stands there where nothing moves.
        """
        drawn = cache(lambda number: frame(self.figure(number)))

        def of(most: int) -> str:
            numbers = spread(len(self), most)
            told = [f"{n + self.first} of {len(self) - 1 + self.first}" for n in numbers]
            steps = "step", told, 1 - self.first
            return moving([steps], list(map(drawn, numbers)), rest)

        return fitting(map(of, MOST))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        pictures = self.multiples()
        words = {"text/plain": f"{self!r}\n{pictures!r}"}
        if saving():
            return words | {"text/html": self.page(still(pictures))}
        data = pictures._repr_mimebundle_() | words
        try:
            shown = self.widget()._repr_mimebundle_() or {}
        except (ImportError, AttributeError):
            return data  # no widgets here: the still page it is
        return data | {name: shown[name] for name in (VIEW,) if name in shown}


def spread(total: int, most: int) -> list[int]:
    """At most so many numbers below a total, evenly apart, the first and the last among them."""
    count = min(total, most)
    return sorted({round(at * (total - 1) / max(count - 1, 1)) for at in range(count)})
