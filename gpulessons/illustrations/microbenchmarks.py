"""What others measured of a GPU's memory with kernels of two lines: published, so drawn open."""

from collections.abc import Mapping

from gpulessons.evidence import Figures, published
from gpulessons.plots.forms import log_lines, percent
from gpulessons.plots.picture import DASH_DOT, INK, VERMILLION, Picture
from gpulessons.plots.published import open_lines
from warplens.model.devices import named

LANES = 32
BESIDE = {"color": INK, "linestyle": DASH_DOT, "marker": "_"}  # what is no measurement


def by_warps(card: str = "A100", drawn: Mapping[float, float] | None = None) -> Picture:
    """GB/s that a card reads, by the warps on each multiprocessor, with one load of 8 bytes a
    thread; what Little's law allows, and a curve that somebody drew: {warps: GB/s}.
    """
    rows, gpu = published("bandwidth by occupancy", what="read", device=card), named(card)
    ((name, threads, rates, look),) = open_lines(rows, "threads", value=lambda row: row.value / 1e9)
    warps, most = [n / LANES for n in threads], gpu.dram_rate / 1e9
    of_one = 8e-9 * LANES * gpu.multiprocessors * gpu.boost / gpu.dram_latency
    asked = most / of_one
    law = [warps[0], asked, warps[-1]], [of_one * warps[0], most, most]
    lines = [red((name, warps, rates, look)), ("Little's law", *law, {**BESIDE, "marker": ""})]
    if drawn:
        lines.append(("your curve", [*drawn], [*drawn.values()], {"linestyle": ":", "marker": "x"}))
    share = percent(rates[warps.index(32)] / max(rates))
    title = (f"Little's law asks an {card} for {asked:.0f} warps on each multiprocessor; with 32 "
             f"it reads at {share} of its best rate.")
    words = f"published: {cited(rows)}\nwarps on each multiprocessor"
    return log_lines(lines, (words, "{:g}".format), ("reads", "{:,.0f} GB/s".format),
                     title=title, base=2)


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
