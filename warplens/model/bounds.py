"""Counts over rates: the time that each part of a GPU would need if it were the only one.

    issue slots       every instruction: four schedulers, one each a clock
    FP32, integer,    the instructions that a unit carries out, over its lanes
    FP64, SFU
    load/store path   requests, the cache lines they name, their wavefronts of 32 banks
    atomics           updates of the element that most blocks update, one after another
    L2, DRAM          sectors, over the bytes per second of a cache or a memory
    latency           in each wave of blocks: they begin, one warp walks through the code, and what
                      they ask for comes from L2
    block starts      blocks, over what the whole GPU begins in a second

A kernel takes about as long as the largest. Rates are those that microbenchmarks and copies have
reached, and counts are of a few blocks: a real kernel may undercut a bound. Where two are almost
equally long they get in each other's way, which the cube root of the sum of cubes (the p-norm with
p = 3) allows for.
"""

from __future__ import annotations

import math

from warplens.report.counts import SECTOR

from .costs import Cost
from .devices import GPU
from .sampling import Footprint, Line, Sample
from .waiting import Wait

# Fitted to te42kyfo/gpu-benches, commit 1c36d509. Clocks to end a block and begin the next: to its
# gpu-stream on a V100 and an A40; on A100, H100 PCIe, H200 and L40 the model is then 10 % off (the
# median). Blocks that a GPU begins in a clock: to gpu-small-kernels in blocks of 32, on an H200 .83
# and on an L40 and an A40 .75.
TURNOVER, STARTS = 275.0, 0.8
# Of its data sheet's rate that a memory reaches where nearly all is read, or all is written: .96 to
# .99 on the V100, A40, A100, H100 PCIe and L40 of gpu-stream, .81 on its H200.
ONE_WAY = 0.97
RESIDENT_IN_L2 = 0.7  # arrays up to this part of L2 are fetched once: assumed


def bounds(gpu: GPU, sample: Sample, cost: Cost, resident: int) -> dict[str, float]:
    """{part: seconds}; resident: the blocks that a multiprocessor holds at a time."""
    # The busiest multiprocessor has a whole number of blocks.
    warps = sample.warps * math.ceil(sample.blocks / gpu.multiprocessors)
    waves = math.ceil(sample.blocks / (gpu.multiprocessors * resident))
    from_l2 = SECTOR * l2_sectors(sample) / gpu.l2_rate
    return {
        **queues(gpu, sample),
        **{part: warps * clocks / gpu.boost for part, clocks in cost.units.items()},
        "L2": from_l2,
        "DRAM": dram_seconds(gpu, sample, resident),
        "latency": waves * (cost.alone + TURNOVER) / gpu.boost + from_l2,
        "block starts": sample.blocks / (STARTS * gpu.boost),
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


def dram_seconds(gpu: GPU, sample: Sample, resident: int) -> float:
    """Half read and half written is slowest: the memory has to turn around."""
    sectors = [0.0, 0.0]
    for footprint in sample.footprints:
        sectors[footprint.access == "read"] += from_dram(gpu, sample, footprint, resident)
    mixed = 2 * min(sectors) / (sum(sectors) or 1.0)
    share = mixed * gpu.dram_share + (1 - mixed) * max(ONE_WAY, gpu.dram_share)
    return SECTOR * sum(sectors) / (gpu.dram_rate * share)


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


def latency(gpu: GPU, sample: Sample, resident: int, line: Line) -> Wait:
    """What a load of global memory waits for: L1, or what is on average L2 or DRAM."""
    footprint = next(
        f for f in sample.footprints if (f.memory, f.access) == (line.memory, line.access)
    )
    missed = min(1.0, footprint.sectors / sample.requested(line.memory, line.access))
    far = from_dram(gpu, sample, footprint, resident) / (sample.blocks * footprint.sectors)
    from_l2 = gpu.l2_latency + min(1.0, far) * (gpu.dram_latency - gpu.l2_latency)
    return Wait(gpu.l1_latency, from_l2, missed)
