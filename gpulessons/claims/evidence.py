"""Where a verdict's figures come from: measured here, recorded elsewhere, published, counted."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from typing import Any

from gpulessons.hardware import gpu_count
from gpulessons.hardware.budget import repeated
from gpulessons.measure.recordings import Recording, shipped
from gpulessons.measure.results import TOO_NOISY, Comparison, Timing, quartiles
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


def paired(what: str, calls: Mapping[str, Callable[[], Any]], seconds: float = SECONDS) -> Figure:
    """How many times as long the first of two calls takes as the second, live, timed in turn; none
    where the rounds' middle half is too far apart."""
    slow, fast = (spread.samples for _, spread in alternate(calls, seconds))
    each = [a / b for a, b in zip(slow, fast, strict=False)]
    (low, high), middle = quartiles(each), median(each)
    if high - low > TOO_NOISY * middle:
        return missing(what, "the machine was too noisy", QUIET)
    return live(what, middle, "×", (low, high))


def cores_at_work(what: str, *calls: Callable[[], Any], rounds: int = 10) -> Figure:
    """How many cores were at work while threads ran these calls at the same time: processor time
    over time, in the round in which most were."""
    found = []
    with ThreadPoolExecutor(len(calls)) as pool:
        for _ in range(repeated(rounds)):
            began, worked = time.perf_counter(), time.process_time()
            list(pool.map(lambda call: call(), calls))
            found.append((time.process_time() - worked) / (time.perf_counter() - began))
    return live(what, max(found))


def from_memory(what: str, op: Op, *versions: str, size: int = 2**22, cold: bool = True) -> Figure:
    """Bytes per second of the best of these versions in its quickest pass: others on the machine
    only lengthen one. cold: over numbers that no cache holds."""
    best = (found := compared(op, size, versions, cold=cold)).best()
    if best is None:
        return missing(what, found.absent[0].why)
    if best.noise == "too noisy":
        return missing(what, "the machine was too noisy", QUIET)
    return live(what, best.bytes / min(best.samples), "B/s")


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
    unless given. wait: by what the caller waits, launch and sync included, not by the GPU's clock.
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
