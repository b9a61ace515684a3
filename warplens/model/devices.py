"""The GPUs that times are modelled for, and where each of their figures comes from.

    devices()                       all of them, each figure with the number of its source
    devices()["A100"]               one, each figure with its source in words
    mine = devices()["RTX 3090"].but("my card", multiprocessors=46, boost=1.73e9, dram_rate=448e9,
                                     l2_bytes=4 * 2**20, l2_rate=1.26e12)

A figure stands beside its source, and a GPU with a figure that has none cannot be made. What nobody
has measured is called assumed, and says after what.
"""

import difflib
import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from warplens import units
from warplens.tables import Table

KINDS = ("data sheet", "database", "microbenchmark", "fitted", "assumed", "driver", "yours")


class Source(NamedTuple):
    """Where a figure comes from."""

    # Of KINDS: "database" collects data sheets; "fitted" makes a model agree with times; "driver"
    # is what the GPU in this machine says of itself.
    kind: str
    citation: str


class Figure(NamedTuple):
    """What a field of a GPU counts: in words, how it is written, whether it is a whole number."""

    words: str
    write: Any  # function of the number
    whole: bool = False


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
    l1_rate: float  # bytes per clock that a multiprocessor's L1 cache delivers
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

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.strip()):
            raise ValueError(f'A GPU has a name, as in but("my card", …), not {self.name!r}.')
        for each in FIGURES:
            refuse_bad(self.name, each, getattr(self, each))
        for clock in ("base", "sustained"):
            if (getattr(self, clock) or 0) > self.boost:
                raise ValueError(f"{self.name}: {clock} is above boost, {self.told(clock)} above "
                                 f"{self.told('boost')}: give both.")  # fmt: skip
        for each in self.figures():
            if getattr(self.sources.get(each), "kind", "") not in KINDS:
                raise ValueError(
                    f"{self.name}: {each} has no source. Each figure has one, of a kind among "
                    f'{", ".join(KINDS)}; devices()["A100"].but("my card", {each}=…) gives yours.'
                )

    def but(self, name: str, **figures: Any) -> "GPU":
        """A GPU of one's own: this one with another name and other figures, their source "yours".

        What is not given is as here, and from then on assumed. Raises ValueError naming the field
        for a figure that no GPU has, or a value that is none.
        """
        if isinstance(name, str) and name in GPUS:
            raise ValueError(f"There is a GPU called {name!r}; give yours a name of its own.")
        for each in figures:
            if each not in FIGURES:
                raise ValueError(f"A GPU has no {each!r}.{guess(each, FIGURES)} Its figures are: "
                                 f"{', '.join(FIGURES)}.")  # fmt: skip
        sources = {each: assumed_from(self.name, source) for each, source in self.sources.items()}
        given = dict.fromkeys(figures, Source("yours", "given by you"))
        return replace(self, name=name, sources=sources | given, **figures)

    def figures(self) -> list[str]:
        """The names of its figures; sustained only where there is one."""
        return [each for each in FIGURES if getattr(self, each) is not None]

    def told(self, figure: str) -> str:
        """A figure as people read it; "" where there is none."""
        value = getattr(self, figure)
        return "" if value is None else FIGURES[figure].write(value)

    def table(self) -> Table:
        rows = [[each, self.told(each), FIGURES[each].words, *self.sources[each]]
                for each in self.figures()]  # fmt: skip
        return Table(f"{self.name}: each figure and its source",
                     ["field", "figure", "what it is", "kind", "source"], rows)  # fmt: skip

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


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
        gpus = list(GPUS.values())
        cited = {gpu.sources[each] for each in FIGURES for gpu in gpus if each in gpu.sources}
        ordered = sorted(cited, key=lambda source: (KINDS.index(source.kind), source.citation))
        number = {source: n for n, source in enumerate(ordered, 1)}
        rows = [[FIGURES[each].words, *(cell(gpu, each, number) for gpu in gpus)]
                for each in FIGURES]  # fmt: skip
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


def cell(gpu: GPU, figure: str, number: Mapping[Source, int]) -> str:
    return f"{gpu.told(figure)} [{number[gpu.sources[figure]]}]" if gpu.told(figure) else "–"


def named(gpu: str | GPU) -> GPU:
    """The GPU of this name; a GPU of one's own as it is. ValueError otherwise."""
    if isinstance(gpu, GPU):
        return gpu
    if not isinstance(gpu, str) or gpu not in GPUS:
        raise ValueError(f"No GPU is called {gpu!r}.{guess(gpu, GPUS)} There are "
                         f"{', '.join(GPUS)}.")  # fmt: skip
    return GPUS[gpu]


def guess(wrong: Any, right: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(str(wrong), right, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def assumed_from(name: str, source: Source) -> Source:
    """The source of a figure that a GPU of one's own takes over from a known one."""
    if name not in GPUS:
        return source
    return Source("assumed", f"as on the {name} ({source.kind}: {source.citation})")


def refuse_bad(name: str, figure: str, value: Any) -> None:
    """ValueError, naming GPU and field, unless the value can be that figure."""
    words = FIGURES[figure].words
    if figure == "capability":
        if not (isinstance(value, tuple) and len(value) == 2
                and all(type(part) is int and part >= 0 for part in value)):  # fmt: skip
            raise ValueError(f"{name}: capability is two whole numbers, as (8, 6), not {value!r}.")
        return
    if figure == "sustained" and value is None:
        return
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (real and 0 < value < math.inf):
        raise ValueError(f"{name}: {figure} is a number above 0 ({words}), not {value!r}.")
    if FIGURES[figure].whole and value != int(value):
        raise ValueError(f"{name}: {figure} is a whole number ({words}), not {value!r}.")
    if figure.endswith("_share") and value > 1:
        raise ValueError(f"{name}: {figure} is at most 1 ({words}), not {value!r}.")


def written(unit: str = "", scale: float = 1) -> Any:
    """A function that writes a number in a unit, with every digit that its source gives."""
    return lambda number: f"{number / scale:,.6g} {unit}".strip()


GHZ, GBS, CLOCKS = written("GHz", 1e9), written("GB/s", 1e9), written("clocks")
FIGURES = {
    "capability": Figure("compute capability", lambda two: f"{two[0]}.{two[1]}"),
    "multiprocessors": Figure("multiprocessors", written(), whole=True),
    "boost": Figure("clock, at most", GHZ),
    "base": Figure("clock, guaranteed", GHZ),
    "fp32_lanes": Figure("float32 lanes a multiprocessor", written(), whole=True),
    "fp32_share": Figure("of them kept busy", "{:.0%}".format),
    "int_lanes": Figure("integer lanes a multiprocessor", written(), whole=True),
    "fp64_lanes": Figure("float64 lanes a multiprocessor", written(), whole=True),
    "sfu_lanes": Figure("special-function lanes a multiprocessor", written(), whole=True),
    "lsu_lanes": Figure("load/store lanes a multiprocessor", written(), whole=True),
    "l1_rate": Figure("L1 cache of a multiprocessor", written("B/clock")),
    "dram_rate": Figure("DRAM", GBS),
    "dram_share": Figure("of it that a copy reaches", "{:.0%}".format),
    "l2_bytes": Figure("L2 cache", units.size, whole=True),
    "l2_rate": Figure("L2 cache's rate", GBS),
    "shared_latency": Figure("latency of shared memory", CLOCKS),
    "l1_latency": Figure("latency of L1", CLOCKS),
    "l2_latency": Figure("latency of L2", CLOCKS),
    "dram_latency": Figure("latency of DRAM", CLOCKS),
    "sustained": Figure("clock under load", GHZ),
}


# -- The figures, each beside its source.


def sheet(citation: str) -> Source:
    return Source("data sheet", citation)


def bench(where: str, words: str = "") -> Source:
    """A measurement kept in te42kyfo/gpu-benches (github.com/te42kyfo/gpu-benches)."""
    return Source("microbenchmark", f"te42kyfo/gpu-benches, {where}{'; ' * bool(words)}{words}")


def assumed(words: str) -> Source:
    return Source("assumed", words)


def cited(name: str, **figures: tuple[Any, Source]) -> GPU:
    """A GPU of figures that stand beside their sources."""
    return GPU(name, **{each: value for each, (value, _) in figures.items()},
               sources={each: source for each, (_, source) in figures.items()})  # fmt: skip


MIB = 2**20
CUDA_GPUS = sheet("NVIDIA's list of compute capabilities (developer.nvidia.com/cuda-gpus)")
GUIDE = sheet("CUDA C++ Programming Guide, throughput of arithmetic instructions")
TURING = sheet("NVIDIA Turing GPU architecture white paper")
AMPERE = sheet("NVIDIA A100 Tensor Core GPU architecture white paper")
GA102_PAPER = sheet("NVIDIA Ampere GA102 GPU architecture white paper")
ADA = sheet("NVIDIA Ada GPU architecture white paper")
HOPPER = sheet("NVIDIA H100 Tensor Core GPU architecture white paper")
TECHPOWERUP = Source("database", "TechPowerUp GPU database")
LUO = "Luo et al. 2024, Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, table IV"
SJFENG = Source("microbenchmark", "sjfeng1999/gpu-arch-microbenchmark; an RTX 2070, also Turing")
JIA = assumed("after Jia et al. 2019, Dissecting the NVidia Turing T4 GPU (arXiv:1903.07486); "
              "the paper was not at hand to check it")  # fmt: skip

GA102: dict[str, tuple[Any, Source]] = {
    "capability": ((8, 6), CUDA_GPUS),
    "fp32_lanes": (128, GA102_PAPER),
    "fp32_share": (0.64, bench("gpu-roofline/alex_a40.txt", "an A40, the same chip")),
    "int_lanes": (64, GUIDE), "fp64_lanes": (2, GUIDE), "sfu_lanes": (16, GUIDE),
    "lsu_lanes": (16, GA102_PAPER),
    "l1_rate": (64, bench("gpu-cache/a40.txt", "an A40, the same chip")),
    "dram_share": (0.94, bench("gpu-stream/a40.txt", "scale on an A40, with other DRAM")),
    "l2_bytes": (6 * MIB, GA102_PAPER),
    "l2_rate": (2250e9, bench("gpu-cache/a40.txt", "an A40, the same chip")),
    "shared_latency": (29, assumed("as on the A100")),
    "l1_latency": (36, assumed("as on the A100 and the L40, which both need 36")),
    "l2_latency": (240, assumed("between the A100's 213 and the L40's 277")),
    "dram_latency": (600, assumed("between the A100's 574 and the L40's 632")),
}  # fmt: skip
GH100: dict[str, tuple[Any, Source]] = {
    "capability": ((9, 0), CUDA_GPUS), "multiprocessors": (132, HOPPER),
    "boost": (1.98e9, bench("gpu-roofline/h200.txt", "the clock of an H200 while it ran")),
    "base": (1.59e9, assumed("after GPU databases, which were not at hand to check it")),
    "fp32_lanes": (128, HOPPER), "fp32_share": (0.64, bench("gpu-roofline/h200.txt")),
    "int_lanes": (64, GUIDE), "fp64_lanes": (64, GUIDE), "sfu_lanes": (16, GUIDE),
    "lsu_lanes": (32, HOPPER),
    "l1_rate": (126, bench("cuda-cache/h100_pcie.txt", "an H100 with fewer multiprocessors")),
    "l2_bytes": (50 * MIB, HOPPER), "l2_rate": (9700e9, bench("gpu-l2-cache/h200.txt")),
    "shared_latency": (29, Source("microbenchmark", f"{LUO}; an H800")),
    "l1_latency": (34, bench("gpu-latency/h100_pcie.txt")),
    "l2_latency": (265, bench("gpu-latency/h100_pcie.txt")),
    "dram_latency": (658, bench("gpu-latency/h100_pcie.txt")),
}  # fmt: skip

GPUS: dict[str, GPU] = {}
for known in (
    cited(
        "T4", capability=((7, 5), CUDA_GPUS), multiprocessors=(40, TECHPOWERUP),
        boost=(1.59e9, TECHPOWERUP), base=(0.585e9, TECHPOWERUP),
        fp32_lanes=(64, TURING), fp32_share=(0.98, assumed("as on the A100, with as many lanes")),
        int_lanes=(64, GUIDE), fp64_lanes=(2, GUIDE), sfu_lanes=(16, GUIDE), lsu_lanes=(16, TURING),
        l1_rate=(64, assumed("as on the A40, whose load/store lanes are as many")),
        dram_rate=(320e9, sheet("NVIDIA T4 data sheet")), dram_share=(0.69, JIA),
        l2_bytes=(4 * MIB, TECHPOWERUP), l2_rate=(1270e9, JIA),
        shared_latency=(23, SJFENG), l1_latency=(32, SJFENG), l2_latency=(188, JIA),
        dram_latency=(434, assumed("as on the V100 (te42kyfo/gpu-benches, cuda-latency), which "
                                   "came a year earlier")),
    ),
    cited(
        "A100", capability=((8, 0), CUDA_GPUS), multiprocessors=(108, AMPERE),
        boost=(1.41e9, AMPERE), base=(1.095e9, TECHPOWERUP),
        fp32_lanes=(64, AMPERE), fp32_share=(0.98, bench("gpu-roofline/alex_a100_40.txt")),
        int_lanes=(64, GUIDE), fp64_lanes=(32, GUIDE), sfu_lanes=(16, GUIDE),
        lsu_lanes=(32, AMPERE), l1_rate=(126, bench("cuda-cache/a100_80.txt")),
        dram_rate=(1555e9, sheet("NVIDIA A100 data sheet, 40 GB")),
        dram_share=(0.89, bench("gpu-stream/a100_40.txt", "scale")), l2_bytes=(40 * MIB, AMPERE),
        l2_rate=(5400e9, bench("gpu-l2-cache/a100_80.txt")),
        shared_latency=(29, Source("microbenchmark", f"{LUO}; an A100")),
        l1_latency=(36, bench("cuda-latency/a100_40.txt")),
        l2_latency=(213, bench("cuda-latency/a100_40.txt")),
        dram_latency=(574, bench("cuda-latency/a100_40.txt")),
    ),
    cited(
        "RTX 3090", **GA102, multiprocessors=(82, GA102_PAPER), boost=(1.695e9, GA102_PAPER),
        base=(1.395e9, TECHPOWERUP), dram_rate=(936e9, GA102_PAPER),
    ),
    cited(
        "RTX A6000", **GA102, multiprocessors=(84, GA102_PAPER), boost=(1.80e9, TECHPOWERUP),
        base=(1.41e9, TECHPOWERUP), dram_rate=(768e9, sheet("NVIDIA RTX A6000 data sheet")),
    ),
    cited(
        "RTX 6000 Ada", capability=((8, 9), CUDA_GPUS), multiprocessors=(142, ADA),
        boost=(2.505e9, TECHPOWERUP), base=(0.915e9, TECHPOWERUP),
        sustained=(1.32e9, bench("gpu-roofline/genoa_l40.txt",
                                 "the lowest clock of an L40 at its 300 W")),
        fp32_lanes=(128, ADA), fp32_share=(0.63, bench("gpu-roofline/genoa_l40.txt", "an L40")),
        int_lanes=(64, GUIDE), fp64_lanes=(2, GUIDE), sfu_lanes=(16, GUIDE), lsu_lanes=(16, ADA),
        l1_rate=(64, bench("gpu-cache/l40.txt", "an L40")),
        dram_rate=(960e9, sheet("NVIDIA RTX 6000 Ada Generation data sheet")),
        dram_share=(0.89, bench("gpu-stream/l40.txt", "scale on an L40")),
        l2_bytes=(96 * MIB, ADA), l2_rate=(5190e9, bench("gpu-l2-cache/l40.txt", "an L40")),
        shared_latency=(30, Source("microbenchmark", f"{LUO}; an RTX 4090")),
        l1_latency=(36, bench("gpu-latency/l40.txt", "an L40")),
        l2_latency=(277, bench("gpu-latency/l40.txt", "an L40")),
        dram_latency=(632, bench("gpu-latency/l40.txt", "an L40")),
    ),
    cited(
        "H100", **GH100, dram_rate=(3352e9, sheet("NVIDIA H100 data sheet, SXM")),
        dram_share=(0.90, bench("cuda-stream/h100_pcie.txt", "triad; its scale reaches 84 %")),
    ),
    cited(
        "H200", **GH100, dram_rate=(4800e9, sheet("NVIDIA H200 data sheet, SXM")),
        dram_share=(0.79, bench("gpu-roofline/h200.txt", "its fewest operations a byte")),
    ),
):  # fmt: skip
    GPUS[known.name] = known
