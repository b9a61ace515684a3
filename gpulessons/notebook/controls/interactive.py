"""A function under sliders: drawn anew at every move."""

import inspect
import uuid
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .showing import bundle, escape
from .sliders import control

if TYPE_CHECKING:
    from ipywidgets import VBox, Widget


def live(
    function: Callable, /, *, labels: Mapping[str, str] | None = None, **controls: Any,
) -> "Live":
    """Show what `function(**controls)` gives under its controls: the returned Live shows itself.

    A control is a `slider(...)` or a list to choose from; `labels` says what a page calls it:
    `labels={"n": "elements"}`. The function returns what to show.

    It runs once for the first values, so that a saved page has a result. Raises TypeError or
    ValueError where the controls do not fit it.
    """
    return Live(function, dict(labels or {}), controls)


class Live:
    """A function, the controls that set its arguments, and where its result is shown."""

    def __init__(
        self, function: Callable, labels: dict[str, str], controls: dict[str, Any],
    ):
        self.function, self.labels = function, labels
        self.controls = {name: control(name, given) for name, given in controls.items()}
        self.values = {name: each.start for name, each in self.controls.items()}
        self.place, self.placed = uuid.uuid4().hex, False
        inspect.signature(function).bind(**self.values)
        strange = sorted(set(labels) - set(controls))
        if strange:
            raise ValueError(f"There is no control named {', '.join(strange)} to label.")

    def result(self, values: Mapping[str, Any]) -> Any:
        """What the function gives for these values, text as such. Raises ValueError for none."""
        given = self.function(**values)
        if given is None:
            raise ValueError("it gave nothing to show; let it return its result")
        return Sentence(given) if isinstance(given, str) else given

    def page(self) -> str:
        """What it is on a saved page; "" where nothing can move there."""
        from . import beforehand

        def shown(**values: Any) -> Any:
            try:
                return self.result(values)
            except Exception as error:
                if values == self.values:
                    raise
                return Sentence(self.refusal(error, values))

        titles = {name: self.title(name) for name in self.controls}
        return beforehand.page(self.controls, titles, shown)

    def moved(self, name: str, value: Any) -> None:
        self.values[name] = value
        self.update()

    def update(self) -> None:
        """Show the result for the current values, or what went wrong in its place."""
        try:
            self.put(self.result(self.values))
        except Exception as error:
            self.put(Sentence(self.refusal(error, self.values)))

    def put(self, shown: Any) -> None:
        """Fill this control's output: an ordinary one, so that a saved page keeps it."""
        from IPython.display import display

        display(shown, display_id=self.place, update=self.placed)
        self.placed = True

    def refusal(self, error: Exception, values: Mapping[str, Any]) -> str:
        call = ", ".join(f"{name}={value!r}" for name, value in values.items())
        return f"{self.function.__name__}({call}) failed: {type(error).__name__}: {error}"

    @cached_property
    def widget(self) -> "VBox":
        """The controls, one to a line."""
        from gpulessons.plots.panel import panel

        return panel(*map(self.turned, self.controls))

    def turned(self, name: str) -> "Widget":
        widget = self.controls[name].widget()
        widget.description = self.title(name)
        widget.observe(lambda change: self.moved(name, change["new"]), "value")
        return widget

    def title(self, name: str) -> str:
        return self.labels.get(name, name)

    def in_words(self) -> str:
        return "; ".join(f"{self.title(name)} from {self.controls[name]}, here {value}"
                         for name, value in self.values.items())

    def __repr__(self) -> str:
        return f"{self.function.__name__} with {self.in_words()}"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        from gpulessons.plots.frames import saving

        if saving() and (page := self.page()):
            display(bundle(repr(self), page), raw=True)
            return
        invitation = f"<p>Run this cell for its controls: {escape(self.in_words())}.</p>"
        display(bundle(repr(self), invitation, self.widget), raw=True)
        self.placed = False
        try:
            self.put(self.result(self.values))
        except Exception as error:
            self.put(Sentence(self.refusal(error, self.values)))
            raise


class Sentence:
    """Words as an output, which a screen reader announces."""

    def __init__(self, words: str):
        self.words = words

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return f'<p role="status">{escape(self.words)}</p>'
