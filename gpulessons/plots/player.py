"""A player of the first traced block: slider and arrow keys, small multiples when static."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpulessons.plots.film import Film
from gpulessons.plots.picture import INK, SKY, Picture
from gpulessons.units import plural
from warplens.lanes.masks import WARP
from warplens.report.steps import Step, steps_of
from warplens.report.traces import Trace

from .trace_drawing import ACCESS_COLORS, GRAY, cells, write
from .traces import source_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS, COLUMNS = 16, 32  # of an array's cells that are drawn
KEY = {"read": "blue: read now", "write": "orange: written now", "atomic": "green: updated now"}


def describe(step: Step, number: int, total: int) -> str:
    lanes, warp = plural(len(step.lanes), "lane"), f"warp {step.warp}"
    done = {"read": "read", "write": "write", "atomic": "update"}.get(step.access)
    what = (
        f"{lanes} of {warp} {done} {step.array} at line {step.line}" if step.array
        else f"{warp} reaches line {step.line} with {lanes}"
    )  # fmt: skip
    return f"step {number + 1} of {total}: {what}"


class Player(Film):
    """Shows itself in a notebook: a slider where widgets live, elsewhere a picture."""

    def __init__(self, trace: Trace) -> None:
        steps = steps_of(trace)  # from the first that touches an array: before, nothing is seen
        first = next((n for n, step in enumerate(steps) if step.array), 0)
        self.trace, self.steps = trace, steps[first:]
        if not self.steps:
            raise ValueError("the first traced block did nothing that could be shown")
        self.warps = -(-math.prod(trace.block) // WARP)

    def __len__(self) -> int:
        return len(self.steps)

    def figure(self, number: int) -> Picture:
        """One step: the block's threads, the source line, the cells of the array it touches."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.8, 3.4))
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
        step = self.steps[number]
        draw_threads(left, step, self.warps)
        right.set_axis_off()
        last = next((at for at in range(number, -1, -1) if self.steps[at].array), None)
        if last is not None:
            draw_cells(right, self.steps[last], self.seen(number, self.steps[last].array),
                       faint=last != number)  # fmt: skip
        told = describe(step, number, len(self.steps))
        figure.suptitle(told, x=0.02, ha="left", fontsize=12, color=INK)
        text = source_lines(self.trace).get((step.function, step.line), f"in {step.function}")
        figure.text(0.02, 0.02, f"{step.line}: {text}", family="monospace", fontsize=9, color=INK)
        figure.subplots_adjust(left=0.05, right=0.99, top=0.8, bottom=0.14, wspace=0.08)
        return Picture(figure, told)

    def seen(self, number: int, array: str) -> set[tuple[int, ...]]:
        """The cells of an array that the steps before this one met."""
        return {c for step in self.steps[:number] if step.array == array for c in step.cells}

    def multiples(self, count: int = 4) -> Picture:
        """What the block does to its arrays, in order: a panel for each array and way of access."""
        from matplotlib.figure import Figure

        chosen = self.kinds()[:count]
        columns = min(2, len(chosen))
        rows = -(-len(chosen) // columns)
        figure = Figure(figsize=(7.2, 0.4 + 2.8 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).flat
        for place, axes in enumerate(panels):
            axes.set_axis_off()
            if place < len(chosen):
                self.draw_kind(axes, place + 1, chosen[place])
        done = {self.steps[n].access for n in chosen}
        figure.supxlabel("; ".join([KEY[one] for one in KEY if one in done] + ["gray: earlier"]),
                         fontsize=10, color=INK)  # fmt: skip
        total = len(self.steps)
        told = "; ".join(describe(self.steps[n], n, total) for n in chosen)
        alt = f"{plural(len(chosen), 'step')} of {self.trace.kernel}. {told}."
        return Picture(figure, alt)

    def kinds(self) -> list[int]:
        """A step of each kind, an array and what is done to it: the middle one of its steps."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, step in enumerate(self.steps):
            found.setdefault((step.array, step.access), []).append(number)
        kept = {kind: steps for kind, steps in found.items() if kind[0]} or found
        return [steps[len(steps) // 2] for steps in kept.values()]

    def draw_kind(self, axes: Axes, place: int, number: int) -> None:
        """A step's array, whole where 32 rows are enough, under what is done to it."""
        step, words = self.steps[number], f"line {self.steps[number].line}"
        if step.array:
            draw_cells(axes, step, self.seen(number, step.array), rows=COLUMNS)
            done = {"read": "reads", "write": "writes", "atomic": "updates"}[step.access]
            words = f"warp {step.warp} {done} {step.array}, {words}"
        axes.set_title(f"{place}. {words}", loc="left", fontsize=10, color=INK)

    def __repr__(self) -> str:
        return f"a player of {plural(len(self.steps), 'step')} of {self.trace.kernel}"


def player(trace: Trace) -> Player:
    """Step through what the first traced block did; choose one with `trace(kernel, blocks={7})`."""
    return Player(trace)


def draw_threads(axes: Axes, step: Step, warps: int) -> None:
    """A row for every warp, 32 lanes wide; the lanes at work are filled."""
    axes.set_axis_off()
    active = ACCESS_COLORS.get(step.access, SKY)
    at_work = {(lane, step.warp) for lane in step.lanes}
    everyone = {(lane, warp) for warp in range(warps) for lane in range(WARP)}
    cells(axes, sorted(everyone - at_work), 0.88, 0.84, alpha=0.45)
    cells(axes, sorted(at_work), 0.88, 0.84, active)
    for warp in range(0, warps, 1 if warps < 9 else 8):
        write(axes, -0.6, warp + 0.45, f"warp {warp}", "right")
    for lane in range(0, WARP, 8):
        write(axes, lane, -0.45, f"lane {lane}", "left")
    axes.set_xlim(-5, WARP)
    axes.set_ylim(max(warps, 8), -1)


def draw_cells(
    axes: Axes, step: Step, seen: set[tuple[int, ...]], rows: int = ROWS, faint: bool = False
) -> None:
    """A window of the array: cells of this step in color, cells met before in gray."""
    size = math.prod(step.shape)
    across = step.shape[-1] if len(step.shape) > 1 else COLUMNS  # a flat array is folded
    places, before = (
        {place_of(each, step.shape, across) for each in some} for some in (step.cells, seen)
    )
    total = -(-size // across)
    top = max(0, min(min(row for row, _ in places), total - rows))
    start = min(column for _, column in places) // COLUMNS * COLUMNS
    drawn = {(row, column) for row in range(top, min(top + rows, total))
             for column in range(start, min(start + COLUMNS, across))
             if row * across + column < size}  # fmt: skip
    for chosen, color, alpha in (
        (drawn - places - before, None, 0.35), ((drawn & before) - places, GRAY, 0.35),
        (drawn & places, ACCESS_COLORS[step.access], 0.6 if faint else 1.0),
    ):  # fmt: skip
        corners = sorted((column - start, row - top) for row, column in chosen)
        cells(axes, corners, 0.88, 0.84, color, alpha=alpha)
    window = f"rows {top} to {min(top + rows, total) - 1}" if total > rows else "all of it"
    axes.set_title(f"{step.array}{list(step.shape)}, {window}", loc="left", fontsize=10, color=INK)
    axes.set_xlim(-0.5, COLUMNS)
    axes.set_ylim(max(8, min(rows, total)), -0.5)


def place_of(index: tuple[int, ...], shape: tuple[int, ...], across: int) -> tuple[int, int]:
    """(row, column) of an element, with so many of them in a row."""
    return divmod(int(np.ravel_multi_index(index, shape)) if index else 0, across)
