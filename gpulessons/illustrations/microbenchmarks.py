"""What others measured of a GPU's memory with kernels of two lines: published, so drawn open."""

from math import gcd

from gpulessons import units
from gpulessons.evidence import Figures, published
from gpulessons.plots.forms import log_lines, percent
from gpulessons.plots.picture import DASH_DOT, INK, VERMILLION, Picture
from gpulessons.plots.published import open_lines
from warplens.model.devices import named

WARP = BANKS = 32
BESIDE = {"color": INK, "linestyle": DASH_DOT, "marker": "_"}  # what is no measurement


def strides(card: str = "A100", few: int = 15, many: int = 16) -> Picture:
    """The clocks that a warp's load from L1 takes, by its stride; how many lanes share a bank."""
    rows = published("strides", what="a load that hits L1", device=card)
    clocks = {int(row.sizes["stride"]): row.value for row in rows}
    times = clocks[many] / clocks[few]
    faster = f"{units.ratio(times)} as fast" if times > 1 else "no faster"
    title = f"{few} numbers from lane to lane instead of {many}: an {card}'s load is {faster}."
    counted = "lanes of one bank (counted)", [*clocks], [gcd(n, BANKS) for n in clocks], BESIDE
    return log_lines([red(*open_lines(rows, "stride")), counted],
                     (f"published: {cited(rows)}\nnumbers from lane to lane", "{:.0f}".format),
                     ("clocks of a load from L1", "{:.3g}".format), title=title, base=2)


def by_occupancy() -> Picture:
    """The share of its best rate at which a card reads, by the share of its threads that are there.

    One load of 8 bytes a thread. The title has who comes nearest with half of them, and who least.
    """
    rows = published("bandwidth by occupancy", what="read", device=("A100", "H200", "A40", "L40"))
    best = {row.device: max(each.value for each in rows if each.device == row.device)
            for row in rows}
    halves = {row.device: row for row in rows if row.sizes["occupancy"] <= 50}  # the last of each
    ranked = sorted(halves.values(), key=lambda row: row.value / best[row.device])
    least, most = ((f"{row.sizes['occupancy']:.0f}%", f"an {row.device}",
                    percent(row.value / best[row.device])) for row in (ranked[0], ranked[-1]))
    title = ("With {} of its threads {} reads at {} of its best rate; ".format(*least)
             + "with {}, {} at {}.".format(*most))
    lines = open_lines(rows, "occupancy", value=lambda row: row.value / best[row.device])
    return log_lines(lines, (f"published: {cited(rows)}\nthreads there are, of all that fit",
                             "{:.0f}%".format),
                     ("share of the best rate", percent), title=title, base=2)


def in_flight(card: str = "A100") -> Picture:
    """What a card reads in a second, by its warps, beside what Little's law and DRAM allow."""
    rows, gpu = published("bandwidth by occupancy", what="read", device=card), named(card)
    each = 8 * WARP * gpu.multiprocessors / (gpu.dram_latency / gpu.boost)  # bytes/s of a warp
    warps = [row.sizes["threads"] / WARP for row in rows]
    allowed = [min(each * n, gpu.dram_rate) for n in warps]
    shares = [row.value / most for row, most in zip(rows, allowed, strict=True)]
    title = (f"An {card} reads {percent(min(shares))} to {percent(max(shares))} of what Little's "
             "law and its DRAM allow.")
    name, _, rates, look = red(*open_lines(rows, "threads"))
    return log_lines([(name, warps, rates, look), ("allowed (modelled)", warps, allowed, BESIDE)],
                     (f"published: {cited(rows)}\nwarps of a multiprocessor, 256 bytes in flight "
                      "for each", "{:.0f}".format),
                     ("bytes read in a second", lambda rate: units.rate(rate, "B/s")),
                     title=title, ticks=warps)


def red(line: tuple) -> tuple:
    """A line in a GPU's color."""
    *points, look = line
    return *points, {**look, "color": VERMILLION}


def cited(rows: Figures) -> str:
    """Who measured, and when, with all cards of one year."""
    cards: dict[str, dict[str, None]] = {}
    for row in rows:
        cards.setdefault(row.citation.partition(", ")[2], {})[row.device] = None
    return "; ".join(f"{', '.join(names)}, {when}" for when, names in cards.items())
