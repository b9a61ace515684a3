"""The ladder of a matrix product: each rung's share of the library's speed on the same machine.

The rungs are published, open in ink, each card with a mark of its own; modelled for one of these
cards, of the same kernels, hatched and with an interval; and bounded by the load path.
"""

from fractions import Fraction
from typing import Any

from gpulessons.evidence import published
from gpulessons.measure.results import Comparison
from gpulessons.plots.axes import log_axes
from gpulessons.plots.forms import dots, key, listed, name_rows, percent
from gpulessons.plots.picture import COLORS, HATCH, INK, Picture, blank
from warplens.model.published import judged

CARD = "RTX A6000"  # with every rung published, and modelled
NAMES = {"RTX A6000": ("GMEM Coalescing", "SMEM Caching", "2D Blocktiling", "Vectorized Mem Access",
                       "Warptiling", "cuBLAS"),
         "A100 40 GB": ("01_Baseline", "02_BlockTiling", "03_ThreadTiling", "04b_VecGmemSmem", "",
                        "cuBLAS"),
         "RTX 6000 Ada": ("01_Baseline", "02_BlockTiling", "03_ThreadTiling", "04b_VecGmemSmem", "",
                          "cuBLAS"),
         # v5 brought warp tiles (54.5 %), v6a and v6b wide loads besides
         "RTX 4070 Ti SUPER": ("v1", "v2", "v4", "", "v6b", "cuBLAS")}  # fmt: skip
RUNGS = "coalesced", "shared tile", "2-D register tile", "vectorized loads", "warp tile", "cuBLAS"
MODELLED = {"product, coalesced": "coalesced", "product, shared tile": "shared tile",
            "product, 8 × 8 to a thread": "2-D register tile",
            "product, vectorized": "vectorized loads"}  # fmt: skip
RINGS = dict(zip(NAMES, "osDv", strict=True))


def published_on(card: str = CARD) -> dict[str, Any]:
    """{rung: the published figure of a kernel of that idea on this card}, 4,096², float32."""
    rows = published("matmul", device=card, dtype="float32", n=4096)
    figures = {word: row for row in rows for word in (row.what, row.what.split()[0])}
    return {rung: figures[theirs] for rung, theirs in zip(RUNGS, NAMES[card], strict=True)
            if theirs}


def of_cublas(figures: dict[str, Any]) -> dict[str, float]:
    """{name: share of the card's cuBLAS}, of published FLOP/s or times, one of them cuBLAS's."""
    library = next(row for row in figures.values() if row.what == "cuBLAS")
    power = 1 if library.unit.endswith("FLOP/s") else -1
    return {name: (row.value / library.value) ** power for name, row in figures.items()}


def levels() -> dict[str, Any]:
    """{rung: what is modelled of the kernel published on CARD}, with the time of each level."""
    return {MODELLED[row.published.kernel]: row.modelled for row in judged()
            if row.published.gpu == CARD and row.published.kernel in MODELLED}


def shares_here(comparison: Comparison | None) -> dict[str, float]:
    """{rung: share of cuBLAS on the GPU here}; {} where nothing was measured on one."""
    rates = {t.version: t.flop_rate for t in comparison.timings} if comparison else {}
    library = rates.pop("PyTorch on GPU", None)
    return {version.removeprefix("CUDA, "): rate / library
            for version, rate in rates.items() if library}


def rungs(bound: dict[str, float], here: Comparison | None = None) -> Picture:
    """The GPU's rungs as shares of cuBLAS: published, modelled, bounded.

    bound: {rung: share of CARD's cuBLAS that its loads allow}. here: the rungs and cuBLAS, timed on
    the GPU of this machine.
    """
    shares = {card: of_cublas(published_on(card)) for card in NAMES}
    first, (low, high) = shares[CARD]["coalesced"], ends(shares, "vectorized loads")
    title = (f"The plain kernel has {percent(first)} of cuBLAS on an {CARD}; with register tiles "
             f"and wide loads a kernel has {percent(low)} to {percent(high)} (published).")
    figure, axes = blank(width=7.6, height=4.9, title=title)
    name_rows(axes, RUNGS)
    words = {rung: draw_rung(axes, y, rung, shares, bound) for y, rung in enumerate(RUNGS)}
    log_axes(axes, x=("share of cuBLAS on the same card", lambda s: percent(s) if s < 1.5 else ""))
    axes.set_xlim(0.04, 1.7)
    live = shares_here(here)
    for rung, share in live.items():
        axes.plot(share, RUNGS.index(rung), "^", color=COLORS["gpu"], markersize=8)
        words[rung] += f", {percent(share)} here"
    looks = {card: {"marker": mark, "color": "none", "markeredgecolor": INK}
             for card, mark in RINGS.items()}
    looks[f"modelled, {CARD}"] = {"marker": "s", "color": "none", "markeredgecolor": COLORS["gpu"]}
    if live:
        looks["the GPU here"] = {"marker": "^", "color": COLORS["gpu"]}
    looks[f"what its loads allow, {CARD}"] = {"marker": "$◁$", "color": COLORS["gpu"]}
    key(figure, looks, columns=3)
    sources = dict.fromkeys(figures["cuBLAS"].source.title for figures in map(published_on, NAMES))
    return Picture(figure, f"{title} {listed(words)}. Published: {', '.join(sources)}.")


def ends(shares, rung):
    there = [each[rung] for each in shares.values() if rung in each]
    return min(there), max(there)


def draw_rung(axes, y, rung, shares, bound):
    """Its shares: published, modelled with the interval, bounded; returns its words."""
    told = []
    for card, each in shares.items():
        if rung in each:
            axes.plot(each[rung], y, RINGS[card], markersize=8, color="none", markeredgecolor=INK,
                      markeredgewidth=1.6)
            told.append(f"{percent(each[rung])} on {card}")
    said, library = levels().get(rung), 2 * 4_096**3 / published_on()["cuBLAS"].value
    if said and said.seconds:
        axes.plot([library / said.low, library / said.high], [y + 0.24] * 2, color=COLORS["gpu"],
                  linewidth=1, marker="|")
        axes.scatter(library / said.seconds, y + 0.24, 46, marker="s", facecolor="none",
                     edgecolor=COLORS["gpu"], hatch=2 * HATCH)
        told.append(f"≈ {percent(library / said.seconds)} modelled")
    if bound.get(rung, 1) < 1:  # above the library it would say nothing
        axes.plot(bound[rung], y, marker="$◁$", markersize=9, color=COLORS["gpu"])
        told.append(f"its loads allow {percent(bound[rung])}")
    return ", ".join(told)


def steadily(measure, tries: int = 3) -> Comparison:
    """The first of a few comparisons in which no time is noisy; else the one with the fewest."""
    def noisy(one):
        return sum(bool(timing.noise) for timing in one.timings)

    made = [measure()]
    while noisy(made[-1]) and len(made) < tries:
        made.append(measure())
    return min(made, key=noisy)


def fraction(load: float) -> str:
    """A count per multiplication as people say it: 2, 1/8, 9/8; else in decimals."""
    exact = Fraction(load).limit_denominator(512)
    return str(exact) if exact == load and exact.numerator < 10 else f"{load:.3g}"


def on_cpu(timings: list[Any]) -> Picture | str:
    """The rungs on a CPU as shares of NumPy's FLOP/s; the first is the lowest."""
    rates = {t.version: t.flop_rate for t in timings if t.noise != "too noisy"}
    if "NumPy" not in rates or len(rates) < 2:
        return "Too noisy a machine: there is nothing to compare."
    shares = {name: rate / rates["NumPy"] for name, rate in rates.items()}
    (first, lowest), *_ = shares.items()
    best = max((name for name in shares if name != "NumPy"), key=shares.get)
    title = (f"“{first}” has {percent(lowest)} of NumPy's speed on this CPU, "
             f"“{best}” {percent(shares[best])} (live).")
    rows = [(name, share, {"color": COLORS["host"]}) for name, share in shares.items()]
    return dots(rows[::-1], "share of NumPy on the same CPU", percent, title=title)
