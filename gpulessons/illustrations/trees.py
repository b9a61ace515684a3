"""Three trees that add up eight numbers in shared memory: which thread adds which pair.

The rules are those of the kernels in ops/reduce.py, with 8 numbers where they have 256.
"""

import math
from collections.abc import Callable

from gpulessons.plots.picture import INK, ORANGE, SKY, Picture, blank, on

COUNT = 8
UP, DOWN = (1, 2, 4), (4, 2, 1)
Rule = Callable[[int, int], int | None]  # (thread, step) to the place that it adds to, if any

RULES: dict[str, tuple[str, tuple[int, ...], Rule]] = {
    "interleaved": ("if t % (2 * step) == 0", UP, lambda t, step: None if t % (2 * step) else t),
    "strided index": ("index = 2 * step * t", UP,
                      lambda t, step: 2 * step * t if 2 * step * t < COUNT else None),
    "sequential": ("if t < step", DOWN, lambda t, step: t if t < step else None),
}  # fmt: skip


def additions(name: str) -> list[list[tuple[int, int, int]]]:
    """For each step [(thread, place it adds to, place it reads)]."""
    _, steps, rule = RULES[name]
    places = [[(t, rule(t, step)) for t in range(COUNT)] for step in steps]
    return [
        [(t, to, to + step) for t, to in row if to is not None]
        for step, row in zip(steps, places, strict=True)
    ]


def trees() -> Picture:
    """The trees side by side, each with the line of its kernel that makes it."""
    number = sum(map(len, additions("sequential")))
    title = (
        f"Three trees, {number} additions each, in {len(UP)} steps. The circles name the threads."
    )
    figure, panels = blank(8.6, 3.2, title, ncols=len(RULES))
    for axes, (name, (line, steps, _)) in zip(panels, RULES.items(), strict=True):
        axes.set_axis_off()
        axes.set(xlim=(-0.6, COUNT - 0.4), ylim=(-len(steps) - 0.5, 1.2))
        axes.text(-0.5, 1.1, name, color=INK, weight="bold", fontsize=10)
        axes.text(-0.5, 0.65, line, color=INK, family="monospace", fontsize=9)
        draw(axes, additions(name))
    said = "; ".join(
        f"{name}: threads {', '.join(str(t) for t, *_ in additions(name)[0])} begin"
        for name in RULES
    )
    return Picture(figure, f"{title} {said}.")


def draw(axes, steps):
    """Numbers as squares; each addition as a circle below the two that it adds."""
    axes.plot(range(COUNT), [0] * COUNT, "s", color=SKY, markersize=9)
    last = [0] * COUNT  # the row in which a place was written last
    lines = []  # one path for all of them
    for row, step in enumerate(steps, 1):
        for _, to, read in step:
            lines += [(read, last[read]), (to, -row), (to, last[to]), (math.nan, 0)]
        for t, to, _ in step:
            axes.text(to, -row, str(t), ha="center", va="center", fontsize=9, color=on(ORANGE))
            last[to] = -row
    axes.plot(*zip(*lines, strict=True), color=INK, linewidth=0.8, zorder=1)
    circles = [(to, -row) for row, step in enumerate(steps, 1) for _, to, _ in step]
    axes.plot(*zip(*circles, strict=True), "o", color=ORANGE, markersize=14, zorder=2)
