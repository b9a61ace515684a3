"""Pictures of occupancy: one multiprocessor's warp slots, and what a change would make of them."""

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.forms import rectangle, write
from gpulessons.plots.picture import INK, VERMILLION, Picture, blank, on
from warplens.model.devices import named
from warplens.model.occupancy import PARTITIONS, WARP, limits_of, occupancy

SHADES = "#56B4E9", "#BFE1F6", "#8CCBF0"  # of blocks, in turn
SIDE = 0.84  # of a slot, whose place is 1 wide
AXES = {"threads": "threads of a block", "registers": "registers of a thread",
        "shared": "shared memory of a block"}
WRITE = {"threads": units.count, "registers": units.count, "shared": units.size}


def occupancy_picture(threads=256, registers=32, shared=0, on="A100", along="threads") -> Picture:
    """A multiprocessor's warp slots with the blocks in them, over its occupancy along one of
    "threads" (of a block), "registers" (of a thread) and "shared" (bytes of a block).

    Made for sliders: live(occupancy_picture, threads=slider(…), …). Raises ValueError as
    warplens.model.occupancy.occupancy does.
    """
    asked = {"threads": threads, "registers": registers, "shared": shared}
    held = occupancy(**asked, on=on)
    title = f"{held.gpu}: not one block fits: {held.reason}."
    if held.blocks:
        blocks = f"{units.plural(held.blocks, 'block')} of {units.count(held.threads)} threads"
        title = (f"{held.gpu}: {blocks}, {held.warps} of {held.most_warps} warp slots "
                 f"({held.share:.0%}), limited by {held.limiter}.")
    figure, (slots, curve) = blank(7.6, 5.4, title, nrows=2, height_ratios=(1, 1.5))
    draw_slots(slots, held)
    places = steps(along, named(on))
    shares = [occupancy(**{**asked, along: place}, on=on).share for place in places]
    here, write_as = asked[along], WRITE[along]
    curve.plot(places, shares, drawstyle="steps-pre", color=INK, linewidth=1.4)
    curve.plot(here, held.share, "o", color=VERMILLION, markersize=9)
    curve.set_title(f"The dot: {write_as(here)}, {held.share:.0%}", loc="right", color=INK,
                    fontsize=10)
    curve.set(ylim=(-0.04, 1.08), xlim=(0, max(places[-1], here) * 1.02), ylabel="occupancy")
    curve.set_xlabel(f"{AXES[along]}, all else as it is")
    written(curve.yaxis, "{:.0%}".format)
    written(curve.xaxis, write_as)
    if along != "registers":
        curve.set_xticks(range(0, places[-1] + 1, 128 if along == "threads" else 2**15))
    rows = "; ".join(f"{name}, {words}" for name, words in held.rows())
    return Picture(figure, f"{title} For {held.launch}: {rows}. Occupancy here: {held.share:.0%}. "
                           f"Along {AXES[along]} it is {max(shares):.0%} at most.")


def steps(along, gpu):
    """The values to draw a curve through, as fine as occupancy can change between them."""
    limits = limits_of(gpu)
    first, step, most = {"threads": (1, WARP, 1024), "registers": (1, 1, 255),
                         "shared": (0, limits.shared_unit, limits.shared)}[along]
    return sorted({first, *range(step, most + 1, step)})


def draw_slots(axes, held):
    """A square for each warp slot, a row for each partition; a block's warps go round them.

    Where a block has no threads for all lanes of its last warp, that slot is hatched: taken, idle.
    """
    of_block = held.needs["warps"].takes
    for slot in range(held.most_warps):
        column, row = divmod(slot, PARTITIONS)
        top = row - SIDE / 2
        if slot < held.warps:
            block, warp = divmod(slot, of_block)
            lanes = min(held.threads - warp * WARP, WARP) / WARP
            shade = SHADES[block % len(SHADES)]
            rectangle(axes, column, top, SIDE * lanes, SIDE, facecolor=shade, linewidth=0)
            rectangle(axes, column + SIDE * lanes, top, SIDE * (1 - lanes), SIDE, edgecolor=shade,
                      hatch="////", linewidth=0)
            if not warp:
                write(axes, column + SIDE / 2, row, block + 1, fontsize=9,
                      color=on(shade) if lanes > 0.7 else INK)
        rectangle(axes, column, top, SIDE, SIDE)
    axes.set(xlim=(-0.2, held.most_warps / PARTITIONS), ylim=(PARTITIONS - 0.4, -0.6))
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    idle = ", idle lanes are hatched" * bool(held.blocks and held.threads % WARP)
    axes.set_xlabel(f"warp slots of one multiprocessor; a number begins each block{idle}")
