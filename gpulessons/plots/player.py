"""A player of the first traced block: slider and arrow keys, small multiples when static."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

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
    lanes = plural(len(step.lanes), "lane")
    if not step.array:
        return (
            f"step {number + 1} of {total}: warp {step.warp} reaches line {step.line} with {lanes}"
        )
    verb = {"read": "read", "write": "write", "atomic": "update"}[step.access]
    what = f"{lanes} of warp {step.warp} {verb} {step.array} at line {step.line}"
    return f"step {number + 1} of {total}: {what}"


class Player(Film):
    """Shows itself in a notebook: a slider where widgets live, elsewhere a picture."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.steps = trace, steps_of(trace)
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
        self.draw(left, right, number)
        told = describe(self.steps[number], number, len(self.steps))
        figure.suptitle(told, x=0.02, ha="left", fontsize=12, color=INK)
        figure.text(0.02, 0.02, self.source(number), family="monospace", fontsize=9, color=INK)
        figure.subplots_adjust(left=0.05, right=0.99, top=0.8, bottom=0.14, wspace=0.08)
        return Picture(figure, told)

    def source(self, number: int) -> str:
        step = self.steps[number]
        text = source_lines(self.trace).get((step.function, step.line), f"in {step.function}")
        return f"{step.line}: {text}"

    def draw(self, left: Axes, right: Axes, number: int) -> None:
        step = self.steps[number]
        draw_threads(left, step, self.warps)
        shown = step if step.array else next((s for s in self.steps[number::-1] if s.array), None)
        right.set_axis_off()
        if shown:
            seen = {c for s in self.steps[:number] if s.array == shown.array for c in s.cells}
            draw_cells(right, shown, seen, current=step is shown)

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
        step = self.steps[number]
        if not step.array:
            axes.set_title(f"{place}. line {step.line}", loc="left", fontsize=10, color=INK)
            return
        seen = {c for s in self.steps[:number] if s.array == step.array for c in s.cells}
        draw_cells(axes, step, seen, current=True, rows=COLUMNS)
        done = {"read": "reads", "write": "writes", "atomic": "updates"}[step.access]
        words = f"{place}. warp {step.warp} {done} {step.array}, line {step.line}"
        axes.set_title(words, loc="left", fontsize=10, color=INK)

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
    for warp in range(warps):
        write(axes, -0.6, warp + 0.45, f"warp {warp}", "right")
    for lane in range(0, WARP, 8):
        write(axes, lane, -0.45, f"lane {lane}", "left")
    axes.set_xlim(-5, WARP)
    axes.set_ylim(max(warps, 8), -1)


def draw_cells(
    axes: Axes, step: Step, seen: set[tuple[int, ...]], current: bool, rows: int = ROWS
) -> None:
    """A window of the array: cells of this step in color, cells met before in gray."""
    flat = len(step.shape) < 2
    width = COLUMNS if flat else min(COLUMNS, step.shape[-1])
    places = {place_of(c, step.shape, flat) for c in step.cells}
    before = {place_of(c, step.shape, flat) for c in seen}
    top, start = (
        min(r for r, _ in places),
        0 if flat else min(c for _, c in places) // COLUMNS * COLUMNS,
    )
    total = -(-math.prod(step.shape) // width) if flat else math.prod(step.shape[:-1])
    top = max(0, min(top, total - rows))
    drawn = {(row, column) for row in range(top, min(top + rows, total))
             for column in range(start, start + width) if inside(row, column, step.shape, flat)}
    for chosen, color, faint in (
        (drawn - places - before, None, 0.35), ((drawn & before) - places, GRAY, 0.35),
        (drawn & places, ACCESS_COLORS[step.access], 1.0 if current else 0.6),
    ):  # fmt: skip
        corners = sorted((column - start, row - top) for row, column in chosen)
        cells(axes, corners, 0.88, 0.84, color, alpha=faint)
    window = f"rows {top} to {min(top + rows, total) - 1}" if total > rows else "all of it"
    axes.set_title(f"{step.array}{list(step.shape)}, {window}", loc="left", fontsize=10, color=INK)
    axes.set_xlim(-0.5, COLUMNS)
    axes.set_ylim(max(8, min(rows, total)), -0.5)


def place_of(index: tuple[int, ...], shape: tuple[int, ...], flat: bool) -> tuple[int, int]:
    if flat:
        return divmod(index[0] if index else 0, COLUMNS)
    row = 0
    for i, n in zip(index[:-1], shape[:-1], strict=True):
        row = row * n + i
    return row, index[-1]


def inside(row: int, column: int, shape: tuple[int, ...], flat: bool) -> bool:
    return row * COLUMNS + column < math.prod(shape) if flat else column < shape[-1]
