"""The picture of a Reveal: guess, measurement and model on one axis, each named beside its mark."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .reveals import Reveal


def rows(reveal: "Reveal") -> Iterator[tuple[str, tuple | None, str, str]]:
    """From the top of the picture: (name, (low, middle, high) or None, words, how to mark it)."""
    write, measured = reveal.scale.write, reveal.measured
    if reveal.prediction is not None:
        yield "your prediction", (reveal.prediction,) * 3, write(reveal.prediction), "prediction"
    words = f"not possible ({reveal.why})"
    if measured:
        low, median, high = map(write, measured)
        words = median if low == high else f"{median} ({low} to {high})"
    yield reveal.label, measured, words, reveal.tier
    if reveal.model is not None:
        yield "the model", (reveal.model,) * 3, write(reveal.model), "model"


def draw(reveal: "Reveal") -> "Figure":
    """One row for each mark, so that no two labels can meet, over one shared axis."""
    from gpulessons.plots.picture import blank

    marks = list(rows(reveal))
    figure, axes = blank(8, 1.6 + 0.4 * len(marks), textwrap.fill(reveal.sentence, 84))
    draw_axis(axes, reveal, [value for _, spread, _, _ in marks for value in spread or ()])
    axes.set_yticks(range(len(marks)), [textwrap.fill(name, 24) for name, *_ in marks])
    axes.set_ylim(len(marks) - 0.4, -0.6)
    for y, (_, spread, words, kind) in enumerate(marks):
        if spread:
            draw_mark(axes, y, spread, kind)
        draw_label(axes, y, spread, words)
    return figure


def draw_axis(axes: "Axes", reveal: "Reveal", values: list[float]) -> None:
    scale = reveal.scale
    if scale.log and all(value > 0 for value in values):
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.plot([scale.low, scale.high], [0, 0], alpha=0)  # The slider's ends are always in view.
    axes.xaxis.set_major_formatter(lambda value, _: scale.write(value))
    log = ", log scale" if scale.log else ""
    axes.set_xlabel(textwrap.fill(f"{reveal.question} ({scale.unit}{log})", 80))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def draw_mark(axes: "Axes", y: float, spread: tuple, kind: str) -> None:
    """A guess in purple, a measurement in ink (a color would name a backend), a model as a line.

    As in every picture of the course a live value is solid, a recorded one dashed, a published one
    open, and a modelled one thin and hatched.
    """
    from gpulessons.plots.picture import DASH_DOT, HATCH, INK, PURPLE

    low, middle, high = spread
    if kind == "model":
        axes.vlines(middle, y - 0.35, y + 0.35, color=INK, linewidth=1.2)
        return
    if kind == "modelled":
        axes.plot([low, high], [y, y], color=INK, linewidth=1, linestyle=DASH_DOT)
        axes.scatter(middle, y, 90, facecolor="none", edgecolor=INK, hatch=2 * HATCH)
        return
    axes.plot([low, high], [y, y], color=INK, linewidth=3,
              linestyle=(0, (1, 0.6)) if kind == "recorded" else "-")
    axes.plot(middle, y, "D" if kind == "prediction" else "o", markersize=9, markeredgecolor=INK,
              markeredgewidth=1.8, linestyle="none",
              color={"prediction": PURPLE, "live": INK, "counted": INK}.get(kind, "none"))


def draw_label(axes: "Axes", y: float, spread: tuple | None, words: str) -> None:
    """The value in words, right of its mark; the figure's layout makes room for it."""
    from gpulessons.plots.picture import INK

    if spread is None:
        axes.text(0.01, y, words, transform=axes.get_yaxis_transform(), va="center", color=INK,
                  style="italic")
    else:
        axes.annotate(words, (spread[2], y), (12, 0), textcoords="offset points", va="center",
                      color=INK)
