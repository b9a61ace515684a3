"""A launch in a picture: the grid's blocks, a block's warps, a warp's threads, and who has work."""

from gpulessons import units
from gpulessons.ops.common import WARP
from gpulessons.plots.picture import INK, VERMILLION, Picture, blank
from gpulessons.units import plural

MOST = 1024  # threads drawn
SHADES = "#56B4E9", "#9BD1F2"  # of warps, in turn
IDLE = 0.25  # how much ink a thread without a number gets
SIDE = 0.8  # of a row, whose place is 1 high
GAP = 0.6  # between blocks


def grid_picture(n: int = 150, block: int = 64, thread: int = 100) -> Picture:
    """The threads of `kernel[blocks, block]` for n numbers, a row for each warp, and how one of
    them finds its number.

    thread: counted through the whole grid; beyond its end, the last one is taken. Made for sliders:
    live(grid_picture, n=slider(…), block=[…], thread=slider(…)). Raises ValueError for counts that
    no launch has, and where there are more threads than can be told apart.
    """
    blocks = blocks_for(n, block)
    threads = blocks * block
    chosen = min(max(thread, 0), threads - 1)
    rows = warps(n, block)
    home = threads - n
    title = (
        f"{plural(blocks, 'block')} of {plural(block, 'thread')} for {plural(n, 'number')}: "
        f"{f'the guard sends {units.count(home)} home' if home else 'each thread has one'}."
    )
    figure, axes = blank(height=1.9 + 0.25 * len(rows) + 0.12 * blocks, title=title)
    for _, warp, first, lanes, working, row in rows:
        draw_warp(axes, warp, lanes, working, row)
        if first <= chosen < first + lanes:
            axes.barh(row, 1, left=chosen - first, height=SIDE, color=VERMILLION, edgecolor=INK,
                      linewidth=1.2)
    finish(axes, rows)
    sum_up = in_words(chosen, n, block)
    figure.supxlabel(sum_up, color=INK, fontsize=11, linespacing=1.5)
    return Picture(figure, f"{title} {' '.join(sum_up.split())}")


def blocks_for(n, block):
    """How many blocks so many numbers need; ValueError where no picture can be made of it."""
    if n < 1 or not 1 <= block <= 1024:
        raise ValueError(f"A launch needs a number at least and blocks of 1 to 1,024 threads, "
                         f"not n = {n} and blocks of {block}.")
    blocks = -(-n // block)
    if blocks * block > MOST:
        raise ValueError(f"{blocks * block:,} threads cannot be told apart in a picture: "
                         f"ask for {MOST:,} at most.")
    return blocks


def warps(n, block):
    """[(block, warp in it, first thread, lanes, lanes that work, row)]: a gap before each block."""
    found = []
    for number in range(blocks_for(n, block)):
        for warp, start in enumerate(range(0, block, WARP)):
            first, lanes = number * block + start, min(WARP, block - start)
            working = min(max(n - first, 0), lanes)
            found.append((number, warp, first, lanes, working, len(found) + GAP * number))
    return found


def draw_warp(axes, warp, lanes, working, row):
    """The lanes that work, then those that the guard sends home, with a line between neighbors."""
    axes.barh(row, working, color=SHADES[warp % 2], height=SIDE, linewidth=0)
    axes.barh(row, lanes - working, left=working, color=INK, alpha=IDLE, height=SIDE, linewidth=0)
    x = [value for place in range(lanes + 1) for value in (place, place, None)]
    y = [row - SIDE / 2, row + SIDE / 2, None] * (lanes + 1)  # one path for all lines of a row
    axes.plot(x, y, color=INK, linewidth=0.5, alpha=0.6)


def finish(axes, rows):
    """The names of blocks and warps on the left, the indices on the right, lanes above, a key."""
    from matplotlib.patches import Patch

    names = [f"block {block}, warp {warp}" if not warp else f"warp {warp}"
             for block, warp, *_ in rows]
    places = [row for *_, row in rows]
    axes.set_yticks(places, names)
    axes.set(xlim=(0, WARP), ylim=(places[-1] + 0.6, -0.6))
    axes.xaxis.tick_top()
    axes.set_xticks([lane + 0.5 for lane in (0, 8, 16, 24, 31)], ["lane 0", "8", "16", "24", "31"])
    axes.tick_params(left=False, top=False)
    axes.spines[:].set_visible(False)
    for _, _, first, lanes, _, row in rows:
        axes.text(WARP + 0.5, row, f"i = {first}" + f" … {first + lanes - 1}" * (lanes > 1),
                  va="center", color=INK, fontsize=10)
    key = [Patch(color=SHADES[0], label="has a number (shades: warps)"),
           Patch(color=INK, alpha=IDLE, label="i ≥ n: sent home"),
           Patch(color=VERMILLION, label="the chosen thread")]
    axes.legend(handles=key, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False,
                labelcolor=INK, fontsize=10, handlelength=1.2, columnspacing=1.4)


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
