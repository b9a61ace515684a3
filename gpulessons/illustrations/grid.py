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
    for row in rows:
        draw_warp(axes, row, block)
    mark(axes, rows, chosen, block)
    finish(axes, rows, block)
    sum_up = f"{arithmetic(chosen, block)}\n{verdict(chosen, n, block)}{ragged(block)}"
    figure.supxlabel(sum_up, color=INK, fontsize=11, linespacing=1.5)
    spoken = sum_up.replace("\n", " ").replace("  ", " ")
    return Picture(figure, f"{title} {spoken}")


def blocks_for(n, block):
    """How many blocks so many numbers need; ValueError where no picture can be made of it."""
    if n < 1 or not 1 <= block <= 1024:
        raise ValueError(f"A launch needs a number at least and blocks of 1 to 1,024 threads, "
                         f"not n = {n} and blocks of {block}.")  # fmt: skip
    blocks = -(-n // block)
    if blocks * block > MOST:
        raise ValueError(f"{blocks * block:,} threads cannot be told apart in a picture: "
                         f"ask for {MOST:,} at most.")  # fmt: skip
    return blocks


def warps(n, block):
    """A dict for each warp: its block, its number there, its first thread, its lanes, how many of
    them work, and its row, counted downwards with a gap before each block.
    """
    found = []
    for number in range(blocks_for(n, block)):
        for warp, start in enumerate(range(0, block, WARP)):
            first, lanes = number * block + start, min(WARP, block - start)
            row = len(found) + GAP * number
            found.append({"block": number, "warp": warp, "first": first, "lanes": lanes,
                          "working": min(max(n - first, 0), lanes), "row": row})  # fmt: skip
    return found


def draw_warp(axes, row, block):
    """The lanes that work, then those that the guard sends home, with a line between neighbors."""
    shade, working = SHADES[row["warp"] % 2], row["working"]
    look = {"height": SIDE, "linewidth": 0, "align": "center"}
    if working:
        axes.barh(row["row"], working, color=shade, **look)
    if working < row["lanes"]:
        axes.barh(row["row"], row["lanes"] - working, left=working, color=INK, alpha=IDLE, **look)
    if not row["warp"]:  # the lines of a block's whole rows, as one path
        whole = row["row"] + (block // WARP or 1) - 1 + SIDE / 2
        lanes = range(min(WARP, block) + 1)
        grid_lines(axes, lanes, row["row"] - SIDE / 2, whole)
    elif row["lanes"] < WARP:
        grid_lines(axes, range(row["lanes"] + 1), row["row"] - SIDE / 2, row["row"] + SIDE / 2)


def grid_lines(axes, places, top, bottom):
    x = [value for place in places for value in (place, place, None)]
    y = [value for _ in places for value in (top, bottom, None)]
    axes.plot(x, y, color=INK, linewidth=0.5, alpha=0.6)


def mark(axes, rows, chosen, block):
    """A filled square on the chosen thread."""
    row = next(r for r in rows if r["first"] <= chosen < r["first"] + r["lanes"])
    axes.barh(row["row"], 1, left=chosen - row["first"], height=SIDE, color=VERMILLION,
              edgecolor=INK, linewidth=1.2)  # fmt: skip


def finish(axes, rows, block):
    """The names of blocks and warps on the left, the indices on the right, lanes above, a key."""
    from matplotlib.patches import Patch

    names = [f"block {r['block']}, warp {r['warp']}" if not r["warp"] else f"warp {r['warp']}"
             for r in rows]  # fmt: skip
    axes.set_yticks([r["row"] for r in rows], names)
    axes.set(xlim=(0, WARP), ylim=(rows[-1]["row"] + 0.6, -0.6))
    axes.tick_params(left=False, bottom=False)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xticks([lane + 0.5 for lane in (0, 8, 16, 24, 31)], ["lane 0", "8", "16", "24", "31"])
    axes.tick_params(top=False)
    for side in axes.spines.values():
        side.set_visible(False)
    right = axes.secondary_yaxis("right")
    right.set_yticks([r["row"] for r in rows], [span(r) for r in rows])
    right.tick_params(colors=INK, labelsize=10, right=False)
    right.spines["right"].set_visible(False)
    key = [Patch(color=SHADES[0], label="has a number (shades: warps)"),
           Patch(color=INK, alpha=IDLE, label="i ≥ n: sent home"),
           Patch(color=VERMILLION, label="the chosen thread")]  # fmt: skip
    axes.legend(handles=key, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False,
                labelcolor=INK, fontsize=10, handlelength=1.2, columnspacing=1.4)  # fmt: skip


def span(row):
    first, last = row["first"], row["first"] + row["lanes"] - 1
    return f"i = {first}" if first == last else f"i = {first} … {last}"


def arithmetic(chosen, block):
    """The index of a thread, term by term."""
    number, place = divmod(chosen, block)
    return (f"blockIdx.x × blockDim.x + threadIdx.x = {number} × {block} + {place} = {chosen} = i"
            )  # fmt: skip


def verdict(chosen, n, block):
    """Where the chosen thread stands, and what the guard says to it."""
    warp, lane = divmod(chosen % block, WARP)
    where = f"block {chosen // block}, warp {warp}, lane {lane}"
    told = f"{chosen} < {n}: it takes element {chosen}"
    return f"{where}.  {told if chosen < n else f'{chosen} ≥ {n}: the guard sends it home'}."


def ragged(block):
    """What a block that is no whole number of warps costs."""
    left = block % WARP
    return f"\nThe last warp of a block has {plural(left, 'thread')} of {WARP}." if left else ""
