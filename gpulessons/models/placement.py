"""Where should the table lie? A model of one step: bytes over bandwidths, and FLOPs over a rate.

    rows moved    lookups × width × 4 bytes; gathered once, and read and written in the update:
                  three times in all. Hot ones are found in a cache and cost nothing
    journey       a latency each way, and the bags and their gradient over the link
    dense         FLOPs over FLOP/s

    all CPU       rows at the CPU's pace + dense at the CPU's
    all GPU       the ids' journey + rows and dense at the GPU's pace
    hybrid        rows on the CPU and journey + dense on the GPU, at once: the slower of both

All GPU is ∞ where the table has no room in its memory.

Nothing here is measured but what the caller puts in; launches, the network's memory and what a
framework adds are left out. Bandwidth at random is no bandwidth in order: take what gathering
and updating rows took.
"""

import math
from dataclasses import dataclass, replace

PASSES = 3  # gather; and the update's reading and writing


@dataclass(frozen=True)
class Step:
    """A batch of a recommendation's training step, and the machine that it runs on."""

    rows: float  # of the table
    width: int  # numbers in a row
    per_example: int  # ids
    examples: int  # in the batch
    hot: float  # share of the lookups that a cache answers, 0 to 1
    cpu_bandwidth: float  # bytes/s of rows at random
    cpu_flops: float  # FLOP/s
    gpu_bandwidth: float
    gpu_flops: float
    gpu_memory: float  # bytes
    link_bandwidth: float  # bytes/s, each way
    link_latency: float  # seconds, each way
    flops: float  # of the network for one example, forward and backward

    @property
    def row_bytes(self):
        """What the step moves of the table."""
        lookups = self.examples * self.per_example * (1 - self.hot)
        return PASSES * lookups * 4 * self.width

    def journey(self, numbers):
        """Seconds until so many numbers of each example are at the other end."""
        return self.link_latency + 4 * numbers * self.examples / self.link_bandwidth


def step_seconds(step):
    """{placement: seconds of one step}, modelled; ∞ without room."""
    work = step.examples * step.flops
    sparse = step.row_bytes / step.cpu_bandwidth
    away = 2 * step.journey(step.width) + work / step.gpu_flops
    there = step.journey(step.per_example) + step.row_bytes / step.gpu_bandwidth
    return {
        "all CPU": sparse + work / step.cpu_flops,
        "all GPU": there + work / step.gpu_flops if step.rows <= largest_rows(step) else math.inf,
        "hybrid": max(sparse, away),
    }


def largest_rows(step):
    """The rows of the largest table that fits the GPU: a row is its numbers and a moment."""
    return math.floor(step.gpu_memory / (4 * (step.width + 1)))


def break_even(step):
    """The link's bandwidth, bytes/s, from which the hybrid beats all CPU; ∞ where none does."""
    best = step_seconds(replace(step, link_bandwidth=math.inf))
    if best["hybrid"] >= best["all CPU"]:
        return math.inf
    free = best["all CPU"] - 2 * step.link_latency - step.examples * step.flops / step.gpu_flops
    return 2 * 4 * step.width * step.examples / free
