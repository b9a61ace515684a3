"""The timeline: one step as a picture, time to the right, a row for each depth of each lane.

It reads as a static page, so what is wide enough carries its name. To zoom into a step, save it
(`Profile.save`) and open the file at ui.perfetto.dev, the field's own tool for such traces.
"""

from collections import defaultdict
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from gpulessons import units
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION, Picture, blank, on

from .spans import COMPUTE, GPU, IDLE, LAUNCH, MEMORY, PYTHON, Span, phases
from .split import Part

COLORS = {COMPUTE: BLUE, LAUNCH: VERMILLION, MEMORY: GREEN, IDLE: "none"}  # idle: an outline
WIDTH, ROW = 10.0, 0.19  # inches
HAIR = 1 / 600  # of the step: what is shorter is not drawn
LETTER = 1 / 95  # of the step: about what a letter takes
DEEPEST = 7  # rows of one lane

Bar = tuple[float, float, str, str]  # start, stop, kind, name


def drawn(
    spans: Sequence[Span], parts: Sequence[Part], seconds: float, title: str, alt: str
) -> Picture:
    """The step's picture: the lines of a training step, its split, and the lanes."""
    rows = [("the split", [(each.start, each.stop, each.kind, each.kind) for each in parts])]
    rows += lanes(spans, HAIR * seconds)
    lines = wrap(title, 110)
    figure, axes = blank(WIDTH, 1.4 + 0.2 * len(lines) + ROW * len(rows), "\n".join(lines))
    for place, (_, bars) in enumerate(rows):
        draw_row(axes, place, [bar for bar in bars if bar[1] - bar[0] >= HAIR * seconds], seconds)
    free = 0.0
    for name, start, stop in phases(spans):
        axes.annotate("", (start, -0.75), (stop, -0.75), arrowprops={"arrowstyle": "|-|,widthA=0.2,"
                      "widthB=0.2", "color": INK, "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        middle, half = (start + stop) / 2, LETTER * len(name) * seconds / 2
        if middle > free:  # else its name would stand beside its bracket
            axes.text(max(middle, free + half), -1, name, color=INK, fontsize=9, ha="center")
            free = max(middle, free + half) + half
    axes.set_xlim(0, seconds)
    axes.set_ylim(len(rows) - 0.4, -1.8)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda value, _: units.seconds(value))
    axes.set_xlabel("time", color=INK)
    handles = [axes.barh([0], [0], color=color, edgecolor=INK, linestyle="--" * (kind == IDLE) or
                         "-", linewidth=kind == IDLE, label=kind)
               for kind, color in COLORS.items()]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower left", ncols=len(COLORS), frameon=False,
                  labelcolor=INK, fontsize=9)  # fmt: skip
    return Picture(figure, alt)


def lanes(spans: Sequence[Span], hair: float) -> list[tuple[str, list[Bar]]]:
    """A row for each depth of each lane, the host's first; the first of a lane has its name.

    Rows in which nothing is as long as a hair are left out.
    """
    found: dict[str, dict[int, list[Bar]]] = defaultdict(lambda: defaultdict(list))
    for span in spans:
        if span.depth < DEEPEST:
            bar = span.start, span.stop, span.kind, bare(span.name)
            found[span.lane][span.depth].append(bar)
    rows = []
    for lane in sorted(found, key=lambda name: (name.startswith(GPU), name != PYTHON, name)):
        deep = [found[lane][depth] for depth in sorted(found[lane])]
        seen = [row for row in deep if any(stop - start >= hair for start, stop, *_ in row)]
        rows += [("" if n else lane, row) for n, row in enumerate(seen or deep[:1])]
    return rows


def draw_row(axes: Any, place: int, bars: Sequence[Bar], seconds: float) -> None:
    for kind, color in COLORS.items():
        pieces = [(start, stop - start) for start, stop, each, _ in bars if each == kind]
        outline = {"edgecolor": INK, "linestyle": "--", "linewidth": 0.8} if kind == IDLE else {}
        axes.broken_barh(pieces, (place - 0.42, 0.84), facecolor=color, **outline)
    for start, stop, kind, name in bars:
        room = int((stop - start) / seconds / LETTER) - 1
        label = name if len(name) <= room else f"{name[: room - 1]}…" if room >= 7 else ""
        color = INK if kind == IDLE else on(COLORS[kind])
        axes.text((start + stop) / 2, place, label, color=color, fontsize=8, ha="center",
                  va="center_baseline")  # fmt: skip


def bare(name: str) -> str:
    """An operator's name without what all of them share."""
    if name.startswith("Optimizer."):
        return name.rpartition("#")[2]  # "Optimizer.step#SGD.step"
    for prefix in ("autograd::engine::evaluate_function: ", "torch::autograd::", "aten::"):
        name = name.removeprefix(prefix)
    return name
