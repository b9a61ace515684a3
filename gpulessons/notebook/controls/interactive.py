"""A function under sliders: redrawn at every move, or measured when a button is pressed."""

import asyncio
import base64
import inspect
import io
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .showing import bundle, escape
from .sliders import control

if TYPE_CHECKING:
    from ipywidgets import HTML, Button, VBox, Widget
    from matplotlib.figure import Figure

LOOKS = ("primary", ""), ("", "primary")  # of Measure and Stop: at rest, and in a run
PAUSE = 0.02  # Seconds between two results, in which the kernel hears a press on Stop.


def live(
    function: Callable, /, *, run: str | None = None, labels: Mapping[str, str] | None = None,
    **controls: Any,
) -> "Live":
    """Show what `function(**controls)` gives under its controls: the returned Live shows itself.

    A control is (low, high) or (low, high, step), a list to choose from, True or False, or a
    `slider(...)`; `labels` says what a page calls it: `labels={"n": "elements"}`. The function
    returns what to show, or yields better and better results.

    A cheap function runs at every move. With `run="Measure"` a button of that name runs it, and
    Stop ends it at its next result, which stays. Either way it runs once for the first values, so
    that a saved page has a result. Raises TypeError or ValueError where the controls do not fit it.
    """
    return Live(function, run, dict(labels or {}), controls)


class Live:
    """A function, the controls that set its arguments, and what it gave last."""

    def __init__(
        self, function: Callable, run: str | None, labels: dict[str, str], controls: dict[str, Any],
    ):
        self.function, self.run, self.labels = function, run, labels
        self.controls = {name: control(name, given) for name, given in controls.items()}
        self.values = {name: each.start for name, each in self.controls.items()}
        self.result = None
        self.measuring = self.stopped = False
        self.place, self.placed = uuid.uuid4().hex, False
        inspect.signature(function).bind(**self.values)
        strange = sorted(set(labels) - set(controls))
        if strange:
            raise ValueError(f"There is no control named {', '.join(strange)} to label.")

    def results(self) -> Iterator[Any]:
        """What the function gives for the current values, one by one."""
        given = self.function(**self.values)
        if inspect.isgenerator(given):
            yield from given
        else:
            yield given

    def page(self) -> str:
        """What it is on a saved page; "" where it measures, or cannot be drawn beforehand."""
        from . import beforehand

        first = self.values

        def shown(**values: Any) -> Any:
            self.values = values
            try:
                *_, last = map(something, self.results())
                return showable(last)
            except Exception as error:
                if values == first:
                    raise
                return Sentence(self.refusal(error))

        try:
            titles = {name: self.title(name) for name in self.controls}
            return "" if self.run else beforehand.page(self.controls, titles, shown)
        finally:
            self.values = first

    def stop(self) -> None:
        """End the run at its next result."""
        self.stopped = True

    async def measure(self) -> None:
        """Show the results as they come, until the last one, an error, or Stop."""
        if self.measuring:
            return
        self.set_measuring(True)
        start, count = time.perf_counter(), 0
        try:
            for count, result in enumerate(self.results(), 1):
                self.show(result)
                self.say(f"Running: {so_far(count, start)} …")
                await asyncio.sleep(PAUSE)
                if self.stopped:
                    break
            self.say(f"{'Stopped' if self.stopped else 'Done'}: {so_far(count, start)}.")
        except Exception as error:
            self.fail(error, keep=count > 0)
        finally:
            self.set_measuring(False)

    def set_measuring(self, now: bool) -> None:
        """Begin or end a run. The button that now does something is blue; neither is ever
        disabled, since a button that is loses the focus.
        """
        self.measuring, self.stopped = now, False
        self.run_button.button_style, self.stop_button.button_style = LOOKS[now]

    def moved(self, name: str, value: Any) -> None:
        self.values[name] = value
        if self.run:
            self.say(f"Press {self.run} for these values.")
            return
        try:
            for result in self.results():
                self.show(result)
            self.say("")
        except Exception as error:
            self.fail(error)

    def pressed(self, button: "Button") -> None:
        # The run takes turns with the kernel's messages on its own loop, so that Stop can arrive.
        self.task = asyncio.get_running_loop().create_task(self.measure())

    def show(self, result: Any) -> None:
        self.result = something(result)
        self.put(showable(result))

    def put(self, shown: Any) -> None:
        """Fill this control's output: an ordinary one, so that a saved page keeps it."""
        from IPython.display import display

        display(shown, display_id=self.place, update=self.placed)
        self.placed = True

    def say(self, words: str) -> None:
        self.status.value = f'<span role="status">{escape(words)}</span>'

    def fail(self, error: Exception, keep: bool = False) -> None:
        """Say what went wrong, in place of a result that these values did not give."""
        words = self.refusal(error)
        self.say(words if keep else "")
        if not keep:
            self.put(Sentence(words))

    def refusal(self, error: Exception) -> str:
        call = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.function.__name__}({call}) failed: {type(error).__name__}: {error}"

    @cached_property
    def widget(self) -> "VBox":
        """The controls, one to a line, over the buttons (if any) and a line of progress."""
        from ipywidgets import HBox

        from gpulessons.plots.panel import panel

        turned = [self.turned(name) for name in self.controls]
        buttons = [HBox([self.run_button, self.stop_button])] if self.run else []
        return panel(*turned, *buttons, self.status)

    def turned(self, name: str) -> "Widget":
        widget = self.controls[name].widget()
        widget.description = self.title(name)
        widget.observe(lambda change: self.moved(name, change["new"]), "value")
        return widget

    def title(self, name: str) -> str:
        return self.labels.get(name, name)

    @cached_property
    def run_button(self) -> "Button":
        from ipywidgets import Button

        button = Button(description=self.run or "Run", button_style=LOOKS[False][0])
        button.on_click(self.pressed)
        return button

    @cached_property
    def stop_button(self) -> "Button":
        from ipywidgets import Button

        button = Button(description="Stop")
        button.on_click(lambda _: self.stop())
        return button

    @cached_property
    def status(self) -> "HTML":
        from ipywidgets import HTML

        return HTML()

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
            for result in self.results():
                self.show(result)
        except Exception as error:
            self.fail(error, keep=self.placed)
            raise


class Snapshot:
    """A learner's figure as they drew it, on its own background: black ink needs it on a dark page.

    The image travels inside text/html because JupyterLab gives a bare image/png no alt text.
    """

    def __init__(self, figure: "Figure", alt: str):
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=200, bbox_inches="tight")
        self.png, self.alt = png.getvalue(), alt

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        width = int.from_bytes(self.png[16:20], "big") // 2  # A PNG's header begins with its width.
        data = base64.b64encode(self.png).decode()
        return (f'<img src="data:image/png;base64,{data}" alt="{escape(self.alt)}" '
                f'width="{width}" style="max-width: 100%; height: auto">')


class Sentence:
    """Words as an output, which a screen reader announces."""

    def __init__(self, words: str):
        self.words = words

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return f'<p role="status">{escape(self.words)}</p>'


def something(result: Any) -> Any:
    """A result as it is. Raises ValueError for none."""
    if result is None:
        raise ValueError("it gave nothing to show; let it return or yield its result")
    return result


def so_far(count: int, start: float) -> str:
    return f"{count} result{'s' * (count != 1)} in {time.perf_counter() - start:.1f} s"


def showable(result: Any) -> Any:
    """A bare figure, or the figure of some axes, as an image; text as such; all else as it is."""
    if isinstance(result, str):
        return Sentence(result)
    artists = sys.modules.get("matplotlib.artist")
    if artists is None or not isinstance(result, artists.Artist):
        return result
    figure = result.figure
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)  # Else the notebook shows it once more.
    titles = [figure.get_suptitle(), *(axes.get_title(side) for axes in figure.axes
                                       for side in ("left", "center"))]
    return Snapshot(figure, " ".join(filter(None, titles)) or "A figure without a title.")
