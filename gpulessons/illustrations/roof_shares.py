"""What may stand on a roofline: large sizes, steady times from emptied caches."""

from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

from gpulessons.hardware.budget import note
from gpulessons.hardware.system import free_memory
from gpulessons.measure.results import Timing
from gpulessons.plots.roofline import (
    device,
    is_bound_by_bytes,
    roof,
    roofline,
    under_the_slope,
)  # fmt: skip

MOST, IN_NO_TIME = 2**27, 2**24  # bytes; the second where measuring has next to no time
TRAFFIC = {"total": "read", "triad": "triad", "adam_step": "triad"}


def traffic(op: str) -> str:
    """The ceiling that an op's loads and stores are like: a copy's, unless told."""
    return TRAFFIC.get(op, "copy")


def cold_size(op) -> int:
    """The size at which an op moves cold_bytes(); its bytes must grow with its size."""
    each = op.bytes(*op.inputs(1_000)) / 1_000
    return max(1_000, int(cold_bytes() / each))


def cold_bytes() -> int:
    """128 MiB, less where memory or time is short: caches that hold more are emptied before."""
    return int(min(IN_NO_TIME if note() else MOST, free_memory() / 16))


def sorted_out(runs, machine) -> tuple[list[Timing], list[str]]:
    """(the best timing of each run, on the CPU and on a GPU, as its fastest pass, which is what a
    ceiling is; why not what was left out): noisy, in caches that were not emptied, absent, or
    faster than memory can be for such loads and stores.
    """
    kept, left = [], []
    for run in runs:
        left += [f"{run.op}, {each.version} ({each.why})" for each in run.absent]
        for timing in filter(None, (run.best("host"), run.best("gpu"))):
            why = timing.noise or ("" if timing.cold else "its caches were not emptied")
            why = why or timing.doubt(roof_of(timing, machine)[1])
            if why:
                left.append(f"{timing.op} ({why})")
            else:
                kept.append(replace(timing, samples=(min(timing.samples),)))
    return kept, left


def roof_of(timing, machine):
    """(FLOP/s, bytes/s) that are there for an op's kind of traffic."""
    return roof(machine, timing.backend, traffic(timing.op))


def raised(machine, timings):
    """The machine, none of whose ceilings is below what these times reached: a ceiling is the best
    that was seen, and these were seen, too."""
    seen = dict(machine.ceilings)
    for timing in timings:
        place = device(timing.backend).replace("CPU", "host").lower()
        by_bytes = is_bound_by_bytes(timing, *roof_of(timing, machine))
        name = f"{place} {traffic(timing.op) if by_bytes else 'float32'}"
        seen[name] = max(seen.get(name, 0), timing.bandwidth if by_bytes else timing.flop_rate)
    return replace(machine, ceilings=seen)


class Elsewhere(NamedTuple):
    """A time on a card that is not here, as a roofline takes it; modelled ones have an interval."""

    op: str
    flops: float
    bytes: float
    median: float
    low: float | None = None
    high: float | None = None
    backend, noise = "gpu", ""

    @property
    def kind(self) -> str:
        return "modelled" if self.high else "published"

    @property
    def bandwidth(self) -> float:
        return self.bytes / self.median

    @property
    def flop_rate(self) -> float:
        return self.flops / self.median


def on_card(gpu, peak: float, points):
    """The roofline of a card by its data sheet, with what others timed, or a model says, on it."""
    card = SimpleNamespace(name=gpu.name, bandwidth=lambda backend: gpu.dram_rate,
                           ceiling=lambda backend, what: peak if what == "float32" else None)
    points = [one._replace(low=max(one.low, one.flops / peak, one.bytes / gpu.dram_rate))
              if one.low else one for one in points]  # an interval ends at the roof
    said = under_the_slope([(point, (peak, gpu.dram_rate)) for point in points])
    return roofline(card, points, title=f"{gpu.name}, by its data sheet: {said}")
