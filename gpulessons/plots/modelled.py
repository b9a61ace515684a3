"""A modelled time, drawn: the bounds, each as the time that one part of a GPU alone would need."""

from typing import Any

from gpulessons import units

from .axes import written
from .picture import HATCH, INK, VERMILLION, Picture, blank

FEW = 5  # numbers along the axis: with more, their words run together
THE = "load/store path", "launch"  # the parts of a GPU that a sentence calls so with an article
WORDS = {"the longest": "longest", "the runner-up": "second", "the waits": "wait",
         "the interval": "interval"}  # what lights what


def bounds(modelled: Any) -> Picture:
    """Seconds of each part of the GPU as bars, the limiter's filled; the modelled time and its
    interval as a line and a hatched band behind them. For a Modelled of warplens."""
    title = headline(modelled)
    parts = [part for part in modelled.ranked if modelled.bounds[part]][::-1]
    figure, axes = blank(height=1.3 + 0.34 * len(parts), title=title)
    for y, part in enumerate(parts):
        role = " longest" * (part == parts[-1]) + " second" * (part == parts[-2])
        axes.barh(y, modelled.bounds[part], height=0.62, edgecolor=VERMILLION, zorder=2,
                  color=VERMILLION if part == modelled.limiter else "none",
                  gid="lit" + role + " wait" * (part in ("latency", "launch")))
    axes.set_yticks(range(len(parts)), [told(modelled, part) for part in parts])
    axes.get_yticklabels()[-1].set_fontweight("bold")  # the limiter's
    draw_time(axes, modelled)
    return Picture(figure, f"{title} {in_words(modelled)}", WORDS)


def headline(modelled: Any) -> str:
    """The message in a sentence."""
    time = "at least " * modelled.at_least + units.seconds(modelled.known)
    part = f"the {modelled.limiter}" if modelled.limiter in THE else modelled.limiter
    return f"{modelled.kernel} on {modelled.gpu} would wait for {part}: {time}, MODELLED."


def told(modelled: Any, part: str) -> str:
    return f"{part}, {units.seconds(modelled.bounds[part])} ({modelled.share(part):.0%})"


def draw_time(axes: Any, modelled: Any) -> None:
    """The time as a line, its interval as a band; to the edge where only its low end is known."""
    right = 1.25 * max(modelled.high or 1.5 * modelled.low, *modelled.bounds.values())
    high = right if modelled.at_least else modelled.high
    axes.axvspan(modelled.low, high, facecolor="none", edgecolor=INK, hatch=HATCH, linewidth=0,
                 alpha=0.35, zorder=0, gid="lit interval")
    axes.axvline(modelled.known, color=INK, linewidth=1.5, linestyle="--", zorder=3)
    axes.set_xlim(0, right)
    axes.locator_params(axis="x", nbins=FEW)
    written(axes.xaxis, units.seconds)
    axes.set_xlabel(
        "alone it would take (share of the time: parts overlap)\n"
        f"dashed and hatched, modelled: {modelled.words}"
    )


def in_words(modelled: Any) -> str:
    """What the picture shows, with every figure."""
    shown = [told(modelled, part) for part in modelled.ranked if modelled.bounds[part]]
    notes = ". ".join(note.rstrip(".") for note in modelled.notes)
    return (
        f"Modelled and not measured: {modelled.words}. Each part of the GPU alone would take: "
        f"{'; '.join(shown)}. {notes[:1].upper()}{notes[1:]}."
    )
