"""timings(): the versions of an op, measured so that the numbers can be trusted.

What it does, and why:
  checks every version against float64 before and after timing: a fast wrong answer is no answer;
  alternates two sets of random inputs, so that no version can return what it remembered;
  times sending, the first call (which compiles), computing and fetching apart;
  tries one thread and all of them, and keeps the better: an honest CPU is the best CPU;
  interleaves the versions A B B A in random order: a busy minute then hits them all alike;
  stops when the median is known to 2 % (95 % interval), or at the time budget, and says which.

Here it is decided what is measured; how, in `rounds`, by a Run.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpulessons import units
from gpulessons.backends import NotHere
from gpulessons.hardware import free_memory
from gpulessons.hardware.budget import capped, note
from gpulessons.hardware.compiled import WHY_NOT, waits_for_numba
from gpulessons.hardware.timer import LONG, Advance
from gpulessons.operation import Op, Version, find, several, whole

from .problem import Problem
from .results import Absent, Timing
from .rounds import Run, absent, interleave, sentence


def timings(
    op: Op, sizes: Any = None, versions: Any = None, *, budget: float = 1.0, cold: bool = False,
    advance: Advance | None = None,
) -> Iterator[Timing | Absent]:  # fmt: skip
    """Measure versions of an op at each size; yields a Timing or an Absent for each, one by one.

    budget: seconds for each version at each size. cold: empty the caches before every call, where
    there is the memory for it. Under GPULESSONS_BUDGET the first is capped, though not what counts
    as too slow to measure, and no cache is emptied.
    advance(done, total, words): called as each measurement ends. On Ctrl-C what was measured so far
    is yielded, then KeyboardInterrupt goes on its way.
    """
    if not 0 < capped(budget) < math.inf:  # which refuses a limit that is none, too
        raise ValueError(f"A budget is a number of seconds above 0, not {budget}.")
    cold = cold and not note()  # a flush takes longer than the measurement
    chosen = [find(op, v) for v in several(op.versions if versions is None else versions)]
    sizes = sorted({whole(n) for n in several(op.sizes if sizes is None else sizes)})
    for size in sizes:
        check_too_large(op, size)
    for version in chosen:
        version.backend.why_not()  # may import a library, whose frames linger: not with our arrays
    progress = Progress(advance, len(sizes) * len(chosen))
    known: dict[str, Experience] = {}
    for size in sizes:
        yield from at_one_size(Problem(op, size), chosen, known, budget, cold, progress)


def at_one_size(
    problem: Problem, chosen: list[Version], known: "dict[str, Experience]", budget: float,
    cold: bool, progress: "Progress",
) -> Iterator[Timing | Absent]:  # fmt: skip
    """Run what can be run, and yield every entry in order, also when interrupted halfway.

    known: version name -> its Experience so far, brought up to date here. A function of its own, so
    that the arrays of one size are gone before those of the next are made.
    """
    entries = [prepare(problem, version, known, budget) for version in chosen]
    runs = [entry for entry in entries if isinstance(entry, Run)]
    progress.step(by=len(entries) - len(runs))
    try:
        interleave(runs, capped(budget), cold, progress.step)
    except KeyboardInterrupt:
        yield from (result(e) for e in entries if isinstance(e, Absent) or e.samples)
        raise
    yield from map(result, entries)


def result(entry: Run | Absent) -> Timing | Absent:
    return entry if isinstance(entry, Absent) else entry.result()


# -- Before: can it run here, is it right, would it take too long?


def prepare(
    problem: Problem, version: Version, known: "dict[str, Experience]", budget: float
) -> Run | Absent:
    """A Run that has begun, and so gives the right answer; or an Absent that says why not."""
    if why := version.backend.why_not():
        return absent(problem, version, why)
    if waits_for_numba(version.function):
        return absent(problem, version, WHY_NOT)
    try:
        so_far = known.get(version.name) or pilot_run(problem, version, problem.op.sizes[0])
        while so_far.too_short(problem, budget):
            so_far = pilot_run(problem, version, 4 * so_far.size, so_far.first)
        if so_far.too_long(problem, budget):
            took = units.seconds(so_far.expected(problem))
            return absent(problem, version, f"skipped: one call would take about {took}")
        run = Run(problem, version, so_far.first)
        run.begin()
        known[version.name] = experience(run)
    except NotHere as why:
        return absent(problem, version, str(why))
    except Exception as trouble:
        return absent(problem, version, sentence(trouble))
    return run


@dataclass(frozen=True)
class Experience:
    """How long one call took at one size: what larger sizes are judged by."""

    first: float  # seconds of the very first call
    took: float
    size: int
    work: int

    def expected(self, problem: Problem) -> float:
        return self.took * problem.work / self.work

    def too_long(self, problem: Problem, budget: float) -> bool:
        """Fewer than three calls would fit: no basis for a figure."""
        return self.expected(problem) > budget / 3

    def too_short(self, problem: Problem, budget: float) -> bool:
        """It may have been launching rather than work: ask a larger size before giving up."""
        quick = self.took < 1e-3 and 4 * self.size < problem.size
        return quick and self.too_long(problem, budget)


def pilot_run(problem: Problem, version: Version, size: int, first: float = math.nan) -> Experience:
    """The Experience of this version at some smaller size."""
    run = Run(problem.smaller(size), version, first)
    run.begin()
    return experience(run)


def experience(run: Run) -> Experience:
    """The Experience of one call; of the better of two where they are short.

    A neighbor may come in the middle of any one call, and would have the version ruled out.
    """
    took = run.sample(keep=False)
    if took < LONG:
        took = min(took, run.sample(keep=False))
    return Experience(run.first, took, run.problem.size, run.problem.work)


@dataclass
class Progress:
    """Counts what is done and tells whoever wants to know."""

    advance: Advance | None
    total: int
    done: int = 0

    def step(self, words: str = "", by: int = 1) -> None:
        self.done += by
        if self.advance:
            self.advance(self.done, self.total, words)


def check_too_large(op: Op, size: int) -> None:
    """ValueError when a problem would not fit, judged from how its arrays grow at small sizes."""
    small = op.sizes[0]
    if size <= small:
        return
    one, two = (op.footprint(*op.inputs(n)) for n in (small, 2 * small))
    needed = 8 * one * (size / small) ** math.log2(two / one)  # two sets, float64 answers, poison
    free = free_memory()
    if needed > free:
        raise ValueError(
            f"{op.name} at size {units.count(size)} would need some {units.size(needed)} to "
            f"measure and check; {units.size(free)} of memory is free. Choose a smaller size."
        )
