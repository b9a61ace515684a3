"""What NVIDIA's profiler (Nsight Compute) would advise, from a trace and with no GPU.

    advice(trace(kernel)[grid, block](x, y), on="A100")

Some of the profiler's rules need no clock, only counts, and the microscope's counts are exact:

    Uncoalesced Global Accesses   (sectors − ideal) / sectors
    Uncoalesced Shared Accesses   (wavefronts − ideal) / wavefronts
    Shared … Bank Conflicts       the same, of loads or of stores
    Block Size                    (1 / warps) (1 − rest / 32)
    Small Grid                    (multiprocessors − blocks) / multiprocessors
    Tail Effect                   1 / (1 + whole waves)
    Theoretical Occupancy         1 − occupancy

Two are nearly exact, for they count the source, and a compiler may do otherwise (a short branch
becomes a predicate, a multiplication by one goes away):

    Thread Divergence             1 − active threads / 32
    FP64/32 Utilization           FP64 share × (1 − FP64 rate / FP32 rate)

Where a trace sampled long loops (turns=…), what it counted is an estimate.

Behind each stands the profiler's own estimate of the gain, before it is weighted by how busy the
part in question was, which only a clock can tell. It bounds nothing: where another count is the
limit a cure may gain more or less, and gains do not add up. The profiler keeps small ones to itself
(a tail under 20 %, an occupancy of 80 % and more, conflicts under 10 %, 24 active threads and
more); here they stand at the end of the list. The ideal is the profiler's, too: what a request
would take if each of its threads asked for a place of its own and all lay side by side. Threads
that ask for the same place need less than that, and are not blamed.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from warplens import Trace
from warplens.code.cuda import CannotCompile, assembly
from warplens.report.counts import SiteCount
from warplens.tables import per
from warplens.units import percent, plural

from .devices import GPU, named
from .occupancy import occupancy

WARP = 32
LEAST = 0.005  # of the time: a gain that rounds to 0 % is none
EXACT = "counts exact"
NEARLY = "counts nearly exact, of the source, which a compiler may change"
SAMPLED = "counts estimated, for long loops were sampled"


class CannotTell(RuntimeError):
    """A rule needs what is not known here; the text names both."""


@dataclass(frozen=True)
class Place:
    """A line that a finding is about, and what is to be said of it."""

    function: str
    line: int
    text: str  # of the line; empty where the trace does not hold it
    note: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text or f'(in {self.function})'}  ← {self.note}"


@dataclass(frozen=True)
class Finding:
    """What one rule of the profiler says of a launch."""

    rule: str  # as the profiler calls it
    counts: str  # how good they are: EXACT, NEARLY, SAMPLED
    gain: float  # of the launch's time, as the profiler estimates it
    found: str
    do: str
    counter: str  # the profiler's own, to compare with
    places: tuple[Place, ...] = ()

    @property
    def exact(self) -> bool:
        return self.counts == EXACT

    @property
    def headline(self) -> str:
        return f"{self.rule}: {self.counts}; estimated gain {percent(self.gain)} of the time"

    def __str__(self) -> str:
        lines = [self.headline, self.found, *map(str, self.places), f"What to do: {self.do}"]
        return "\n   ".join([*lines, f"In the profiler: {self.counter}."])


@dataclass(frozen=True, repr=False)
class Advice:
    """The findings of one launch, the largest gain first, and what could not be told."""

    kernel: str
    gpu: str
    findings: tuple[Finding, ...]
    untold: tuple[str, ...]
    traced: int  # blocks, of the grid's
    blocks: int
    sampled: bool  # were long loops cut short?
    source: tuple[tuple[int, str], ...]  # the kernel's lines, each with its number

    @property
    def headline(self) -> str:
        of = f"{self.kernel} on {self.gpu}"
        if self.traced < self.blocks:
            of += f", counted over {self.traced:,} of {plural(self.blocks, 'block')}"
        if self.sampled:
            of += ", long loops sampled"
        if not self.findings:
            return f"{of}: {'of what can be told here, ' if self.untold else ''}nothing to advise."
        return (
            f"{of}: {plural(len(self.findings), 'finding')}. "
            "Gains are the profiler's estimates, by these counts alone; they do not add up."
        )

    def __repr__(self) -> str:
        found = [f"{number}. {finding}" for number, finding in enumerate(self.findings, 1)]
        return "\n".join([self.headline, *found, *(f"Not told: {why}" for why in self.untold)])

    def _repr_html_(self) -> str:
        from .advice_page import page

        return page(self)


def advice(trace: Trace, on: str | GPU = "A100", registers: int | None = None) -> Advice:
    """What the profiler's rules say of a traced launch, were it on this GPU.

    registers: of each thread; where None, NVIDIA's compiler is asked, if it is here. A trace of
    chosen blocks will do: the rules about the launch look at the whole grid.
    """
    if not isinstance(trace, Trace):
        raise TypeError(
            f"advice() takes a trace, not a {type(trace).__name__}: "
            "advice(trace(kernel)[grid, block](x, y))."
        )
    gpu = named(on)
    rules = (
        partial(global_accesses, trace),
        partial(shared_accesses, trace),
        partial(bank_conflicts, trace),
        partial(launch_sizes, trace, gpu),
        partial(residence, trace, gpu, registers),
        partial(divergence, trace),
        partial(double_precision, trace, gpu),
    )
    found: list[Finding] = []
    untold: list[str] = []
    for rule in rules:
        try:
            found += [finding for finding in rule() if finding.gain >= LEAST]
        except CannotTell as why:
            untold.append(str(why))
    return Advice(
        *(trace.kernel, gpu.name, tuple(sorted(found, key=lambda f: -f.gain)), tuple(untold)),
        *(trace.blocks, math.prod(trace.grid), bool(trace.turns)),
        tuple(enumerate(trace.source.rstrip().splitlines(), trace.first_line)),
    )


def counts_of(trace: Trace, whole: str) -> str:
    """How good the counts of a trace are; whole: how good they are where no loop is cut short."""
    return SAMPLED if trace.turns else whole


# -- Where memory is asked for more than it needs to give. Exact, unless long loops were sampled.


def global_accesses(trace: Trace) -> Iterator[Finding]:
    moved = trace.coalescing()
    if any(site.sectors and not site.ideal_sectors for site in moved.sites):
        raise CannotTell(
            "Uncoalesced Global Accesses need the sectors of a request that is coalesced, which a "
            "trace kept by an earlier version does not hold; trace the kernel again."
        )
    excess = sum(map(excess_of, moved.sites))
    yield Finding(
        "Uncoalesced Global Accesses",
        counts=counts_of(trace, EXACT),
        gain=per(excess, moved.sectors),
        found=f"{excess:,} of {plural(moved.sectors, 'sector')} are more than it would take if "
        "neighboring threads asked for neighboring bytes.",
        do="Let neighboring threads use neighboring elements: by another index, another layout of "
        "the array, or a detour through shared memory.",
        counter="memory_l2_theoretical_sectors_global",
        places=places(trace, moved.sites, sectors_note),
    )


def sectors_note(site: SiteCount) -> str:
    asked, ideal = site.sectors / site.requests, site.ideal_sectors / site.requests
    share = percent(excess_of(site) / site.sectors)
    what = f"{site.array}, {site.access}"
    return f"{what}: {asked:.4g} sectors a request where {ideal:.4g} would do, {share} in excess"


def shared_accesses(trace: Trace) -> Iterator[Finding]:
    sites = plain_shared(trace)
    wavefronts, excess = sum(s.wavefronts for s in sites), sum(map(excess_of, sites))
    yield Finding(
        "Uncoalesced Shared Accesses",
        counts=counts_of(trace, EXACT),
        gain=per(excess, wavefronts),
        found=f"{excess:,} of {plural(wavefronts, 'wavefront')} of shared memory come from threads "
        "of one warp that want different words of one bank.",
        do=APART,
        counter="memory_l1_wavefronts_shared",
        places=places(trace, sites, wavefronts_note),
    )


def wavefronts_note(site: SiteCount) -> str:
    what = f"{site.array}, {site.access}"
    return f"{what}: {site.wavefronts:,} wavefronts where {site.ideal:,} would do"


def bank_conflicts(trace: Trace) -> Iterator[Finding]:
    for access, name in (("read", "Load"), ("write", "Store")):
        sites = [site for site in plain_shared(trace) if site.access == access]
        wavefronts, ideal = sum(s.wavefronts for s in sites), sum(s.ideal for s in sites)
        yield Finding(
            f"Shared {name} Bank Conflicts",
            counts=counts_of(trace, EXACT),
            gain=per(wavefronts - ideal, wavefronts),
            found=f"On average a {per(wavefronts, ideal):.3g}-way conflict: {wavefronts - ideal:,} "
            f"of {plural(wavefronts, 'wavefront')}.",
            do=APART,
            counter="derived__memory_l1_conflicts_shared_nway; not l1tex__data_bank_conflicts…, "
            "which shows conflicts where the addresses have none",
            places=places(trace, sites, ways_note),
        )


def ways_note(site: SiteCount) -> str:
    average = f"{site.wavefronts / site.ideal:.3g}-way"
    worst = f", at worst {site.worst}-way" if site.wavefronts < site.worst * site.ideal else ""
    return f"{site.array}, {site.access}: {average}{worst}"


APART = (
    "Let the threads of a warp use different banks: pad each row by one element, or let neighbors "
    "use neighboring words."
)


def plain_shared(trace: Trace) -> tuple[SiteCount, ...]:
    """Reads and writes: what atomics on shared memory cost is not told by their addresses."""
    return tuple(site for site in trace.select("shared") if site.access != "atomic")


def excess_of(site: SiteCount) -> int:
    """Sectors or wavefronts beyond the ideal."""
    if site.space == "global":
        return max(0, site.sectors - site.ideal_sectors)
    return site.wavefronts - site.ideal


# -- How many threads, and where they find room. Exact.


def launch_sizes(trace: Trace, gpu: GPU) -> Iterator[Finding]:
    threads, blocks = math.prod(trace.block), math.prod(trace.grid)
    warps, rest = -(-threads // WARP), threads % WARP
    if rest:
        yield Finding(
            "Block Size",
            counts=EXACT,
            gain=(1 - rest / WARP) / warps,
            found=f"A block of {plural(threads, 'thread')} is {plural(warps, 'warp')}, the last "
            f"with {rest} of {WARP} threads.",
            do=f"Make the block a multiple of {WARP} threads; 128 to 256 are a good start.",
            counter="launch__block_size",
        )
    if blocks < gpu.multiprocessors:
        yield Finding(
            "Small Grid",
            counts=EXACT,
            gain=(gpu.multiprocessors - blocks) / gpu.multiprocessors,
            found=f"{plural(blocks, 'block')} for {gpu.multiprocessors} multiprocessors: "
            f"{gpu.multiprocessors - blocks} of them have nothing to do.",
            do="Launch more blocks: smaller ones, or less work for each thread.",
            counter="launch__grid_size",
        )


def residence(trace: Trace, gpu: GPU, registers: int | None) -> Iterator[Finding]:
    """The rules that need to know how many blocks a multiprocessor holds at once."""
    registers = registers_of(trace, gpu) if registers is None else registers
    held = occupancy(math.prod(trace.block), registers, shared_of(trace), gpu)
    if not held.blocks:
        raise CannotTell(f"Theoretical Occupancy and Tail Effect: no block fits: {held.reason}.")
    needs = f"{plural(registers, 'register')} a thread and {shared_of(trace):,} bytes of shared "
    yield Finding(
        "Theoretical Occupancy",
        counts=EXACT,
        gain=1 - held.share,
        found=f"{percent(held.share)}, limited by {held.limiter}: a multiprocessor holds "
        f"{plural(held.blocks, 'block')} with {needs}memory a block.",
        do=f"Ask for less of what limits it ({held.limiter}); but fewer warps do no harm where "
        "each keeps enough in flight.",
        counter="sm__maximum_warps_per_active_cycle_pct",
    )
    blocks, wave = math.prod(trace.grid), held.blocks * gpu.multiprocessors
    whole, rest = divmod(blocks, wave)
    if whole and rest:
        yield Finding(
            "Tail Effect",
            counts=EXACT,
            gain=1 / (1 + whole),
            found=f"{plural(blocks, 'block')} are {plural(whole, 'full wave')} of {wave:,}, and a "
            f"last one of {rest:,} that takes as long.",
            do=f"Launch a multiple of {wave:,} blocks, or many more waves.",
            counter="launch__waves_per_multiprocessor",
        )


NEED = "Theoretical Occupancy and Tail Effect need"


def registers_of(trace: Trace, gpu: GPU) -> int:
    """Of each thread, as NVIDIA's compiler has it."""
    if trace.launch is None:
        raise CannotTell(
            f"{NEED} the registers of a thread, and a trace read from JSON holds no kernel to "
            "compile; give registers=…"
        )
    kernel, arguments = trace.launch.function, trace.launch.arguments
    try:
        return assembly(kernel, *arguments, capability=gpu.capability).registers
    except CannotCompile as why:
        raise CannotTell(
            f"{NEED} the registers of a thread; give registers=…, or have them compiled ({why})"
        ) from why


def shared_of(trace: Trace) -> int:
    """Bytes of each block."""
    if trace.launch is not None:
        return trace.launch.shared_bytes
    if trace.select("shared"):
        raise CannotTell(
            f"{NEED} the shared memory of a block, which a trace read from JSON does not hold."
        )
    return 0


# -- What the source says, and the compiler may change. Nearly exact.


def divergence(trace: Trace) -> Iterator[Finding]:
    told = trace.divergence()
    active = WARP * told.efficiency if told.code else WARP
    split = [branch for branch in told.branches if branch.divergent]
    why = "" if split else ": the block's last warp is not full"
    yield Finding(
        "Thread Divergence",
        counts=counts_of(trace, NEARLY),
        gain=1 - active / WARP,
        found=f"On average {active:.3g} of {WARP} threads of a warp are active{why}.",
        do="Let all threads of a warp take the same way: branch on the warp or the block, or sort "
        "the work."
        if split
        else f"Make the block a multiple of {WARP} threads.",
        counter="smsp__thread_inst_executed_per_inst_executed.ratio",
        places=tuple(
            place(trace, branch.function, branch.line, f"{branch.divergent:,} of {times} both ways")
            for branch in sorted(split, key=lambda branch: -branch.divergent)
            for times in [plural(branch.instances, "time")]
        ),
    )


def double_precision(trace: Trace, gpu: GPU) -> Iterator[Finding]:
    double = [count for count in trace.flops_by_line if count[2] in ("float64", "complex128")]
    single = sum(n for *_, kind, n in trace.flops_by_line if kind in ("float32", "complex64"))
    if not double:
        return
    many, singles = sum(n for *_, n in double), max(1, gpu.fp32_lanes // gpu.fp64_lanes)
    meant = not any(caution.kind == "double precision" for caution in trace.warnings)
    yield Finding(
        "FP64/32 Utilization",
        counts=counts_of(trace, NEARLY),
        gain=many / (many + single) * (1 - 1 / singles),
        found=f"{many:,} of {many + single:,} FLOPs are in FP64, of which this GPU does one in the "
        f"time of {singles} in FP32.",
        do="Use float32 where its seven digits are enough."
        if meant
        else "Write the numbers among float32 as float32(…): no array here is double, so an int or "
        "a Python float made these operations so.",
        counter="smsp__sass_thread_inst_executed_op_{dadd,dmul,dfma}_pred_on",
        places=tuple(
            place(trace, function, line, f"{n:,} FLOPs in {kind}")
            for function, line, kind, n in sorted(double, key=lambda count: -count[3])
        ),
    )


# -- Lines.


def places(
    trace: Trace, sites: Iterable[SiteCount], note: Callable[[SiteCount], str]
) -> tuple[Place, ...]:
    """The lines where these sites take too much, the worst one first."""
    lines: dict[tuple[str, int], list[SiteCount]] = defaultdict(list)
    for site in filter(excess_of, sites):
        lines[site.function, site.line].append(site)
    worst = sorted(lines, key=lambda line: -sum(map(excess_of, lines[line])))
    return tuple(place(trace, *line, "; ".join(map(note, lines[line]))) for line in worst)


def place(trace: Trace, function: str, line: int, note: str) -> Place:
    lines, at = trace.source.splitlines(), line - trace.first_line
    here = function == trace.kernel and 0 <= at < len(lines)
    return Place(function, line, lines[at].strip() if here else "", note)
