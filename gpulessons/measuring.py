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
from functools import cached_property

import numpy as np
import psutil

from gpulessons import units
from gpulessons.operation import as_tuple, find, whole
from gpulessons.rounds import Run, interleave
from gpulessons.timing import Absent, Timing


def timings(op, sizes=None, versions=None, *, budget=1.0, cold=False, tell=None):
    """Measure versions of an op at each size; yields a Timing or an Absent for each, one by one.

    budget: seconds for each version at each size. cold: flush the caches before every call.
    tell(done, total, words): called as each measurement ends. On Ctrl-C what was measured so far is
    yielded, then KeyboardInterrupt goes on its way.
    """
    chosen = [find(op, version) for version in versions or op.versions]
    sizes = sorted({whole(size) for size in sizes or op.sizes})
    for size in sizes:
        refuse_too_large(op, size)
    progress = Progress(tell, len(sizes) * len(chosen))
    scouted = {}
    for size in sizes:
        problem = Problem(op, size)
        entries = [prepare(problem, version, scouted, budget) for version in chosen]
        progress.step(sum(isinstance(entry, Absent) for entry in entries))
        yield from finished(entries, budget, cold, progress)


def finished(entries, budget, cold, progress):
    """Run what can be run, and yield every entry in order, also when interrupted halfway."""
    runs = [entry for entry in entries if isinstance(entry, Run)]
    try:
        interleave(runs, budget, cold, progress)
    except KeyboardInterrupt:
        yield from (result(run, cold) for run in runs if run.samples)
        raise
    yield from (result(e, cold) if isinstance(e, Run) else e for e in entries)


@dataclass
class Problem:
    """Two sets of inputs of one size, their true answers, and their arrays on each backend."""

    op: object
    size: int

    @cached_property
    def inputs(self):
        return [self.op.inputs(self.size, seed) for seed in (1, 2)]

    @cached_property
    def references(self):
        return [self.op.reference(*inputs) for inputs in self.inputs]

    @cached_property
    def bytes(self):
        return self.op.bytes(*self.inputs[0])

    @cached_property
    def flops(self):
        return int(self.op.flops(*self.inputs[0]))

    @property
    def work(self):
        return max(self.bytes, self.flops)

    @cached_property
    def _placed(self):
        return {}

    def on(self, backend):
        """(inputs, outputs) on a backend, shared by all its versions; the outputs hold poison."""
        if backend not in self._placed:
            inputs = [tuple(map(backend.put, inputs)) for inputs in self.inputs]
            outs = [self.poisoned(backend) for _ in self.inputs]
            self._placed[backend] = inputs, outs
        return self._placed[backend]

    def poisoned(self, backend):
        """Outputs full of NaN (or the lowest integer): a version must overwrite every one."""
        outs = tuple(backend.put(poison(*kind)) for kind in self.op.outputs(*self.inputs[0]))
        return outs[0] if len(outs) == 1 else outs


def result(run, cold):
    """The Timing of a run; or an Absent, when its last answers were wrong after all."""
    version, problem = run.version, run.problem
    if trouble := recheck(run):
        return Absent(problem.op.name, version.name, version.backend.name, problem.size, trouble)
    on_cpu = version.backend.name in ("host", "torch_cpu")
    return Timing(
        op=problem.op.name,
        version=version.name,
        backend=version.backend.name,
        size=problem.size,
        samples=tuple(run.samples),
        waits=() if on_cpu else tuple(run.waits),
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


def prepare(problem, version, scouted, budget):
    """A Run that is known to give the right answer, or an Absent that says why there is none."""

    def absent(why):
        return Absent(problem.op.name, version.name, version.backend.name, problem.size, why)

    if why := version.backend.why_not():
        return absent(why)
    try:
        if version.name not in scouted:
            scouted[version.name] = scout(problem, version)
        first, per_work = scouted[version.name]
        expected = per_work * problem.work
        if expected > budget / 3:  # fewer than three calls would fit: no basis for a figure
            return absent(f"skipped: one call would take about {units.seconds(expected)}")
        run = started(problem, version, first)
        scouted[version.name] = first, run.samples.pop() / problem.work
        return run
    except Exception as trouble:
        return absent(f"{type(trouble).__name__}: {trouble}")


def scout(problem, version):
    """(seconds of the first call, seconds per unit of work), from the op's smallest size."""
    small = Problem(problem.op, min(problem.size, problem.op.sizes[0]))
    run = started(small, version, None)
    return run.first, run.samples[-1] / small.work


def started(problem, version, first):
    """Send the inputs, make the first calls, check the answers. ValueError if they are wrong."""
    backend = version.backend
    _, send = clocked(backend, lambda: tuple(map(backend.put, problem.inputs[0])))
    inputs, outs = problem.on(backend)
    sets = [
        (given, {"out": out} if version.writes_out else {})
        for given, out in zip(inputs, outs, strict=True)
    ]
    run = Run(problem, version, first or math.nan, send, sets)
    result, once = clocked(backend, lambda: version(*sets[0][0], **sets[0][1]))
    if first is None:
        run.first = once
    refuse_wrong(run, [result, version(*sets[1][0], **sets[1][1])], problem.references)
    _, run.fetch = clocked(backend, lambda: fetched(backend, result))
    run.sample()
    return run


def refuse_wrong(run, results, references):
    backend, op = run.version.backend, run.problem.op
    for result, reference in zip(results, references, strict=True):
        run.error = max(run.error, op.error(fetched(backend, result), reference))
        if not run.error <= op.rtol:  # so written that a NaN is refused
            raise WrongAnswer(
                f"off by {run.error:.2g} where {op.rtol:.2g} is allowed; "
                f"check({op.name}, …) says where"
            )
    for given, original in zip(run.sets, run.problem.inputs, strict=True):
        pairs = zip(given[0], original, strict=True)
        if not all(np.array_equal(backend.get(now), before) for now, before in pairs):
            raise WrongAnswer("it changed its input in place")


class WrongAnswer(ValueError):
    """A version that does not compute its op."""


def recheck(run):
    """Check again after timing, on inputs swapped under the version's feet. "" when right."""
    backend, problem = run.version.backend, run.problem
    (inputs, options), fresh = run.sets[0], problem.inputs[1]
    try:
        for place, value in zip(inputs, fresh, strict=True):
            backend.write(place, value)
        if options:
            options = {"out": problem.poisoned(backend)}
        result = run.version(*inputs, **options)
        error = problem.op.error(fetched(backend, result), problem.references[1])
    finally:
        for place, value in zip(inputs, problem.inputs[0], strict=True):
            backend.write(place, value)
    if not error <= problem.op.rtol:
        return f"it remembered an old answer: off by {error:.2g} when its inputs changed"
    return ""


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
    free = psutil.virtual_memory().available
    if needed > free:
        raise ValueError(
            f"{op.name} at size {units.count(size)} would need some {units.size(needed)} to measure "
            f"and check; {units.size(free)} of memory is free. Choose a smaller size."
        )


def poison(shape, dtype):
    worst = np.nan if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min
    return np.full(shape, worst, dtype)


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
