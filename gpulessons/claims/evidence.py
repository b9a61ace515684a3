"""Where a verdict's figures come from: measured here, recorded elsewhere, published, counted."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gpulessons.hardware import gpu_count
from gpulessons.measure.recordings import Recording, shipped
from gpulessons.measure.results import (
    TOO_NOISY,
    Comparison,
    Ratio,
    Timing,
    quartiles,
)  # fmt: skip
from gpulessons.measure.timings import timings
from gpulessons.measure.turns import alternate
from gpulessons.operation import Op

from .claim import A_GPU, QUIET, Figure

SECONDS = 0.3  # for each version at each size: twenty-seven claims are to take three minutes


@dataclass(frozen=True)
class Given:
    """What comes from elsewhere: recordings beside the shipped ones, devices with your prices."""

    recordings: tuple[Recording, ...] = ()
    devices: tuple[Any, ...] = ()

    def of(self, op: Op) -> list[Comparison]:
        """Every recorded comparison of an op, those given first."""
        given = (one for recording in self.recordings for one in recording.of(op.name))
        return [*given, *shipped(op.name)]


def live(what: str, value: float, unit: str = "", spread: Any = None, **more: Any) -> Figure:
    return Figure(what, value, unit, "live", spread=spread, **more)


def counted(what: str, value: float, unit: str = "") -> Figure:
    """A count of the microscope's, or of operations and bytes: exact, and no time."""
    return Figure(what, value, unit, "counted")


def modelled(what: str, value: float | None, unit: str = "", **more: Any) -> Figure:
    return Figure(what, value, unit, "modelled", **more)


def published(what: str, value: float, unit: str, where: str, of_gpu: bool = True) -> Figure:
    return Figure(what, value, unit, "published", where, of_gpu=of_gpu)


def missing(what: str, why: str, lacks: str = "") -> Figure:
    """No figure; why not, and what it would take: A_GPU, PRICES, A_SECOND_CORE or QUIET."""
    return Figure(what, None, why=why, lacks=lacks)


def compared(
    op: Op, size: Any, versions: Sequence[str] | None = None, *, seconds: float = SECONDS,
    cold: bool = False,
) -> Comparison:  # fmt: skip
    """Versions of an op timed in turn, here and now."""
    found = tuple(timings(op, size, versions, budget=seconds, cold=cold))
    return Comparison(op.name, found, "here", "now", unit=op.unit)


def figure_of(what: str, factor: Ratio) -> Figure:
    """A ratio as a figure; where the machine was too noisy, or a version absent, none."""
    if factor.refused:
        return missing(what, factor.refused, "" if math.isnan(factor.median) else QUIET)
    return live(what, factor.median, "×", (factor.low, factor.high))


def in_turn(
    calls: Mapping[str, Callable[[], Any]], seconds: float = SECONDS
) -> dict[str, tuple[float, ...]]:
    """{name: seconds, time after time} of calls that are no versions of an op, and take turns."""
    return {name: spread.samples for name, spread in alternate(calls, seconds)}


def factors(slow: Sequence[float], fast: Sequence[float]) -> list[float]:
    """How many times as long one took as the other, round by round."""
    return [a / b for a, b in zip(slow, fast, strict=False)]


def paired(what: str, slow: Sequence[float], fast: Sequence[float]) -> Figure:
    """The same as a figure; none where the rounds' middle half is too far apart."""
    each = factors(slow, fast)
    (low, high), middle = quartiles(each), median(each)
    noisy = "the machine was too noisy" * (high - low > TOO_NOISY * middle)
    return figure_of(what, Ratio(middle, low, high, noisy))


def share(rest: Sequence[float], whole: Sequence[float]) -> float:
    """The share of the whole's time that the rest does not take."""
    return max(0.0, 1 - median(factors(rest, whole)))


def ratio_of_calls(
    what: str, calls: Mapping[str, Callable[[], Any]], seconds: float = SECONDS
) -> Figure:
    """How many times as long the first of two calls takes as the second, live, timed in turn."""
    return paired(what, *in_turn(calls, seconds).values())


def from_gpu(
    given: Given, what: str, op: Op, read: Callable[[Comparison], float], *, unit: str = "×",
    size: Any = None, versions: Sequence[str] | None = None, seconds: float = SECONDS,
) -> Figure:  # fmt: skip
    """A number read off timings of a GPU: measured here where there is one, else recorded.

    read(comparison) raises LookupError, with its reason, where what it looks for was not timed.
    """
    why, lacks = f"no GPU, and no recording of {op.name} from one", A_GPU
    if gpu_count():
        here = compared(op, size, versions, seconds=seconds)
        try:
            return live(what, read(here), unit, of_gpu=True)
        except LookupError as trouble:
            why, lacks = f"with the GPU: {trouble.args[0]}", ""
    for recording in given.of(op):
        try:
            value = read(recording)
        except LookupError:
            continue
        where = f"{recording.machine}, {recording.date}"
        return Figure(what, value, unit, "recorded", where, of_gpu=True)
    return missing(what, why, lacks)


def gpu_over_cpu(
    comparison: Comparison, *, size: int | None = None, wait: bool = False
) -> float:  # fmt: skip
    """How many times the best GPU version is as fast as the best CPU one, at the largest size
    unless told. wait: by what the caller waits, launch and sync included, not by the GPU's clock.
    What rounds more than the op is left out.
    """
    size = max(comparison.sizes, default=0) if size is None else size

    def best(*backends: str) -> float:
        here = [t for t in comparison.timings if t.size == size and t.backend in backends]
        fits = [timing for timing in here if not timing.arithmetic]
        if not fits:
            raise LookupError("timed on one of CPU and GPU only")
        return min(each.wait if wait else each.median for each in fits)

    return best("host", "torch_cpu") / best("gpu", "torch_gpu")


def timed(comparison: Comparison, version: str, size: int | None = None) -> Timing:
    """The timing of one version; LookupError, with its reason, where it has none."""
    entry = comparison.at(version, size)
    if not isinstance(entry, Timing):
        raise LookupError(f"{version}: {entry.why}")
    return entry
