"""A launch in a picture: the grid's blocks, a block's warps, a warp's threads, and who has work."""

from typing import NamedTuple

from gpulessons import units
from gpulessons.ops.common import WARP
from gpulessons.plots.forms import key, write
from gpulessons.plots.picture import INK, VERMILLION, Picture, blank
from gpulessons.units import plural

SHADES = "#56B4E9", "#9BD1F2"  # of warps, in turn
IDLE = 0.25  # how much ink a thread without a number gets
SIDE = 0.8  # of a row, whose place is 1 high
GAP = 0.6  # between blocks


class Warp(NamedTuple):
    block: int
    number: int  # in its block
    first: int  # thread of the grid
    lanes: int
    working: int  # lanes that have a number
    row: float  # where it is drawn: there is a gap before each block


def grid_picture(n: int = 150, block: int = 64, thread: int = 100) -> Picture:
    """The threads of `kernel[blocks, block]` for n numbers, a row for each warp, and how one of
    them finds its number.

    thread: counted through the whole grid; beyond its end, the last one is taken.
    """
    rows = warps(n, block)
    blocks = rows[-1].block + 1
    chosen = min(thread, blocks * block - 1)
    home = blocks * block - n
    title = (f"{plural(blocks, 'block')} of {plural(block, 'thread')} for {plural(n, 'number')}: "
             f"{f'the guard sends {units.count(home)} home' if home else 'each thread has one'}.")
    figure, axes = blank(height=1.9 + 0.25 * len(rows) + 0.12 * blocks, title=title)
    for warp in rows:
        here = warp.first <= chosen < warp.first + warp.lanes
        around = "lit" + " block" * (warp.block == chosen // block) + " warp" * here
        draw_warp(axes, warp, around)
        if here:
            axes.barh(warp.row, 1, left=chosen - warp.first, height=SIDE, color=VERMILLION,
                      edgecolor=INK, linewidth=1.2, gid=f"{around} thread")
    axes.set_yticks([warp.row for warp in rows],
                    [f"block {warp.block}, " * (not warp.number) + f"warp {warp.number}"
                     for warp in rows])
    axes.set(xlim=(0, WARP), ylim=(rows[-1].row + 0.6, -0.6))
    axes.xaxis.tick_top()
    axes.set_xticks([lane + 0.5 for lane in (0, 8, 16, 24, 31)], ["lane 0", "8", "16", "24", "31"])
    axes.tick_params(left=False, top=False)
    axes.spines[:].set_visible(False)
    told = in_words(chosen, n, block)
    axes.set_xlabel(told, fontsize=11, linespacing=1.5)
    key(figure, {"has a number (shades: warps)": {"color": SHADES[0]},
                 "i ≥ n: sent home": {"color": INK, "alpha": IDLE},
                 "the chosen thread": {"color": VERMILLION}})
    words = {"the chosen thread": "thread", "its warp": "warp", "its block": "block"}
    return Picture(figure, f"{title} {' '.join(told.split())}",
                   words | {"those sent home": "home"} if home else words)


def warps(n: int, block: int) -> list[Warp]:
    """The warps of a grid for n numbers."""
    threads = -(-n // block) * block
    found = []
    for start in range(0, threads, block):
        for warp, first in enumerate(range(start, start + block, WARP)):
            lanes = min(WARP, start + block - first)
            working = min(max(n - first, 0), lanes)
            row = len(found) + GAP * (start // block)
            found.append(Warp(start // block, warp, first, lanes, working, row))
    return found


def draw_warp(axes, warp, around):
    """The lanes that work, then those that the guard sends home, with a line between neighbors.

    around: what the warp is part of, for the words that light it."""
    _, number, first, lanes, working, row = warp
    axes.barh(row, working, color=SHADES[number % 2], height=SIDE, linewidth=0, gid=around)
    axes.barh(row, lanes - working, left=working, color=INK, alpha=IDLE, height=SIDE, linewidth=0,
              gid=f"{around} home")
    x = [value for place in range(lanes + 1) for value in (place, place, None)]
    y = [row - SIDE / 2, row + SIDE / 2, None] * (lanes + 1)  # one path for all lines of a row
    axes.plot(x, y, color=INK, linewidth=0.5, alpha=0.6)
    last = f" … {first + lanes - 1}" * (lanes > 1)
    write(axes, WARP + 0.5, row, f"i = {first}{last}", ha="left")


def in_words(chosen, n, block):
    """The index of the chosen thread, term by term; where it stands; what the guard says to it."""
    number, place = divmod(chosen, block)
    warp, lane = divmod(place, WARP)
    takes = f"{chosen} < {n}: it takes element {chosen}"
    left = block % WARP
    return (
        f"blockIdx.x × blockDim.x + threadIdx.x = {number} × {block} + {place} = {chosen} = i\n"
        f"block {number}, warp {warp}, lane {lane}.  "
        f"{takes if chosen < n else f'{chosen} ≥ {n}: the guard sends it home'}."
        + f"\nThe last warp of a block has {plural(left, 'thread')} of {WARP}." * bool(left)
    )
