"""A player of the first traced block: slider and arrow keys, small multiples when static."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpulessons.plots.film import Film
from gpulessons.plots.picture import INK, Picture
from gpulessons.units import plural
from warplens.report.steps import Step, steps_of
from warplens.report.traces import Trace

from .trace_drawing import ACCESS_COLORS, GRAY, cells
from .traces import source_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 32  # rows and columns of an array that are drawn
DOES = {"read": "reads", "write": "writes", "atomic": "updates"}
KEY = "blue: read now; orange: written now; green: updated now; gray: earlier"


class Player(Film):
    """Shows itself in a notebook: a slider where widgets live, elsewhere a picture."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.moments: list[list[Step]] = []  # what a warp reads, and what it then writes
        for step in steps_of(trace):
            last = self.moments[-1] if self.moments else []
            if len(last) == 1 and (last[0].access, last[0].warp) == ("read", step.warp):
                last += [step] * bool(step.array)
            elif step.array:
                self.moments.append([step])
        if not self.moments:
            raise ValueError("the first traced block did nothing that could be shown")

    def __len__(self) -> int:
        return len(self.moments)

    def figure(self, number: int) -> Picture:
        """One step: the source line, and the cells of the arrays that it touches."""
        return self.drawn([number])

    def multiples(self) -> Picture:
        """A step of each kind, the arrays and what is done to them: the middle one of its steps."""
        found: dict[tuple, list[int]] = {}
        for number, moment in enumerate(self.moments):
            found.setdefault(tuple((one.array, one.access) for one in moment), []).append(number)
        return self.drawn([steps[len(steps) // 2] for steps in found.values()][:3])

    def drawn(self, numbers: list[int]) -> Picture:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.2, 0.4 + 4 * len(numbers)), layout="constrained")
        panels = figure.subplots(len(numbers), 2, squeeze=False)
        told = [self.describe(number) for number in numbers]
        for row, number in zip(panels, numbers, strict=True):
            for axes in row:
                axes.set_axis_off()
            for axes, step in zip(row, self.moments[number], strict=False):
                draw_cells(axes, step, self.seen(number, step.array))
            step = self.moments[number][0]
            text = source_lines(self.trace).get((step.function, step.line), f"in {step.function}")
            row[0].text(0, -3.6, f"{step.line}: {text}", family="monospace", fontsize=9, color=INK)
        title = told[0] if len(told) == 1 else ""
        figure.suptitle(title, x=0.02, ha="left", fontsize=12, color=INK)
        figure.supxlabel(KEY, fontsize=9, color=INK)
        return Picture(figure, "; ".join(told))

    def describe(self, number: int) -> str:
        moment = self.moments[number]
        done = " and ".join(f"{DOES[step.access]} {step.array}" for step in moment)
        lanes = plural(len(moment[0].lanes), "lane")
        return f"step {number + 1} of {len(self)}: warp {moment[0].warp}, {lanes}, {done}"

    def seen(self, number: int, array: str) -> set[tuple[int, ...]]:
        """The cells of an array that the steps before this one met."""
        before = (step for moment in self.moments[:number] for step in moment)
        return {each for step in before if step.array == array for each in step.cells}

    def __repr__(self) -> str:
        return f"a player of {plural(len(self), 'step')} of {self.trace.kernel}"


def player(trace: Trace) -> Player:
    """Step through what the first traced block did; choose one with `trace(kernel, blocks={7})`."""
    return Player(trace)


def draw_cells(axes: Axes, step: Step, seen: set[tuple[int, ...]]) -> None:
    """A window of the array: cells of this step in color, cells met before in gray."""
    size = math.prod(step.shape)
    across = step.shape[-1] if len(step.shape) > 1 else LARGEST  # a flat array is folded
    places, before = (
        {place_of(each, step.shape, across) for each in some} for some in (step.cells, seen)
    )
    total = -(-size // across)
    top, start = (min(at) // LARGEST * LARGEST for at in zip(*places, strict=True))
    drawn = {(row, column) for row in range(top, min(top + LARGEST, total))
             for column in range(start, min(start + LARGEST, across))
             if row * across + column < size}  # fmt: skip
    for chosen, color, alpha in (
        (drawn, None, 0.35), (drawn & before, GRAY, 0.35),
        (drawn & places, ACCESS_COLORS[step.access], 1.0),
    ):  # fmt: skip
        for at in sorted({row for row, _ in chosen}):  # rows alike are kept once on a saved page
            corners = sorted((column - start, row - top) for row, column in chosen if row == at)
            cells(axes, corners, 0.88, 0.84, color, alpha=alpha)
    window = f"rows {top} to {min(top + LARGEST, total) - 1}" if total > LARGEST else "all of it"
    axes.set_title(f"{step.array}{list(step.shape)}, {window}", loc="left", fontsize=10, color=INK)
    axes.set_xlim(-0.5, LARGEST)
    axes.set_ylim(max(8, min(LARGEST, total)), -0.5)


def place_of(index: tuple[int, ...], shape: tuple[int, ...], across: int) -> tuple[int, int]:
    """(row, column) of an element, with so many of them in a row."""
    return divmod(int(np.ravel_multi_index(index, shape)) if index else 0, across)
