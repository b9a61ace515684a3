"""Pictures for the puzzles' second hints: which thread takes what, drawn small.

A block has few threads here, so that a picture holds several. A color is a thread, or a block; a
pale dashed cell is a thread with nothing to do, or a place where there is nothing.
"""

from gpulessons.plots.boxes import arrow, canvas
from gpulessons.plots.picture import BLUE, GREEN, INK, ORANGE, PURPLE, Picture

COLORS = (ORANGE, BLUE, GREEN, PURPLE)
TINT = 0.35  # so that words in the page's ink stand out on every color


def map_1d() -> Picture:
    """Three blocks of four threads over ten elements."""
    title = "Block 1, width 4, thread 2: it takes element 1 × 4 + 2 = 6."
    figure, axes = sheet(title, width=13.5, height=2.4)
    for i in range(12):
        block, thread = divmod(i, 4)
        color = COLORS[block] if i < 10 else None
        cell(axes, i, 1.4, thread, color, strong=i == 6)
        if i < 10:
            cell(axes, i, 0, i, color, strong=i == 6)
            arrow(axes, (i + 0.5, 1.4), (i + 0.5, 1))
    label(axes, 12.2, 1.9, "threads")
    label(axes, 10.2, 0.5, "elements")
    alt = f"{title} Ten elements and three such blocks: the last two threads have none."
    return Picture(figure, alt)


def map_2d() -> Picture:
    """Four blocks of 4 × 2 threads over a picture of 3 × 7 pixels."""
    title = "Thread (5, 2) of the grid takes row 2, column 5: x comes first."
    figure, axes = sheet(title, width=10.5, height=4.6)
    for row in range(4):
        for column in range(8):
            there = row < 3 and column < 7
            block = 2 * (row // 2) + column // 4
            words = f"{column},{row}" if there else ""
            cell(axes, column, 3 - row, words, COLORS[block] if there else None,
                 strong=(column, row) == (5, 2))  # fmt: skip
    label(axes, 0, 4.3, "x: columns →")
    label(axes, 8.2, 2.5, "y: rows ↓")
    alt = f"{title} Four blocks cover 3 rows of 7 columns; beyond them threads have no pixel."
    return Picture(figure, alt)


def broadcast() -> Picture:
    """A table of 3 × 5 with its margins."""
    title = "Row 1, column 3: it reads down[1] and across[3]."
    figure, axes = sheet(title, width=9, height=4.8)
    for column in range(5):
        cell(axes, 2 + column, 3.5, column, BLUE, strong=column == 3)
    for row in range(3):
        cell(axes, 0.5, 2 - row, row, ORANGE, strong=row == 1)
        for column in range(5):
            cell(axes, 2 + column, 2 - row, "", GREEN if (row, column) == (1, 3) else None,
                 strong=(row, column) == (1, 3))  # fmt: skip
    arrow(axes, (1.6, 1.5), (4.9, 1.5))
    arrow(axes, (5.5, 3.4), (5.5, 2.1))
    label(axes, 7.2, 4, "across")
    label(axes, 0.3, 3.3, "down")
    alt = f"{title} Every row reads across again, every column reads down again."
    return Picture(figure, alt)


def grid_stride() -> Picture:
    """Four threads over ten elements."""
    title = "Four threads, ten elements: thread 1 takes 1, then 5, then 9."
    figure, axes = sheet(title, width=12, height=2.3)
    for i in range(10):
        cell(axes, i, 0, i, COLORS[i % 4], strong=i % 4 == 1)
    for i in (1, 5):
        arrow(axes, (i + 0.5, 1.1), (i + 4.5, 1.1), bend=-0.25)
    label(axes, 10.2, 0.5, "elements")
    alt = f"{title} Each goes on by as many as there are threads, until there is no such element."
    return Picture(figure, alt)


def shift() -> Picture:
    """Six elements, each moved one to the left."""
    title = "Thread 2 reads x[3] and writes out[2]. The last finds no x[6]."
    figure, axes = sheet(title, width=8.5, height=2.8)
    for i in range(6):
        cell(axes, i, 1.6, f"x{i}", COLORS[i % 4])
        cell(axes, i, 0, f"x{i + 1}" if i < 5 else 0, COLORS[(i + 1) % 4] if i < 5 else None,
             strong=i == 2)  # fmt: skip
        if i:
            arrow(axes, (i + 0.5, 1.6), (i - 0.5, 1.05))
    label(axes, 6.2, 2.1, "x")
    label(axes, 6.2, 0.5, "out")
    return Picture(figure, f"{title} In out there stand x1 to x5, then 0.")


def shared_window() -> Picture:
    """A block of four in the middle: its own numbers, and one on either side."""
    title = "Four threads share six numbers: their own, and one on either side."
    figure, axes = sheet(title, width=12.5, height=4.1)
    for i in range(10):
        cell(axes, i, 2.9, f"x{i}", COLORS[i // 4], strong=i in (3, 8))
    for i in range(3, 9):
        cell(axes, i, 1.4, f"x{i}", COLORS[i // 4], strong=i in (3, 8))
        arrow(axes, (i + 0.5, 2.9), (i + 0.5, 2.4))
    for t in range(4):
        cell(axes, 4 + t, 0, t, COLORS[1])
    for n in (3, 4, 5):
        arrow(axes, (n + 0.5, 1.4), (4.5, 1))
    label(axes, 10.2, 3.4, "x")
    label(axes, 9.2, 1.9, "part")
    label(axes, 8.2, 0.5, "threads")
    alt = (
        f"{title} Thread 0 fetches x3 too, the last of the block before; thread 3 fetches x8, the "
        "first of the block behind. Only then may thread 0 add x3, x4 and x5."
    )
    return Picture(figure, alt)


# -- Small parts.


def sheet(title, width, height):
    """(figure, axes) of so many cells across and up, a cell being square."""
    inches = max(5.6, 0.46 * width), 0.46 * height + 0.5
    figure, axes = canvas((-0.1, width), (-0.1, height), inches[1], title, width=inches[0])
    axes.set(aspect="equal", anchor="W")
    return figure, axes


def cell(axes, x, y, words, color=None, strong=False):
    """A square with a word in it; without a color, an empty place."""
    from matplotlib.patches import Rectangle

    look = {"edgecolor": INK, "linewidth": 2.2 if strong else 0.8}
    fill = (color, TINT) if color else "none"
    dashes = "-" if color else (0, (2, 2))
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=fill, linestyle=dashes, **look))
    axes.text(x + 0.5, y + 0.5, words, ha="center", va="center", fontsize=9, color=INK)


def label(axes, x, y, words):
    axes.text(x, y, words, va="center", fontsize=10, color=INK)
