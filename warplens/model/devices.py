"""The GPUs that times are modelled for, and where each of their figures comes from.

    devices()                       all of them, by what sets a card apart
    devices()["A100"]               one, each figure with its source in words
    mine = devices()["RTX 3090"].but("my card", multiprocessors=46, boost=1.73e9, dram_rate=448e9,
                                     l2_bytes=4 * 2**20)

The figures stand in devices.toml, each beside its source. What nobody has measured is called
assumed there, and says after what.
"""

import math
import numbers
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from warplens import units
from warplens.code.driver import gpu_name
from warplens.tables import Table, Tabled

DATA = tomllib.loads(Path(__file__).with_name("devices.toml").read_text(encoding="utf-8"))
KINDS = ("data sheet", "database", "microbenchmark", "assumed", "yours")


class Source(NamedTuple):
    """Where a figure comes from."""

    kind: str  # of KINDS: "database" collects data sheets
    citation: str


class Figure(NamedTuple):
    """What a field of a GPU counts, and in what unit it is written."""

    label: str
    unit: str


@dataclass(frozen=True, repr=False)
class GPU(Tabled):
    """One GPU, as its data sheet and other people's microbenchmarks describe it."""

    name: str
    capability: tuple[int, int]  # compute capability: which instructions and limits it has
    multiprocessors: int
    boost: float  # clocks per second, by the data sheet; some cards run faster
    base: float  # and what its maker guarantees
    fp32_lanes: int  # of a multiprocessor
    fp32_share: float  # of these lanes that a microbenchmark keeps busy
    int_lanes: int  # 32-bit additions of a multiprocessor per clock
    fp64_lanes: int
    sfu_lanes: int  # reciprocals, square roots, exponentials
    lsu_lanes: int  # threads of a load or store that a multiprocessor takes per clock
    dram_rate: float  # bytes per second, by the data sheet
    dram_share: float  # of it that a copy reaches
    l2_bytes: int
    l2_rate: float  # bytes per second
    shared_latency: float  # clocks from a read to its first use
    l1_latency: float
    l2_latency: float
    dram_latency: float
    headroom: float | None = None  # times its boost that a GeForce may run at
    sources: Mapping[str, Source] = field(default_factory=dict, compare=False)

    def but(self, name: str, **figures: Any) -> "GPU":
        """A GPU of one's own: this one with another name and other figures, their source "yours".

        What is not given is as here, and from then on assumed: but what depends on a given figure
        changes with it (DEPENDS). ValueError for a name or a figure that cannot be.
        """
        if not isinstance(name, str) or name in GPUS:
            raise ValueError(f"Give your GPU a name of its own, not {name!r}.")
        for each, value in figures.items():
            check_figure(name, each, value)
        mine, sources = replace(self, name=name, **figures), dict(self.sources)
        if self.name in GPUS:
            sources = {each: Source("assumed", f"as on the {self.name} ({': '.join(source)})")
                       for each, source in sources.items()}  # fmt: skip
        for each, causes in DEPENDS.items():
            times = math.prod(getattr(mine, cause) / getattr(self, cause) for cause in causes)
            if times != 1 and each not in figures:
                mine = replace(mine, **{each: times * getattr(mine, each)})
                sources[each] = Source("assumed", f"{times:.3g} times the {self.name}'s, as its "
                                                  f"{' and '.join(causes)}")  # fmt: skip
        sources |= dict.fromkeys(figures, Source("yours", "given by you"))
        return replace(mine, sources=sources)

    def text(self, figure: str) -> str:
        """A figure as people read it, with every digit of its source; "" where there is none."""
        value, unit = getattr(self, figure), FIGURES[figure].unit
        if value is None or unit in WRITTEN:
            return "" if value is None else WRITTEN[unit](value)
        return f"{value / (1e9 if unit.startswith('G') else 1):,.6g} {unit}".strip()

    def table(self) -> Table:
        """A row for each figure, with its source."""
        rows = [[each, self.text(each), FIGURES[each].label, *self.sources[each]]
                for each in FIGURES if self.text(each)]  # fmt: skip
        return Table(f"{self.name}: each figure and its source",
                     ["field", "figure", "what it is", "kind", "source"], rows)  # fmt: skip


def check_figure(name: str, figure: str, value: Any) -> None:
    """ValueError, naming GPU and field, unless a GPU has such a figure and the value can be one."""
    if figure not in FIGURES:
        raise ValueError(f"A GPU has no {figure!r}. Its figures are: {', '.join(FIGURES)}.")
    real = isinstance(value, numbers.Real) and 0 < float(value) < math.inf
    if figure != "capability" and not real:
        label = FIGURES[figure].label
        raise ValueError(f"{name}: {figure} is a number above 0 ({label}), not {value!r}.")


class Devices(Tabled, dict[str, GPU]):
    """The GPUs by name; shows itself as a table."""

    def __missing__(self, name: str) -> GPU:
        return named(name)  # by another of its names

    def table(self) -> Table:
        """A row for each GPU: what sets it apart from others of its architecture."""
        cited = {gpu.sources[each] for gpu in GPUS.values() for each in APART}
        ordered = sorted(cited, key=lambda source: (KINDS.index(source.kind), source.citation))
        number = {source: n for n, source in enumerate(ordered, 1)}
        rows = [[gpu.name, gpu.text("capability"),
                 *(f"{gpu.text(each)} [{number[gpu.sources[each]]}]" for each in APART)]
                for gpu in GPUS.values()]  # fmt: skip
        notes = [f"[{n}] {kind}: {citation}" for (kind, citation), n in number.items()]
        notes.append('All figures of one, each with its source: devices()["A100"].')
        return Table("GPUs to model times for; in brackets the source of each figure",
                     ["", *(FIGURES[each].label for each in ("capability", *APART))], rows, notes)


def devices() -> Devices:
    """The GPUs that times can be modelled for: `devices()["A100"]` is one of them."""
    return Devices(GPUS)


def named(gpu: str | GPU) -> GPU:
    """The GPU of this name; a GPU of one's own as it is. ValueError otherwise."""
    if isinstance(gpu, GPU):
        return gpu
    if plain(gpu) not in KNOWN:
        raise ValueError(f"No GPU is called {gpu!r}. There are {', '.join(GPUS)}.")
    return KNOWN[plain(gpu)]


def plain(name: Any) -> str:
    """What is left of a name without its maker, its brand and its spaces."""
    return re.sub(r"nvidia|geforce|tesla|rtx|\W", "", str(name).lower())


def present() -> GPU | None:
    """The GPU in this machine, where it is one of these: "Tesla T4", "NVIDIA A100-SXM4-40GB"."""
    name, multiprocessors = gpu_name()
    told = words(name)
    found = [gpu for gpu in GPUS.values() if words(gpu.name) <= told  # a part of a GPU has its name
             and gpu.multiprocessors == multiprocessors
             and told & OTHERS <= words(gpu.name)]  # fmt: skip
    return max(found, key=lambda gpu: len(words(gpu.name)), default=None)


def words(name: str) -> set[str]:
    """What a name consists of: "A100 80 GB" and "A100-SXM4-80GB" have A100 and 80GB in common."""
    return {*re.findall(r"\w+", name.replace(" GB", "GB"))}


# -- From devices.toml.


def source_of(text: str) -> Source:
    """A Source, from "kind: citation" or the name of one."""
    return Source(*DATA["sources"].get(text, text).split(": ", 1))


def gpu_of(name: str, chip: Mapping[str, Any], own: Mapping[str, Any]) -> GPU:
    """A GPU from what all cards of its architecture share, and its own figures and sources."""
    pairs = {**chip, **own}
    each_clock, source = pairs.pop("l2_per_clock")
    pairs["l2_rate"] = each_clock * pairs["multiprocessors"][0] * pairs["boost"][0], source
    values = {each: value for each, (value, _) in pairs.items()}
    values["capability"] = tuple(values["capability"])
    return GPU(name, **values, sources={each: source_of(text) for each, (_, text) in pairs.items()})


def listed(name: str, card: Mapping[str, Any]) -> GPU:
    """A GPU from its line."""
    own = {each: value if isinstance(value, list) else (value, "techpowerup")
           for each, value in card.items() if each in FIGURES}  # fmt: skip
    if GEFORCE.fullmatch(name):
        own["headroom"] = 1.15, "geforce"
    return gpu_of(name, DATA["chips"][card["chip"]], own)


FIGURES = {each: Figure(*row) for each, row in DATA["figures"].items()}
WRITTEN = {"%": units.percent, "bytes": units.size, "x.y": lambda two: f"{two[0]}.{two[1]}"}
GEFORCE = re.compile(r"RTX \d{4}( Ti)?( SUPER)?")
GPUS = {name: listed(name, card) for name, card in DATA["cards"].items()}
KNOWN = {plain(name): gpu for name, gpu in GPUS.items()}
KNOWN |= {plain(name): GPUS[card] for name, card in DATA["names"].items()}
OTHERS = {"Laptop", "Max", "Ti", "SUPER", "NVL"}  # in a name, they make it another card
APART = ("multiprocessors", "boost", "base", "dram_rate", "l2_bytes")  # cards of an architecture
DEPENDS = {"l2_rate": ("multiprocessors", "boost"), "dram_latency": ("boost",), "base": ("boost",)}


class Sheet(NamedTuple):
    """What a data sheet promises at best: bounds that no program exceeds, and few reach."""

    name: str
    peaks: Mapping[str, float]  # FLOP/s, by the type of the factors
    memory: float  # bytes per second
    capacity: float  # bytes of it
    watts: float
    source: str
    lanes: int | None = None
    cache: int = 0  # bytes of L2, where they are known

    def least(self, flops: float, nbytes: float, times: int = 1) -> float:
        """Seconds that no program on float32 numbers undercuts: so many FLOPs, at TF32's rate where
        there is one; and so many bytes, `times` over, but for what the L2 cache may hold of them.

        A bound, and one-sided: how much longer a program takes, it does not say.
        """
        moved = times * max(0.0, nbytes - self.cache)
        return max(flops / self.peaks.get("TF32", self.peaks["float32"]), moved / self.memory)

    def corners(self) -> dict[str, float]:
        """FLOPs for each byte at which memory and arithmetic take equally long, by type.

        With fewer, even a perfect program waits for memory.
        """
        return {factors: peak / self.memory for factors, peak in self.peaks.items()}


def sheet(name: str) -> Sheet:
    """The data sheet of this name."""
    if plain(name) not in KNOWN:
        return Sheet(name, **DATA["sheets"][name])
    gpu = named(name)
    line, row = DATA["cards"][gpu.name], DATA["sheets"].get(gpu.name, {})
    lanes = gpu.multiprocessors * gpu.fp32_lanes
    peaks = row.get("peaks", {"float32": 2 * lanes * gpu.boost})
    source = row.get("source", source_of("techpowerup").citation)
    return Sheet(name, peaks, gpu.dram_rate, line["capacity"], line["watts"], source, lanes,
                 gpu.l2_bytes)  # fmt: skip
