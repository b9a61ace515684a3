"""Counts over rates: the time that each part of a GPU would need if it were the only one.

    issue slots       every instruction: four schedulers, one each a clock
    FP32, integer,    the instructions that a unit carries out, over its lanes
    FP64, SFU
    load/store path   requests, the cache lines they name, their wavefronts of 32 banks
    atomics           updates of the element that most blocks update, one after another
    L2, DRAM          sectors, over the bytes per second of a cache or a memory
    latency           one warp's walk through the code, times the waves of blocks

A kernel takes about as long as the largest. Rates are those that microbenchmarks and copies have
reached, and counts are of a few blocks: a real kernel may undercut a bound by a little. Where two
are almost equally long they get in each other's way, which the cube root of the sum of cubes (the
p-norm with p = 3) allows for.
"""

from __future__ import annotations

import math

from warplens.report.counts import SECTOR

from .costs import Cost
from .devices import GPU
from .sampling import Footprint, Line, Sample

TURNOVER = 800.0  # clocks to end a block and begin the next; fitted, to one published time
RESIDENT_IN_L2 = 0.7  # arrays up to this part of L2 are fetched once: assumed


def bounds(gpu: GPU, sample: Sample, cost: Cost, resident: int) -> dict[str, float]:
    """{part: seconds}; resident: the blocks that a multiprocessor holds at a time."""
    # The busiest multiprocessor has a whole number of blocks.
    warps = sample.warps * math.ceil(sample.blocks / gpu.multiprocessors)
    waves = math.ceil(sample.blocks / (gpu.multiprocessors * resident))
    return {
        **queues(gpu, sample),
        **{part: warps * clocks / gpu.boost for part, clocks in cost.units.items()},
        "L2": SECTOR * l2_sectors(sample) / gpu.l2_rate,
        "DRAM": SECTOR * dram_sectors(gpu, sample, resident) / (gpu.dram_rate * gpu.dram_share),
        "latency": waves * (cost.alone + TURNOVER) / gpu.boost,
    }


def queues(gpu: GPU, sample: Sample) -> dict[str, float]:
    """Where blocks update one element of global memory: one update a clock, assumed."""
    longest = max((x.queue for x in sample.lines if x.space == "global"), default=0.0)
    return {"atomics": sample.blocks * longest / gpu.boost} if longest else {}


def l2_sectors(sample: Sample) -> float:
    """What all blocks read (each sector once a block: L1 keeps it) and write (at each request)."""
    read = sum(f.sectors for f in sample.footprints if f.access == "read")
    asked = [x.sectors for x in sample.lines if x.space == "global" and x.access != "read"]
    return sample.blocks * (read + sample.warps * sum(asked))


def dram_sectors(gpu: GPU, sample: Sample, resident: int) -> float:
    return sum(from_dram(gpu, sample, footprint, resident) for footprint in sample.footprints)


def from_dram(gpu: GPU, sample: Sample, footprint: Footprint, resident: int) -> float:
    """Sectors of an array: of the whole grid once; in each wave anew, where L2 cannot keep them."""
    grid, together = sample.trace.grid, gpu.multiprocessors * resident
    once = footprint.union(grid)
    if sample.array_bytes <= RESIDENT_IN_L2 * gpu.l2_bytes or together >= sample.blocks:
        return once
    return max(once, footprint.union(reach(together, grid)) * sample.blocks / together)


def reach(blocks: float, grid: tuple[int, int, int]) -> tuple[float, float, float]:
    """How far along x, y and z so many blocks reach: they begin in order, along x first."""
    x, y, _ = grid
    return min(blocks, x), min(max(1.0, blocks / x), y), max(1.0, blocks / (x * y))


def latency(gpu: GPU, sample: Sample, resident: int, line: Line) -> float:
    """Clocks of a load of global memory, on average: some of it is in L1, some in L2."""
    footprint = next(
        f for f in sample.footprints if (f.memory, f.access) == (line.memory, line.access)
    )
    missed = min(1.0, footprint.sectors / sample.requested(line.memory, line.access))
    far = from_dram(gpu, sample, footprint, resident) / (sample.blocks * footprint.sectors)
    from_l2 = gpu.l2_latency + min(1.0, far) * (gpu.dram_latency - gpu.l2_latency)
    return (1 - missed) * gpu.l1_latency + missed * from_l2
