"""Pictures of the matrix product's tiles: what a block fetches, and what one of its threads does.

For each multiply-add a tile of BM × BN results fetches 1/BM + 1/BN numbers from global memory, and
a thread with TM × TN of them 1/TM + 1/TN from shared memory: a number of x serves a row of the
tile, a number of y a column of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gpulessons import units
from gpulessons.ops.matmul import BK, BM, BM_1D, BN, BN_1D, TM, TN, T
from gpulessons.plots.picture import INK, ORANGE, SKY, Picture, blank

NAIVE = "total += x[i, k] * y[k, j]"
GAP = 0.09  # between the tiles, whose results are 1 wide
READ, WRITTEN = SKY, ORANGE  # the microscope's colors


@dataclass(frozen=True)
class Rung:
    """A kernel of the ladder: its tile, the results of one of its threads, the changed line."""

    name: str
    tile: tuple[int, int, int]  # BM, BN, BK: rows and columns of results, and how deep
    rows: Sequence[int]  # of one thread's results, in the tile
    columns: Sequence[int]
    line: str  # its multiply-add, as in the kernel
    before: str  # that of the rung below
    step: int  # between the lines drawn over the results

    @property
    def fetches(self) -> tuple[Fraction, Fraction]:
        """From global memory and from shared memory, for each multiply-add."""
        rows, columns, _ = self.tile
        far = Fraction(1, rows) + Fraction(1, columns)
        return far, Fraction(1, len(self.rows)) + Fraction(1, len(self.columns))


def apart(first, count, step=1):
    return range(first, first + count * step, step)


ONE_EACH, COLUMN, SQUARE = (
    "total += xs[ty, k] * ys[k, tx]",
    "totals[r] += xs[row + r, k] * b[k]",
    "totals[r, s] += a[r, k] * b[k, s]",
)
RUNGS = {
    rung.name: rung
    for rung in (
        Rung("shared tile", (T, T, T), apart(9, 1), apart(6, 1), ONE_EACH, NAIVE, 1),
        Rung("1-D register tile", (BM_1D, BN_1D, BK), apart(24, TM), apart(20, 1), COLUMN,
             ONE_EACH, TM),
        Rung("2-D register tile", (BM, BN, BK), apart(5, TM, 16), apart(4, TN, 16), SQUARE,
             COLUMN, 16),
    )
}  # fmt: skip
NAIVE_FETCHES = Fraction(2), Fraction(0)


def tile(name: str) -> Picture:
    """One rung: its tiles, what a thread reads and writes of them, its new line and its fetches.

    name: "shared tile", "1-D register tile" or "2-D register tile"; ValueError for another.
    """
    if name not in RUNGS:
        raise ValueError(f"There is no picture of {name!r}: choose {', '.join(RUNGS)}.")
    rung = RUNGS[name]
    far, near = rung.fetches
    named = rung.name[0].upper() + rung.name[1:]
    title = f"{named}: for each multiply-add {far} fetch from global memory, {near} from shared."
    figure, (tiles, words) = blank(7.6, 3.7, title, ncols=2, width_ratios=(1.15, 1))
    for axes in (tiles, words):
        axes.set_axis_off()
    draw_tiles(tiles, rung)
    write_words(words, rung)
    rows, columns, depth = rung.tile
    alt = (
        f"{title} A block fetches {rows} × {depth} numbers of x and {depth} × {columns} of y for "
        f"{rows} × {columns} results; one thread has {results(rung)}. "
        f"Its line was {rung.before}, and is now {rung.line}."
    )
    return Picture(figure, alt)


def mma() -> Picture:
    """One instruction of the tensor cores: its two small matrices, its sums, one of them filled."""
    rows, columns, depth = 16, 8, 8  # as in ops/mma.py
    title = (
        f"One instruction of a warp: {rows} × {columns} sums, "
        f"{units.count(rows * columns * depth)} multiply-adds."
    )
    figure, axes = blank(5.6, 3.4, title)
    axes.set_axis_off()
    axes.set(xlim=(-18, 16), ylim=(-0.5, rows + depth + 1.5), aspect="equal")
    places = {"x": (-depth - 1, 0, depth, rows), "y": (0, rows + 1, columns, depth),
              "sums": (0, 0, columns, rows)}  # fmt: skip
    for x, y, wide, tall in places.values():
        outline(axes, x, y, wide, tall)
    fill(axes, -depth - 1, 10, depth, 1, READ)
    fill(axes, 5, rows + 1, 1, depth, READ)
    fill(axes, 5, 10, 1, 1, WRITTEN)
    axes.text(-depth - 1.5, 8, f"x: {rows} × {depth}", ha="right", va="center", color=INK)
    axes.text(columns + 0.5, rows + 5, f"y: {depth} × {columns}", va="center", color=INK)
    axes.text(columns + 0.5, 8, "sums", va="center", color=INK)
    alt = (
        f"{title} A row of x, {depth} numbers, and a column of y go into each sum. "
        f"A number of x serves {columns} of the multiply-adds, one of y {rows}."
    )
    return Picture(figure, alt)


def results(rung):
    """A thread's share in words."""
    rows, columns = len(rung.rows), len(rung.columns)
    if rows * columns == 1:
        return "1 result"
    return f"{rows} × {columns} results" if columns > 1 else f"a column of {rows} results"


def draw_tiles(axes, rung):
    """y's tile above the results, x's at their left: what a thread reads and what it adds to."""
    rows, columns, depth = rung.tile
    wide, tall = depth / columns, depth / rows
    left, top = -GAP - wide, 1 + GAP
    outline(axes, 0, 0, 1, 1)
    outline(axes, left, 0, wide, 1)
    outline(axes, 0, top, 1, tall)
    cuts = [at / rows for at in range(rung.step, rows, rung.step) for _ in range(3)]
    ends = [0, 1, math.nan] * (len(cuts) // 3)  # one path for all the lines of a direction
    axes.plot(ends, cuts, color=INK, linewidth=0.4)
    axes.plot(cuts, ends, color=INK, linewidth=0.4)
    thick = max(1, rows // 64)  # single rows of a large tile, drawn so that they can be seen
    for r in rung.rows:
        fill(axes, left, 1 - (r + thick) / rows, wide, thick / rows, READ)
    for c in rung.columns:
        fill(axes, c / columns, top, thick / columns, tall, READ)
    for r in rung.rows:
        for c in rung.columns:
            fill(axes, c / columns, 1 - (r + thick) / rows, thick / columns, thick / rows, WRITTEN)
    axes.text(left - 0.04, 0.5, f"x: {rows} × {depth}", ha="right", va="center", color=INK)
    axes.text(-0.04, top + tall / 2, f"y: {depth} × {columns}", ha="right", va="center", color=INK)
    every = f",\na line every {rung.step}" if rung.step > 1 else ""
    axes.text(0.5, -0.04, f"a block's {rows} × {columns} results{every}", ha="center", va="top",
              color=INK)  # fmt: skip
    axes.set(xlim=(left - 0.55, 1.02), ylim=(-0.2, top + tall + 0.02))
    axes.set_aspect("equal")


def outline(axes, x, y, width, height):
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=INK, linewidth=1))


def fill(axes, x, y, width, height, color):
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, height, facecolor=color, linewidth=0, zorder=3))


def write_words(axes, rung):
    """The line that changed, and the fetches of this rung beside those of the one below."""
    below = next((r.fetches for r in RUNGS.values() if r.line == rung.before), NAIVE_FETCHES)
    rows, columns = len(rung.rows), len(rung.columns)
    said = [
        ("The line that changes", {"weight": "bold"}),
        (f"was  {rung.before}", {"family": "monospace", "fontsize": 9}),
        (f"now  {rung.line}", {"family": "monospace", "fontsize": 9}),
        ("Fetches for each multiply-add", {"weight": "bold"}),
        (f"from global memory  {below[0]} → {rung.fetches[0]}", {}),
        (f"from shared memory  {below[1]} → {rung.fetches[1]}", {}),
        ("One thread, filled", {"weight": "bold"}),
        (f"reads {rows} of x and {columns} of y for each k,", {}),
        (f"adds to {results(rung)}", {}),
    ]
    axes.set(xlim=(0, 1), ylim=(0, 1))
    at = 0.98
    for text, look in said:
        at -= 0.05 if look.get("weight") and at < 0.9 else 0
        axes.text(0, at, text, va="top", color=INK, **{"fontsize": 10, **look})
        at -= 0.095
    for x, name, color in ((0, "read", READ), (0.3, "added to", WRITTEN)):
        axes.plot(x + 0.02, 0.02, "s", color=color, markersize=8, clip_on=False)
        axes.text(x + 0.07, 0.02, name, va="center", color=INK, fontsize=10)
