"""A systolic array: a grid of cells that multiply, add, and hand their numbers on. A TPU's heart.

Each cell keeps one weight. Inputs come in from the left, each row of the array one cycle after the
row above it; partial sums flow down. In one cycle a cell multiplies the input that comes from its
left by its weight, adds the sum that comes from above, hands the input to the right and the new sum
down. So an input that was fetched once meets a whole row of weights, a weight that was fetched once
meets every input, and no partial sum ever goes to memory.

    cycles of one pass   m + rows + columns − 2, for m rows of x
    loads of one pass    each number of x and of the weights once

H. T. Kung, "Why Systolic Architectures?", 1982; N. P. Jouppi et al., "In-Datacenter Performance
Analysis of a Tensor Processing Unit", 2017, whose array has 256 × 256 cells.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gpulessons.plots.film import Film, spread
from gpulessons.plots.forms import cell, write
from gpulessons.plots.picture import DARK, INK, SKY, Picture, blank
from gpulessons.units import plural
from warplens.tables import Table


class Cycle(NamedTuple):
    """The cells at the end of one cycle, all (rows, columns)."""

    inputs: np.ndarray
    sums: np.ndarray
    busy: np.ndarray  # which cells multiplied an input by a weight


@dataclass(frozen=True, repr=False)
class Run:
    """A product computed by a systolic array, and what that took."""

    product: np.ndarray = field(compare=False)
    shape: tuple[int, int, int]  # m, k, n: x is (m, k), y is (k, n)
    array: tuple[int, int]  # rows and columns of cells
    passes: int  # blocks of weights, one after the other
    inputs: int  # loads of numbers of x
    weights: int  # loads of numbers of y
    busy: tuple[int, ...]  # in each cycle, cells that multiplied

    @property
    def cycles(self):
        return len(self.busy)

    @property
    def multiplications(self):
        return sum(self.busy)

    @property
    def utilization(self):
        """Of all cells in all cycles, the share that multiplied."""
        rows, columns = self.array
        return self.multiplications / (rows * columns * self.cycles)

    def table(self) -> Table:
        m, k, n = self.shape
        each = (self.inputs + self.weights) / self.multiplications
        return Table("A systolic array", (), [
            ("product", f"{m} × {k} by {k} × {n}"),
            ("cells", f"{self.array[0]} × {self.array[1]}, in {plural(self.passes, 'pass')}"),
            ("cycles", f"{self.cycles:,}"),
            ("multiplications", f"{self.multiplications:,}"),
            ("loads", f"{self.inputs:,} inputs and {self.weights:,} weights, "
             f"{each:.3g} for each multiplication"),
            ("cells at work", f"{self.utilization:.1%}"),
        ])

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def simulate(x: np.ndarray, y: np.ndarray, rows: int = 8, columns: int = 8) -> Run:
    """x @ y by an array of rows × columns cells, cycle by cycle, in the arrays' common dtype.

    x: (m, k), y: (k, n). A y larger than the array is cut into blocks of weights, one pass for
    each; below the array the sums of the passes are added up, as in a TPU. The weights of a pass
    are there when it begins. (A TPU also lets a pass begin while the one before drains.) Raises
    ValueError where the shapes do not fit, or where there is nothing to multiply.
    """
    (m, k), (depth, n) = x.shape, y.shape
    if k != depth or not min(m, k, n, rows, columns) > 0:
        shapes = f"x {x.shape} and y {y.shape}"
        raise ValueError(f"{shapes} have no product on {rows} × {columns} cells.")
    product = np.zeros((m, n), np.result_type(x, y))
    busy, across, down = [], range(0, n, columns), range(0, k, rows)
    for top in down:
        for left in across:
            weights = y[top : top + rows, left : left + columns]
            cycles = list(one_pass(x[:, top : top + rows], weights, m + rows + columns - 2))
            bottom = np.array([cycle.sums[-1] for cycle in cycles])
            # Row i of x has met all of column j when it is at the bottom, and j to the right.
            i, j = np.indices((m, weights.shape[1]))
            product[:, left : left + columns] += bottom[i + j + len(weights) - 1, j]
            busy += [int(cycle.busy.sum()) for cycle in cycles]
    passes = len(across) * len(down)
    return Run(product, (m, k, n), (rows, columns), passes, len(across) * x.size, y.size,
               tuple(busy))


def one_pass(x, weights, cycles):
    """Yield the cycles in which all of x (m, rows) flows over a block of weights (rows, columns).

    Cells without a weight only hand on what comes: they take cycles, and are left out.
    """
    dtype, rows = np.result_type(x, weights), np.arange(len(weights))
    inputs, sums = np.zeros(weights.shape, dtype), np.zeros(weights.shape, dtype)
    busy = np.zeros(weights.shape, bool)
    for number in range(cycles):
        arriving = number - rows  # which row of x: later by one for each row of cells
        comes = (arriving >= 0) & (arriving < len(x))
        entering = np.where(comes, x[arriving.clip(0, len(x) - 1), rows], 0)
        inputs = np.column_stack([entering, inputs[:, :-1]])  # to the right
        busy = np.column_stack([comes, busy[:, :-1]])
        above = np.vstack([np.zeros_like(sums[:1]), sums[:-1]])
        sums = above + weights * inputs  # downward
        yield Cycle(inputs, sums, busy)


class Pass(Film):
    """One pass, to step through: x (m, k) flows over the weights y (k, n), a cell for each."""

    def __init__(self, x, y):
        run = simulate(x, y, *y.shape)
        self.x, self.weights, self.product = x, y, run.product
        self.cycles = list(one_pass(x, y, run.cycles))

    def __len__(self):
        return len(self.cycles)

    def told(self, number):
        busy = self.cycles[number].busy
        return f"cycle {number + 1} of {len(self)}: {busy.sum()} of {busy.size} cells multiply"

    def figure(self, number: int) -> Picture:
        """The array at the end of one cycle, inputs to come at its left, results below it."""
        figure, axes = blank(height=4.6, title=f"{self.told(number).capitalize()}.")
        self.draw(axes, number, size=13)
        bottom = ", ".join(f"{value:g}" for value in self.cycles[number].sums[-1])
        return Picture(figure, f"{self.told(number)}. Bottom row of sums: {bottom}.")

    def multiples(self) -> Picture:
        """Six cycles, evenly chosen, in one figure."""
        chosen = spread(len(self), 6)
        rows, columns = self.weights.shape
        title = (
            f"{len(self.x)} rows of inputs through {rows} × {columns} cells: {len(self)} cycles, "
            f"{len(self.x) * self.weights.size} multiplications."
        )
        lines = -(-len(chosen) // 3)
        figure, panels = blank(height=0.5 + 2.5 * lines, title=title, nrows=lines, ncols=3)
        for axes in panels.flat:
            axes.set_axis_off()
        for axes, number in zip(panels.flat, chosen, strict=False):
            self.draw(axes, number, size=8.5)
            busy = self.cycles[number].busy.sum()
            axes.set_title(f"cycle {number + 1}: {busy} multiply", color=INK, fontsize=9)
        return Picture(figure, f"{title} {'; '.join(map(self.told, chosen))}.")

    def draw(self, axes, number, size):
        """The cells; at their left, inputs in the order in which they come in; results below."""
        rows, columns = self.weights.shape
        for r, c in np.ndindex(rows, columns):
            self.draw_cell(axes, self.cycles[number], r, c, size)
        for (i, r), value in np.ndenumerate(self.x):
            turns = i + r - number  # until it comes in
            if turns > 0:
                write(axes, 0.2 - 0.5 * turns, r + 0.5, f"{value:g}", fontsize=size)
        for (i, c), value in np.ndenumerate(self.product):
            since = number - (i + rows - 1 + c)  # it has left its column; the latest is on top
            if since >= 0:
                write(axes, c + 0.5, rows + 0.25 + 0.45 * since, f"{value:g}", fontsize=size,
                      weight="bold")
        margin = len(self.x) + rows - 1  # the inputs stand in a slanted queue, the results too
        axes.set(xlim=(-0.5 * margin - 0.05, columns + 0.1), ylim=(rows + 0.45 * margin, -0.1))
        axes.set(aspect="equal")
        axes.set_axis_off()

    def draw_cell(self, axes, cycle, r, c, size):
        """The product that a busy cell makes, over the sum it hands down; an idle one's weight."""
        weight = f"·{self.weights[r, c]:g}"
        if not cycle.busy[r, c]:
            cell(axes, c, r, weight, size=size)
            return
        cell(axes, c, r, color=SKY)
        look = {"fontsize": size, "color": DARK}
        write(axes, c + 0.5, r + 0.32, f"{cycle.inputs[r, c]:g}{weight}", **look)
        write(axes, c + 0.5, r + 0.7, f"{cycle.sums[r, c]:g}", weight="bold", **look)

    def __repr__(self):
        return f"one pass of a systolic array, {plural(len(self), 'cycle')}"
