"""A picture of waves: which blocks run when on a small GPU, and who waits in the last wave."""

from gpulessons.plots.forms import key, name_rows
from gpulessons.plots.picture import BLUE, ORANGE, Picture, blank
from gpulessons.units import plural

MULTIPROCESSORS = 8


def placed(blocks: int, resident: int) -> list[tuple[int, int, float, float]]:
    """(multiprocessor, place, start, stop) of each block, in waves' time.

    Blocks are dealt out in turn, `resident` at a time to each multiprocessor. They are bound by its
    throughput: those that run together share it, so a wave that is half full takes half as long.
    """
    runs = []
    for m in range(MULTIPROCESSORS):
        left, start = len(range(m, blocks, MULTIPROCESSORS)), 0.0
        while left:
            together = min(left, resident)
            stop = start + together / resident
            runs += [(m, place, start, stop) for place in range(together)]
            left, start = left - together, stop
    return runs


def waves(blocks: int = 9, resident: int = 1) -> Picture:
    """A row for each multiprocessor, a bar for each block; the blocks of the last to end in orange.

    resident: how many blocks a multiprocessor holds at once.
    """
    runs = placed(blocks, resident)
    end = max(stop for *_, stop in runs)
    busy = blocks / (MULTIPROCESSORS * resident) / end
    title = (
        f"{plural(blocks, 'block')}, {resident} at a time on each of {MULTIPROCESSORS} "
        f"multiprocessors: the time of {end:g} wave{'s' * (end != 1)}, {busy:.0%} of it used."
    )
    figure, axes = blank(width=7.6, height=3.6, title=title)
    high = 0.84 / resident
    for m, place, start, stop in runs:
        axes.barh(m - 0.42 + high * (place + 0.5), stop - start - 0.012, left=start,
                  height=0.84 * high, color=ORANGE if stop == end else BLUE)
    axes.set_xlim(0, max(end, 1) * 1.02)
    name_rows(axes, map(str, range(MULTIPROCESSORS)))
    axes.set(xlabel="time, in waves", ylabel="multiprocessor")
    key(figure, {"blocks": {"color": BLUE}, "blocks that end last": {"color": ORANGE}})
    last = sum(stop == end for *_, stop in runs)
    return Picture(figure, f"{title} {last} of them end{'s' * (last == 1)} last. Schematic.")
