"""timings(): the versions of an op, measured so that the numbers can be trusted.

What it does, and why:
  checks every version against float64 before and after timing: a fast wrong answer is no answer;
  alternates two sets of random inputs, so that no version can return what it remembered;
  times sending, the first call (which compiles), computing and fetching apart;
  tries one thread and all of them, and keeps the better: an honest CPU is the best CPU;
  interleaves the versions A B B A in random order: a busy minute then hits them all alike;
  stops when the median is known to 2 % (95 % interval), or at the time budget, and says which.
"""

import math
import time
from dataclasses import dataclass

import numpy as np

from gpulessons import units
from gpulessons.backends import NotHere
from gpulessons.budget import capped, note
from gpulessons.measure.problem import Problem
from gpulessons.measure.results import Absent, Timing
from gpulessons.measure.rounds import LONG, ON_CPU, Run, guarded, interleave, sentence
from gpulessons.operation import as_tuple, find, several, whole


def timings(op, sizes=None, versions=None, *, budget=1.0, cold=False, tell=None):
    """Measure versions of an op at each size; yields a Timing or an Absent for each, one by one.

    budget: seconds for each version at each size. cold: flush the caches before every call. Under
    GPULESSONS_BUDGET (budget.py) the first is capped, though not what counts as too slow to
    measure, and nothing is flushed.
    tell(done, total, words): called as each measurement ends. On Ctrl-C what was measured so far is
    yielded, then KeyboardInterrupt goes on its way.
    """
    if not 0 < budget < math.inf:
        raise ValueError(f"A budget is a number of seconds above 0, not {budget}.")
    spend, cold = capped(budget), cold and not note()  # a flush takes longer than the measurement
    chosen = [find(op, v) for v in several(op.versions if versions is None else versions)]
    sizes = sorted({whole(n) for n in several(op.sizes if sizes is None else sizes)})
    for size in sizes:
        refuse_too_large(op, size)
    progress = Progress(tell, len(sizes) * len(chosen))
    known = {}
    for size in sizes:
        problem = Problem(op, size)
        entries = [prepare(problem, version, known, budget) for version in chosen]
        progress.step(sum(isinstance(entry, Absent) for entry in entries))
        yield from finished(entries, spend, cold, progress)


def finished(entries, budget, cold, progress):
    """Run what can be run, and yield every entry in order, also when interrupted halfway."""
    runs = [entry for entry in entries if isinstance(entry, Run)]
    try:
        interleave(runs, budget, cold, progress)
    except KeyboardInterrupt:
        yield from (result(e, cold) for e in entries if isinstance(e, Absent) or e.samples)
        raise
    yield from (result(entry, cold) for entry in entries)


def result(run, cold):
    """The Timing of a run; or an Absent, when it came to nothing or its last answer was wrong."""
    if isinstance(run, Absent):
        return run
    version, problem = run.version, run.problem
    guarded(run, recheck)
    if run.trouble:
        return absent(problem, version, run.trouble)
    return Timing(
        op=problem.op.name,
        version=version.name,
        backend=version.backend.name,
        size=problem.size,
        samples=tuple(run.samples),
        waits=() if version.backend.name in ON_CPU else tuple(run.waits),
        calls=run.calls,
        threads=run.threads,
        first=run.first,
        send=run.send,
        fetch=run.fetch,
        flops=problem.flops,
        bytes=problem.bytes,
        error=run.error,
        cold=cold,
        stop=run.stop,
    )


# -- Before: can it run here, is it right, is it hopeless?


def prepare(problem, version, known, budget):
    """A Run that is known to give the right answer, or an Absent that says why there is none.

    known: version name -> its Experience so far, brought up to date here.
    """
    if why := version.backend.why_not():
        return absent(problem, version, why)
    try:
        so_far = known.get(version.name) or scout(problem, version, problem.op.sizes[0])
        while so_far.too_short(problem, budget):
            so_far = scout(problem, version, 4 * so_far.size, so_far.first)
        if so_far.hopeless(problem, budget):
            took = units.seconds(so_far.expected(problem))
            return absent(problem, version, f"skipped: one call would take about {took}")
        run = started(problem, version, so_far.first)
        known[version.name] = experience(run)
    except NotHere as why:
        return absent(problem, version, str(why))
    except Exception as trouble:
        return absent(problem, version, sentence(trouble))
    return run


def absent(problem, version, why):
    return Absent(problem.op.name, version.name, version.backend.name, problem.size, why)


@dataclass(frozen=True)
class Experience:
    """How long one call took at one size: what larger sizes are judged by."""

    first: float  # seconds of the very first call
    took: float
    size: int
    work: int

    def expected(self, problem):
        return self.took * problem.work / self.work

    def hopeless(self, problem, budget):
        """Fewer than three calls would fit: no basis for a figure."""
        return self.expected(problem) > budget / 3

    def too_short(self, problem, budget):
        """It may have been launching rather than work: ask a larger size before giving up."""
        quick = self.took < 1e-3 and 4 * self.size < problem.size
        return quick and self.hopeless(problem, budget)


def scout(problem, version, size, first=None):
    """The Experience of this version at some smaller size."""
    return experience(started(Problem(problem.op, min(problem.size, size)), version, first))


def experience(run):
    """The Experience of one call; of the better of two where they are short.

    A neighbor may come in the middle of any one call, and would have the version ruled out.
    """
    took = run.sample(keep=False)
    if took < LONG:
        took = min(took, run.sample(keep=False))
    return Experience(run.first, took, run.problem.size, run.problem.work)


def started(problem, version, first):
    """Send the inputs, make the first calls, check the answers. ValueError if they are wrong."""
    backend = version.backend
    _, send = clocked(backend, lambda: tuple(map(backend.put, problem.inputs[0])))
    sets = [
        (inputs, {"out": out} if version.writes_out else {}) for inputs, out in problem.on(backend)
    ]
    run = Run(problem, version, first or math.nan, send, sets)
    result, once = clocked(backend, lambda: version(*sets[0][0], **sets[0][1]))
    if first is None:
        run.first = once
    refuse_wrong(run, [result, version(*sets[1][0], **sets[1][1])], problem.references)
    _, run.fetch = clocked(backend, lambda: fetched(backend, result))
    return run


def refuse_wrong(run, results, references):
    backend, op, rtol = run.version.backend, run.problem.op, run.version.rtol
    for result, reference in zip(results, references, strict=True):
        error = op.error(fetched(backend, result), reference)
        if not error <= rtol:  # so written that a NaN is refused
            raise WrongAnswer(
                f"off by {error:.2g} where {rtol:.2g} is allowed; check({op.name}, …) says where"
            )
        run.error = max(run.error, error)
    for given, original in zip(run.sets, run.problem.inputs, strict=True):
        pairs = zip(given[0], original, strict=True)
        if not all(np.array_equal(backend.get(now), before) for now, before in pairs):
            raise WrongAnswer("it changed its input in place")


class WrongAnswer(ValueError):
    """A version that does not compute its op."""


def recheck(run):
    """Once more after timing, on inputs swapped under the version's feet."""
    backend, problem = run.version.backend, run.problem
    (inputs, options), fresh = run.sets[0], problem.inputs[1]
    try:
        for place, value in zip(inputs, fresh, strict=True):
            backend.write(place, value)
        result = run.version(*inputs, **options)
        error = problem.op.error(fetched(backend, result), problem.references[1])
    finally:
        for place, value in zip(inputs, problem.inputs[0], strict=True):
            backend.write(place, value)
    if not error <= run.version.rtol:
        raise WrongAnswer(f"off by {error:.2g} after timing, when its inputs had changed")


@dataclass
class Progress:
    """Counts what is done and tells whoever wants to know."""

    tell: object
    total: int
    done: int = 0

    def step(self, by, words=""):
        self.done += by
        if self.tell:
            self.tell(self.done, self.total, words)


def refuse_too_large(op, size):
    """ValueError when a problem would not fit, judged from how its bytes grow at small sizes."""
    small = op.sizes[0]
    if size <= small:
        return
    one, two = (op.bytes(*op.inputs(n)) for n in (small, 2 * small))
    needed = 8 * one * (size / small) ** math.log2(two / one)  # two sets, float64 answers, poison
    free = free_memory()
    if needed > free:
        raise ValueError(
            f"{op.name} at size {units.count(size)} would need some {units.size(needed)} to "
            f"measure and check; {units.size(free)} of memory is free. Choose a smaller size."
        )


def free_memory():
    """Bytes of memory free now; infinity where nothing is installed that could tell."""
    try:
        import psutil
    except ImportError:
        return math.inf
    return psutil.virtual_memory().available


def clocked(backend, action):
    """(what the action returns, seconds until it is really done)"""
    backend.sync()
    began = time.perf_counter()
    result = action()
    backend.sync()
    return result, time.perf_counter() - began


def fetched(backend, result):
    values = tuple(map(backend.get, as_tuple(result)))
    return values[0] if len(values) == 1 else values
