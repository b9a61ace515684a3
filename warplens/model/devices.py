"""The GPUs that times are modelled for, and where each of their figures comes from.

    devices()                       all of them, each figure with the number of its source
    devices()["A100"]               one, each figure with its source in words
    mine = devices()["RTX 3090"].but("my card", multiprocessors=46, boost=1.73e9, dram_rate=448e9,
                                     l2_bytes=4 * 2**20, l2_rate=1.26e12)

The figures stand in devices.toml, each beside its source. What nobody has measured is called
assumed there, and says after what.
"""

import difflib
import math
import numbers
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from warplens import units
from warplens.code.driver import gpu_name
from warplens.tables import Table

DATA = tomllib.loads(Path(__file__).with_name("devices.toml").read_text(encoding="utf-8"))
KINDS = ("data sheet", "database", "microbenchmark", "assumed", "yours")


class Source(NamedTuple):
    """Where a figure comes from."""

    kind: str  # of KINDS: "database" collects data sheets
    citation: str


class Figure(NamedTuple):
    """What a field of a GPU counts, and how it is written."""

    label: str
    write: Any  # function of the number


@dataclass(frozen=True, repr=False)
class GPU:
    """One GPU, as its data sheet and other people's microbenchmarks describe it."""

    name: str
    capability: tuple[int, int]  # compute capability: which instructions and limits it has
    multiprocessors: int
    boost: float  # clocks per second, at most
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
    sustained: float | None = None  # clocks per second under load, where base is far below it
    sources: Mapping[str, Source] = field(default_factory=dict, compare=False)

    def but(self, name: str, **figures: Any) -> "GPU":
        """A GPU of one's own: this one with another name and other figures, their source "yours".

        What is not given is as here, and from then on assumed. Raises ValueError naming the field
        for a figure that no GPU has, or a value that is none.
        """
        if not isinstance(name, str) or name in GPUS:
            raise ValueError(f"Give your GPU a name of its own, not {name!r}.")
        for each, value in figures.items():
            check_figure(name, each, value)
        sources = {each: assumed_from(self.name, source) for each, source in self.sources.items()}
        given = dict.fromkeys(figures, Source("yours", "given by you"))
        mine = replace(self, name=name, sources=sources | given, **figures)
        if mine.base > mine.boost:
            raise ValueError(f"{name}: base is above boost, {mine.text('base')} above "
                             f"{mine.text('boost')}: give both.")  # fmt: skip
        return mine

    def text(self, figure: str) -> str:
        """A figure as people read it; "" where there is none."""
        value = getattr(self, figure)
        return "" if value is None else FIGURES[figure].write(value)

    def table(self) -> Table:
        """A row for each figure, with its source."""
        rows = [[each, self.text(each), FIGURES[each].label, *self.sources[each]]
                for each in FIGURES if self.text(each)]  # fmt: skip
        return Table(f"{self.name}: each figure and its source",
                     ["field", "figure", "what it is", "kind", "source"], rows)  # fmt: skip

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def check_figure(name: str, figure: str, value: Any) -> None:
    """ValueError, naming GPU and field, unless a GPU has such a figure and the value can be one."""
    if figure not in FIGURES:
        raise ValueError(f"A GPU has no {figure!r}.{guess(figure, FIGURES)} Its figures are: "
                         f"{', '.join(FIGURES)}.")  # fmt: skip
    if figure == "capability":
        if not (isinstance(value, tuple) and [type(part) for part in value] == [int, int]):
            raise ValueError(f"{name}: capability is two whole numbers, as (8, 6), not {value!r}.")
        return
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (real and 0 < value < math.inf):
        label = FIGURES[figure].label
        raise ValueError(f"{name}: {figure} is a number above 0 ({label}), not {value!r}.")
    if figure.endswith("_share") and value > 1:
        raise ValueError(f"{name}: {figure} is at most 1, not {value!r}.")


def assumed_from(name: str, source: Source) -> Source:
    """The source of a figure that a GPU of one's own takes over from a known one."""
    if name not in GPUS:
        return source
    return Source("assumed", f"as on the {name} ({source.kind}: {source.citation})")


class Devices:
    """The GPUs by name; shows itself as a table of all their figures."""

    def __getitem__(self, name: str) -> GPU:
        return named(name)

    def __iter__(self) -> Iterator[str]:
        return iter(GPUS)

    def __len__(self) -> int:
        return len(GPUS)

    def table(self) -> Table:
        """A row for each figure, a column for each GPU; the sources are numbered below."""
        cited = {source for gpu in GPUS.values() for source in gpu.sources.values()}
        ordered = sorted(cited, key=lambda source: (KINDS.index(source.kind), source.citation))
        number = {source: n for n, source in enumerate(ordered, 1)}

        def cell(gpu: GPU, figure: str) -> str:
            text = gpu.text(figure)
            return f"{text} [{number[gpu.sources[figure]]}]" if text else "–"

        rows = [[label, *(cell(gpu, figure) for gpu in GPUS.values())]
                for figure, (label, _) in FIGURES.items()]  # fmt: skip
        notes = [f"[{n}] {kind}: {citation}" for (kind, citation), n in number.items()]
        return Table("GPUs to model times for; in brackets the source of each figure",
                     ["", *GPUS], rows, notes)  # fmt: skip

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def devices() -> Devices:
    """The GPUs that times can be modelled for: `devices()["A100"]` is one of them."""
    return Devices()


def named(gpu: str | GPU) -> GPU:
    """The GPU of this name; a GPU of one's own as it is. ValueError otherwise."""
    if isinstance(gpu, GPU):
        return gpu
    if not isinstance(gpu, str) or gpu not in GPUS:
        raise ValueError(f"No GPU is called {gpu!r}.{guess(gpu, GPUS)} There are "
                         f"{', '.join(GPUS)}.")  # fmt: skip
    return GPUS[gpu]


def present() -> GPU | None:
    """The GPU in this machine, where it is one of these: "Tesla T4", "NVIDIA A100-SXM4-40GB"."""
    name, multiprocessors = gpu_name()
    for gpu in GPUS.values():  # a part of a GPU, or a Ti, has the name and not its multiprocessors
        if re.search(rf"\b{gpu.name}\b", name) and gpu.multiprocessors == multiprocessors:
            return gpu
    return None


def guess(wrong: Any, right: Mapping[str, Any]) -> str:
    """ " Did you mean …?", where one of the right names is near."""
    near = difflib.get_close_matches(str(wrong), right, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def written(unit: str = "", scale: float = 1) -> Any:
    """A function that writes a number in a unit, with every digit that its source gives."""
    return lambda number: f"{number / scale:,.6g} {unit}".strip()


GHZ, GBS, CLOCKS = written("GHz", 1e9), written("GB/s", 1e9), written("clocks")
FIGURES = {
    "capability": Figure("compute capability", lambda two: f"{two[0]}.{two[1]}"),
    "multiprocessors": Figure("multiprocessors", written()),
    "boost": Figure("clock, at most", GHZ),
    "base": Figure("clock, guaranteed", GHZ),
    "fp32_lanes": Figure("float32 lanes a multiprocessor", written()),
    "fp32_share": Figure("of them kept busy", units.percent),
    "int_lanes": Figure("integer lanes a multiprocessor", written()),
    "fp64_lanes": Figure("float64 lanes a multiprocessor", written()),
    "sfu_lanes": Figure("special-function lanes a multiprocessor", written()),
    "lsu_lanes": Figure("load/store lanes a multiprocessor", written()),
    "dram_rate": Figure("DRAM", GBS),
    "dram_share": Figure("of it that a copy reaches", units.percent),
    "l2_bytes": Figure("L2 cache", units.size),
    "l2_rate": Figure("L2 cache's rate", GBS),
    "shared_latency": Figure("latency of shared memory", CLOCKS),
    "l1_latency": Figure("latency of L1", CLOCKS),
    "l2_latency": Figure("latency of L2", CLOCKS),
    "dram_latency": Figure("latency of DRAM", CLOCKS),
    "sustained": Figure("clock under load", GHZ),
}


# -- From devices.toml.


def source_of(text: str) -> Source:
    """A Source, from "kind: citation" or the name of one."""
    return Source(*DATA["sources"].get(text, text).split(": ", 1))


def gpu_of(name: str, figures: Mapping[str, Any]) -> GPU:
    """A GPU from its figures, and from those of the chip that it is like."""
    own = {key: pair for key, pair in figures.items() if key != "like"}
    pairs = DATA["chips"].get(figures.get("like"), {}) | own
    values = {each: value for each, (value, _) in pairs.items()}
    values["capability"] = tuple(values["capability"])
    return GPU(name, **values, sources={each: source_of(text) for each, (_, text) in pairs.items()})


GPUS = {name: gpu_of(name, figures) for name, figures in DATA["gpus"].items()}


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
    row = DATA["sheets"][name]
    gpu = GPUS.get(row.get("gpu"))
    memory, cache = (gpu.dram_rate, gpu.l2_bytes) if gpu else (row["memory"], 0)
    return Sheet(name, row["peaks"], memory, row["capacity"], row["watts"], row["source"],
                 row.get("lanes"), cache)  # fmt: skip
