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

import numpy as np

from gpulessons.plots.film import Film
from gpulessons.plots.forms import rectangle
from gpulessons.plots.picture import DARK, INK, SKY, Picture, blank
from gpulessons.units import plural
from warplens.tables import Table


@dataclass(frozen=True)
class Cycle:
    """The array at the end of one cycle: what each cell holds, all (rows, columns)."""

    number: int  # from 0
    entered: int  # inputs that came in from memory in this cycle
    weights: np.ndarray
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
    def loads_per_multiply(self):
        return (self.inputs + self.weights) / self.multiplications

    @property
    def utilization(self):
        """Of all cells in all cycles, the share that multiplied."""
        rows, columns = self.array
        return self.multiplications / (rows * columns * self.cycles)

    def table(self) -> Table:
        m, k, n = self.shape
        return Table("A systolic array", (), [
            ("product", f"{m} × {k} by {k} × {n}"),
            ("cells", f"{self.array[0]} × {self.array[1]}, in {plural(self.passes, 'pass')}"),
            ("cycles", f"{self.cycles:,}"),
            ("multiplications", f"{self.multiplications:,}"),
            ("loads", f"{self.inputs:,} inputs and {self.weights:,} weights, "
             f"{self.loads_per_multiply:.3g} for each multiplication"),
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
    are there when it begins: a TPU shifts them in during the pass before. (It also lets a pass
    begin while the one before drains, which is not done here.) Raises ValueError where the shapes
    do not fit, or where there is nothing to multiply.
    """
    (m, k), (depth, n) = x.shape, y.shape
    if k != depth or not min(m, k, n, rows, columns) > 0:
        shapes = f"x {x.shape} and y {y.shape}"
        raise ValueError(f"{shapes} have no product on {rows} × {columns} cells.")
    product = np.zeros((m, n), np.result_type(x, y))
    busy, inputs, passes = [], 0, 0
    for top in range(0, k, rows):
        for left in range(0, n, columns):
            weights = y[top : top + rows, left : left + columns]
            below = product[:, left : left + columns]
            for cycle in one_pass(x[:, top : top + rows], weights, rows, columns):
                collect(cycle, below)
                busy.append(int(cycle.busy.sum()))
                inputs += cycle.entered
            passes += 1
    return Run(product, (m, k, n), (rows, columns), passes, inputs, y.size, tuple(busy))


def one_pass(x, weights, rows, columns):
    """Yield the cycles in which all of x (m, up to rows) flows over one block of weights."""
    m, depth = x.shape
    dtype = np.result_type(x, weights)
    held, kept = np.zeros((rows, columns), dtype), np.zeros((rows, columns), bool)
    held[:depth, : weights.shape[1]], kept[:depth, : weights.shape[1]] = weights, True
    inputs, there, sums = np.zeros_like(held), np.zeros_like(kept), np.zeros_like(held)
    nothing = np.zeros((1, columns), dtype)
    for number in range(m + rows + columns - 2):
        arriving = number - np.arange(rows)  # which row of x: later by one for each row of cells
        comes = (arriving >= 0) & (arriving < m) & (np.arange(rows) < depth)
        entering = np.zeros(rows, dtype)
        entering[comes] = x[arriving[comes], np.flatnonzero(comes)]
        inputs = np.hstack([entering[:, None], inputs[:, :-1]])  # to the right
        there = np.hstack([comes[:, None], there[:, :-1]])
        sums, busy = np.vstack([nothing, sums[:-1]]), there & kept  # downward
        sums[busy] += held[busy] * inputs[busy]
        yield Cycle(number, int(comes.sum()), held, inputs, sums, busy)


def collect(cycle, below):
    """Add what leaves the bottom row to the results below: (m, up to columns), in place.

    Row i of x has met all of column j when it has passed rows − 1 cells down and j to the right.
    """
    rows, column = cycle.sums.shape[0], np.arange(below.shape[1])
    row = cycle.number - (rows - 1) - column
    out = (row >= 0) & (row < len(below))
    below[row[out], column[out]] += cycle.sums[-1, column[out]]


# -- Pictures.


class Pass(Film):
    """One pass, to step through: x (m, k) flows over the weights y (k, n), a cell for each."""

    def __init__(self, x, y):
        self.x, self.cycles = x, list(one_pass(x, y, *y.shape))
        self.product = simulate(x, y, *y.shape).product

    def __len__(self):
        return len(self.cycles)

    def told(self, number):
        busy = self.cycles[number].busy
        return f"cycle {number + 1} of {len(self)}: {busy.sum()} of {busy.size} cells multiply"

    def figure(self, number: int) -> Picture:
        """The array at the end of one cycle, inputs to come at its left, results below it."""
        figure, axes = blank(height=4.6, title=f"{self.told(number).capitalize()}.")
        self.draw(axes, number, size=13)
        return Picture(figure, f"{self.told(number)}. {self.left_over(number)}")

    def multiples(self, count: int = 6) -> Picture:
        """Some cycles, evenly chosen, in one figure."""
        count = min(count, len(self))
        chosen = np.linspace(0, len(self) - 1, count).round().astype(int)
        m, (rows, columns) = len(self.x), self.cycles[0].sums.shape
        title = (
            f"{m} rows of inputs through {rows} × {columns} cells: {len(self)} cycles, "
            f"{len(self.x) * rows * columns} multiplications."
        )
        lines = -(-count // 3)
        figure, panels = blank(
            height=0.5 + 2.5 * lines, title=title, nrows=lines, ncols=3, squeeze=False
        )
        for axes in panels.flat[count:]:
            axes.set_axis_off()
        for axes, number in zip(panels.flat, chosen, strict=False):
            self.draw(axes, number, size=8.5)
            busy = self.cycles[number].busy.sum()
            axes.set_title(f"cycle {number + 1}: {busy} multiply", color=INK, fontsize=9)
        return Picture(figure, f"{title} {'; '.join(map(self.told, chosen))}.")

    def draw(self, axes, number, size):
        """The cells; at their left, inputs in the order in which they come in; results below."""
        cycle = self.cycles[number]
        rows, columns = cycle.sums.shape
        for r, c in np.ndindex(rows, columns):
            draw_cell(axes, cycle, r, c, size)
        for (i, r), value in np.ndenumerate(self.x):
            turns = i + r - number  # until it comes in
            if turns > 0:
                write(axes, 0.2 - 0.5 * turns, r + 0.5, value, size)
        for (i, c), value in np.ndenumerate(self.product):
            since = number - (i + rows - 1 + c)  # it has left its column; the latest is on top
            if since >= 0:
                write(axes, c + 0.5, rows + 0.25 + 0.45 * since, value, size, weight="bold")
        margin = len(self.x) + rows - 1  # the inputs stand in a slanted queue, the results too
        axes.set(xlim=(-0.5 * margin - 0.05, columns + 0.1), ylim=(rows + 0.45 * margin, -0.1))
        axes.set(aspect="equal")
        axes.set_axis_off()

    def left_over(self, number):
        sums = self.cycles[number].sums[-1]
        return f"Bottom row of sums: {', '.join(f'{value:g}' for value in sums)}."

    def __repr__(self):
        return f"one pass of a systolic array, {plural(len(self), 'cycle')}"


def pulse(run: Run) -> Picture:
    """How many cells multiply in each cycle: the array fills, works, and drains."""
    rows, columns = run.array
    title = (
        f"{run.shape[0]} rows through {rows} × {columns} cells: {run.cycles:,} cycles, "
        f"{run.utilization:.0%} of the cells at work."
    )
    figure, axes = blank(height=2.6, title=title)
    axes.stairs(run.busy, np.arange(run.cycles + 1), fill=True, color=SKY)
    axes.axhline(rows * columns, color=INK, linewidth=1, linestyle=":")
    axes.set(xlim=(0, run.cycles), ylim=(0, 1.1 * rows * columns))
    axes.set(xlabel="cycles", ylabel="cells that multiply")
    loads = f"{run.loads_per_multiply:.3g} loads for each multiplication"
    return Picture(figure, f"{title} {plural(run.multiplications, 'multiplication')}, {loads}.")


def draw_cell(axes, cycle, r, c, size):
    """The product that a busy cell makes, over the sum it hands down; an idle one's weight."""
    busy, weight = cycle.busy[r, c], f"{cycle.weights[r, c]:g}"
    rectangle(axes, c + 0.04, r + 0.04, 0.92, 0.92, facecolor=SKY if busy else "none")
    if busy:
        write(axes, c + 0.5, r + 0.32, f"{cycle.inputs[r, c]:g}·{weight}", size, color=DARK)
        write(axes, c + 0.5, r + 0.7, cycle.sums[r, c], size, color=DARK, weight="bold")
    else:
        write(axes, c + 0.5, r + 0.5, f"·{weight}", size)


def write(axes, x, y, text, size, color=INK, **look):
    text = text if isinstance(text, str) else f"{text:g}"
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=color, **look)
