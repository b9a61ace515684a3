"""Counts over rates: the time that each part of a GPU would need if it were the only one.

    issue slots       every instruction: four schedulers, one each a clock
    FP32, integer,    the instructions that a unit carries out, over its lanes
    FP64, SFU
    load/store path   requests, the cache lines they name, their bytes; wavefronts of shared memory
    L2, DRAM          sectors, over the bytes per second of a cache or a memory
    latency           one warp's walk through the code, times the waves of blocks

None can be undercut, so a kernel takes at least as long as the largest. Parts get in each other's
way where two are almost equally long, which the cube root of the sum of cubes allows for.
"""

from __future__ import annotations

import math
from collections import Counter

from gpulessons.machine_code.sass import Code, Instruction
from gpulessons.microscope.report.counts import SECTOR

from .devices import GPU
from .sampling import Footprint, Line, Sample
from .waiting import walk

SCHEDULERS = 4
TURNOVER = 800.0  # clocks to end a block and begin the next; fitted, to one published time
LAUNCH = 2.5e-6  # seconds of a launch that nothing hides
RESIDENT_IN_L2 = 0.7  # arrays up to this part of L2 are fetched once
FP64_LANES = {(7, 5): 2, (8, 0): 32, (9, 0): 64}  # CUDA programming guide, arithmetic throughput
OTHER_FP64_LANES = 2
SFU_LANES = 16
SHARED_WIDTHS = (4, 8, 16)


def bounds(
    gpu: GPU, sample: Sample, code: Code, turns: list[float], resident: int
) -> dict[str, float]:
    """{part: seconds}. turns: of each instruction of the code; resident: blocks a multiprocessor
    holds at a time."""
    clocks = pipes(gpu, code, turns) | {"load/store path": load_store(gpu, sample, code, turns)}
    # The busiest multiprocessor has a whole number of blocks.
    warps = sample.warps * math.ceil(sample.blocks / gpu.multiprocessors)
    waves = math.ceil(sample.blocks / (gpu.multiprocessors * resident))
    alone = walk(code, turns, latencies(gpu, sample, resident))
    return {
        **{part: warps * each / gpu.boost for part, each in clocks.items()},
        "L2": SECTOR * l2_sectors(sample) / gpu.l2_rate,
        "DRAM": SECTOR * dram_sectors(gpu, sample, resident) / (gpu.dram_rate * gpu.dram_share),
        "latency": waves * (alone + TURNOVER) / gpu.boost,
    }


def pipes(gpu: GPU, code: Code, turns: list[float]) -> dict[str, float]:
    """Clocks that a warp takes of each unit."""
    count: Counter[str] = Counter()
    for instruction, times in zip(code.instructions, turns, strict=True):
        count[instruction.pipe] += times
    multiply_adds = count["fp32"] + count["imad"]
    if gpu.capability in ((8, 6), (8, 9)):  # half of the lanes compute integers as well
        multiply_adds += count["alu"]
    fp64 = FP64_LANES.get(gpu.capability, OTHER_FP64_LANES)
    return {
        "issue slots": count.total() / SCHEDULERS,
        "FP32": 32 * multiply_adds / (gpu.fp32_lanes * gpu.fp32_share),
        "integer": 32 * count["alu"] / 64,
        "FP64": 32 * count["fp64"] / fp64,
        "SFU": 32 * count["sfu"] / SFU_LANES,
    }


def load_store(gpu: GPU, sample: Sample, code: Code, turns: list[float]) -> float:
    """Clocks that a warp takes of the load/store path."""
    asked: Counter[tuple] = Counter()  # requests of the machine code, by line, space, access, width
    for instruction, times in zip(code.instructions, turns, strict=True):
        if instruction.space in ("global", "shared"):
            where = instruction.kernel_line, instruction.space, instruction.access
            asked[*where, instruction.bytes] += times
    return sum(path_clocks(gpu, line, asked) for line in sample.lines)


def path_clocks(gpu: GPU, line: Line, asked: Counter[tuple]) -> float:
    where = line.line, line.space, line.access
    moved = {size: n * size for (*at, size), n in asked.items() if tuple(at) == where}
    width = sum(moved.values()) / sum(n / size for size, n in moved.items()) if moved else 4
    requests = line.bytes / width * 32 / gpu.lsu_lanes
    if line.space == "shared":
        share = {size: n / sum(moved.values()) for size, n in moved.items()} or {4: 1.0}
        fronts = dict(zip(SHARED_WIDTHS, line.wavefronts, strict=True))
        return max(requests, sum(fronts[max(4, min(16, size))] * n for size, n in share.items()))
    return max(requests, line.tags, SECTOR * line.sectors / gpu.l1_rate)


# -- What comes from further away.


def l2_sectors(sample: Sample) -> float:
    """What all blocks read (each sector once a block: L1 keeps it) and write (each request)."""
    reads = sum(f.sectors for f in sample.footprints if f.access == "read")
    others = sum(
        line.sectors for line in sample.lines if line.space == "global" and line.access != "read"
    )
    return sample.blocks * (reads + sample.warps * others)


def dram_sectors(gpu: GPU, sample: Sample, resident: int) -> float:
    return sum(from_dram(gpu, sample, footprint, resident) for footprint in sample.footprints)


def from_dram(gpu: GPU, sample: Sample, footprint: Footprint, resident: int) -> float:
    """Sectors of an array: of the whole grid each once; again in each wave, where L2 is too small."""
    grid = sample.trace.grid
    once = footprint.union(grid)
    if sample.array_bytes <= RESIDENT_IN_L2 * gpu.l2_bytes:
        return once
    together = gpu.multiprocessors * resident
    if together >= sample.blocks:
        return once
    return max(once, footprint.union(side_by_side(together, grid)) * sample.blocks / together)


def side_by_side(blocks: float, grid: tuple[int, int, int]) -> tuple[float, float, float]:
    """How far along x, y and z so many blocks reach: they start in order, along x first."""
    x = min(blocks, grid[0])
    y = min(max(1.0, blocks / grid[0]), grid[1])
    return x, y, max(1.0, blocks / (grid[0] * grid[1]))


def latencies(gpu: GPU, sample: Sample, resident: int):
    """What a load takes, on average: as much as comes from L1, from L2, from DRAM."""
    share: dict[int, list[float]] = {}
    parts = {(f.array, f.access): f for f in sample.footprints}
    for line in sample.lines:
        if line.space == "global" and line.access != "write":
            footprint = parts[line.array, line.access]
            missed = min(1.0, footprint.sectors / sample.requested(line.array, line.access))
            all_blocks = sample.blocks * footprint.sectors
            far = min(1.0, from_dram(gpu, sample, footprint, resident) / all_blocks)
            clocks = (
                (1 - missed) * gpu.l1_latency
                + missed * (1 - far) * gpu.l2_latency
                + missed * far * gpu.dram_latency
            )
            share.setdefault(line.line, []).append(clocks)

    def latency(instruction: Instruction) -> float:
        if instruction.space == "shared":
            return gpu.shared_latency
        if instruction.space == "global":
            known = share.get(instruction.kernel_line or 0)
            return max(known) if known else gpu.dram_latency
        return gpu.l1_latency

    return latency
