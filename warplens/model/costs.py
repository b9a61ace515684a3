"""What an average warp costs each unit of a multiprocessor, in clocks: by machine code, or source.

The machine code says it exactly. Where nothing can read it, the source has to do: its FLOPs in
pairs, its accesses with the instructions that find an address; and nobody knows what the compiler
joined, hoisted or unrolled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warplens.code.sass import Code, Instruction

from .devices import GPU
from .rounds import rounds
from .sampling import WIDTHS, Line, Sample
from .waiting import Wait, walk

SCHEDULERS = 4
# Source alone: instructions to find an address, to ask whether a loop goes on; loads in flight.
INDEXING, LOOPING, IN_FLIGHT = {"global": 4, "shared": 1}, 3, 4
REGISTERS = 40  # of a thread, where no compiler says

Latency = Callable[[Line], Wait]


@dataclass(frozen=True)
class Cost:
    """Clocks of one warp."""

    units: dict[str, float]  # of each unit, were it the only one
    alone: float  # from its first instruction to its last, with a GPU to itself


def from_machine_code(gpu: GPU, sample: Sample, code: Code, latency: Latency) -> Cost:
    iterations = rounds(code, sample)
    count: defaultdict[str, float] = defaultdict(float)
    asked: dict[tuple, float] = defaultdict(float)  # by line, space, access, bytes of a thread
    for instruction, times in zip(code.instructions, iterations, strict=True):
        count[instruction.pipe] += times
        if instruction.space in ("global", "shared"):
            where = instruction.kernel_line, instruction.space, instruction.access
            asked[*where, instruction.bytes] += times
    clocks = unit_clocks(gpu, count) | {"load/store path": path_clocks(gpu, sample, asked)}
    # A warp issues one instruction a clock at best, whatever way through the code was walked.
    alone = max(sum(iterations), walk(code, iterations, clocks_of(gpu, sample, latency)))
    return Cost(clocks, alone)


def from_source(gpu: GPU, sample: Sample, latency: Latency) -> Cost:
    warps = sample.warps * sample.trace.blocks
    count: defaultdict[str, float] = defaultdict(float)
    kinds = {kind for *_, kind, _ in sample.trace.flops_by_line}
    for (_, what), times in sample.trace.launch.log.by_kernel_line.items():
        if what == "flops":  # in pairs: a multiplication and an addition are one instruction
            count["fp64" if kinds == {"float64"} else "fp32"] += times / 2 / warps
    for line in sample.lines:
        count["load/store"] += line.requests
        count["alu"] += INDEXING[line.space] * line.requests
    count["alu"] += LOOPING * sum(b.instances for b in sample.trace.branches) / warps
    clocks = unit_clocks(gpu, count) | {"load/store path": path_clocks(gpu, sample, {})}
    reads = [line for line in sample.lines if line.access == "read"]
    waits = sum(
        line.requests * (gpu.shared_latency if line.space == "shared" else latency(line).beside(0))
        for line in reads
    )
    alone = sum(count.values()) + waits / IN_FLIGHT
    return Cost(clocks, alone)


def unit_clocks(gpu: GPU, count: defaultdict[str, float]) -> dict[str, float]:
    """Clocks of each unit; count: how many instructions an average warp issues to each pipe."""
    multiply_adds = count["fp32"] + count["imad"]
    if gpu.capability in ((8, 6), (8, 9)):  # half of the lanes compute integers as well
        multiply_adds += count["alu"]
    return {
        "issue slots": sum(count.values()) / SCHEDULERS,
        "FP32": 32 * multiply_adds / (gpu.fp32_lanes * gpu.fp32_share),
        "integer": 32 * count["alu"] / gpu.int_lanes,
        "FP64": 32 * count["fp64"] / gpu.fp64_lanes,
        "SFU": 32 * count["sfu"] / gpu.sfu_lanes,
    }


def path_clocks(gpu: GPU, sample: Sample, asked: Mapping[tuple, float]) -> float:
    """Clocks of the load/store path; asked: how often the machine code asks, and for how much."""
    return sum(line_clocks(gpu, line, asked) for line in sample.lines)


def line_clocks(gpu: GPU, line: Line, asked: Mapping[tuple, float]) -> float:
    """Of one line: to issue its requests, look up their cache lines, move wavefronts of 32 banks.

    Global memory too comes out of banks: so the times of te42kyfo/gpu-benches' gpu-strides say.
    """
    where = line.line, line.space, line.access
    moved = {size: n * size for (*at, size), n in asked.items() if tuple(at) == where and n}
    width = line.bytes / line.requests  # as the source asks, where the machine code does not say
    shares = {size: n / sum(moved.values()) for size, n in moved.items()} or {width: 1.0}
    requests = sum(line.bytes * share / size for size, share in shares.items())
    fronts = dict(zip(WIDTHS, line.wavefronts, strict=True))
    busy = sum(fronts[max(4, min(16, int(size)))] * share for size, share in shares.items())
    return max(busy, line.tags * requests / line.requests, requests * 32 / gpu.lsu_lanes)


def clocks_of(gpu: GPU, sample: Sample, latency: Latency) -> Callable[[Instruction], Wait]:
    """What an instruction that uses memory waits for."""
    known: dict[int, Wait] = {}
    for line in sample.lines:
        if line.space == "global" and line.access != "write":
            known[line.line] = max(known.get(line.line, Wait(0.0)), latency(line))

    def clocks(instruction: Instruction) -> Wait:
        if instruction.space == "shared":
            return Wait(gpu.shared_latency)
        if instruction.space == "global":
            return known.get(instruction.kernel_line or 0, Wait(gpu.dram_latency))
        return Wait(gpu.l1_latency)

    return clocks
