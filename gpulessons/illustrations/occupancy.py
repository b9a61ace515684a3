"""A picture of occupancy: what a multiprocessor holds, and what a change would make of it."""

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.picture import INK, VERMILLION, Picture, blank
from warplens.model.devices import named
from warplens.model.occupancy import WARP, limits_of, occupancy

AXES = {"threads": "threads of a block", "registers": "registers of a thread",
        "shared": "shared memory of a block"}
WRITE = {"threads": units.count, "registers": units.count, "shared": units.size}


def occupancy_picture(threads=256, registers=32, shared=0, on="A100", along="threads") -> Picture:
    """A multiprocessor's occupancy along one of "threads" (of a block), "registers" (of a thread)
    and "shared" (bytes of a block).

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
    figure, curve = blank(7.6, 3.6, title)
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
