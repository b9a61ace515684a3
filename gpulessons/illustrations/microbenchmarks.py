"""What others measured of a GPU's memory with kernels of two lines: published, so drawn open."""

from collections.abc import Mapping
from math import gcd

from gpulessons import units
from gpulessons.evidence import Figures, published
from gpulessons.plots.forms import log_lines, percent
from gpulessons.plots.picture import DASH_DOT, INK, VERMILLION, Picture
from gpulessons.plots.published import open_lines
from warplens.model.devices import named

BANKS = LANES = 32
BESIDE = {"color": INK, "linestyle": DASH_DOT, "marker": "_"}  # what is no measurement


def strides(card: str = "A100", few: int = 15, many: int = 16) -> Picture:
    """The clocks that a warp's load from L1 takes, by its stride; how many lanes share a bank."""
    rows = published("strides", what="a load that hits L1", device=card, dtype="float32",
                     stride=(1, 2, 3, 4, 6, 8, 12, few, many, 32))
    clocks = {int(row.sizes["stride"]): row.value for row in rows}
    times = clocks[many] / clocks[few]
    faster = f"{units.ratio(times)} as fast" if times > 1 else "no faster"
    title = f"{few} numbers from lane to lane instead of {many}: an {card}'s load is {faster}."
    counted = "lanes of one bank (counted)", [*clocks], [gcd(n, BANKS) for n in clocks], BESIDE
    return log_lines([red(*open_lines(rows, "stride")), counted],
                     (f"published: {cited(rows)}\nnumbers from lane to lane", "{:.0f}".format),
                     ("clocks of a load from L1", "{:.3g}".format), title=title, base=2)


def in_flight(*cards: str) -> Picture:
    """How much of its DRAM's rate a card reads, by the bytes that its threads have in flight, as
    shares of what Little's law asks for: latency × rate. One load of 8 bytes a thread.

    cards: those whose bandwidth by occupancy and latency are published; unless given, four.
    """
    cards = cards or ("V100", "A100", "H100 PCIe", "L40")
    rows = published("bandwidth by occupancy", what="read", device=cards)
    lines = []
    for line in open_lines(rows, "threads"):
        card = line[0].removesuffix(" (published)")
        (wait,), gpu = published("latency", what="memory", device=card), named(card)
        asked = wait.value / (1e6 * wait.sizes["mhz"]) * gpu.dram_rate / gpu.multiprocessors
        name, threads, rates, look = line
        shares = [rate / gpu.dram_rate for rate in rates]
        lines.append((name, [8 * n / asked for n in threads], shares, look))
    ends = sorted(each for _, xs, *_ in lines for each in (xs[0], xs[-1]))
    law = "Little's law", [ends[0], 1, ends[-1]], [ends[0], 1, 1], {**BESIDE, "marker": ""}
    shares = [y / min(x, 1) for _, *points, _ in lines for x, y in zip(*points, strict=True)]
    who = f"An {cards[0]} reads" if len(cards) == 1 else f"{len(cards)} cards read"
    title = (f"{who} {percent(min(shares))} to {percent(max(shares))} of what Little's law and the "
             "DRAM allow.")
    x = f"{cited(rows)}\nbytes in flight, over latency × the sheet's rate".replace("; ", "\n")
    return log_lines([*lines, law], (x, percent), ("reads, over the sheet's rate", percent),
                     title=title, spoken="Little's law: equal shares up to 1, then level.")


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
