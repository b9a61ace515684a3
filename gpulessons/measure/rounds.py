"""Rounds: versions of an op under the clock in turn, until each is known well enough.

A Run is one version at one size: a Sampler that also checks what it computes. Its methods stand in
the order of its life: begin, warm_up, then take and ended in every round, and at last result.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle, islice
from statistics import median
from typing import Any

import numpy as np

from gpulessons.backends import Backend, any_gpu, host
from gpulessons.hardware import cores, free_memory, machine, thread_choices, threads, timer
from gpulessons.hardware.pools import computed_by_others
from gpulessons.operation import Version, fetched

from .problem import Problem, write_all
from .results import Absent, Timing

ON_CPU = ("host", "torch_cpu")  # backends whose threads and caches are the CPU's
ROUNDS, SECONDS, PRECISION = 10, 0.2, 0.02  # the least number, the least time, the interval's width


class WrongAnswer(ValueError):
    """A version that does not compute its op."""


@dataclass(eq=False)
class Run(timer.Sampler):
    """A version being measured at one size, from its first call to its Timing."""

    problem: Problem
    version: Version
    first: float = math.nan  # seconds of the very first call, if that was at another size
    h2d: float = 0.0
    d2h: float = 0.0
    error: float = 0.0
    sets: list[tuple[tuple, Any]] = field(default_factory=list)  # (inputs, out), used in turn
    bound: list[Callable[[], Any]] = field(default_factory=list)  # the function on each of the sets
    helped: bool = False  # do other threads than the caller's compute, where they may?
    waits: list[float] = field(default_factory=list)
    trouble: str = ""  # what ended it
    stop: str = "interrupted"

    @property
    def on_cpu(self) -> bool:
        return self.version.backend.name in ON_CPU

    def begin(self) -> None:
        """Send the inputs, make the first calls, check the answers. WrongAnswer if they are wrong.

        The true answers come first: what computing them takes is free again when the rest is made.
        """
        backend, version = self.version.backend, self.version
        inputs, references = self.problem.inputs, self.problem.references
        self.h2d = clocked(backend, lambda: list(map(backend.put, inputs[0])))[1]
        self.sets = self.problem.on(backend)
        (one, out), (other, room) = self.sets
        result, first = clocked(backend, lambda: version(*one, out=out))
        if math.isnan(self.first):
            self.first = first
        results = result, version(*other, out=room)  # both, before either is looked at
        for result, reference in zip(results, references, strict=True):
            self.require_right(result, reference, f"; check({version.op.name}, …) says where")
        self.require_inputs_unchanged()
        with version.computing():
            self.bound = [version.bound(*each) for each in self.sets]
        self.d2h = clocked(backend, lambda: fetched(backend, results[0]))[1]

    def require_right(self, result: Any, reference: Any, advice: str) -> None:
        rtol = self.version.rtol
        error = self.version.op.error(fetched(self.version.backend, result), reference)
        if not error <= rtol:  # so written that a NaN is refused
            raise WrongAnswer(f"off by {error:.2g} where {rtol:.2g} is allowed{advice}")
        self.error = max(self.error, error)

    def require_inputs_unchanged(self) -> None:
        get = self.version.backend.get
        for (inputs, _), originals in zip(self.sets, self.problem.inputs, strict=True):
            pairs = zip(inputs, originals, strict=True)
            if not all(np.array_equal(get(now), before) for now, before in pairs):
                raise WrongAnswer("it changed its input in place")

    def sample(self, keep: bool = True) -> float:
        """Time one batch of calls, by the backend's clock and by the caller's."""
        backend = self.version.backend
        calls = list(islice(cycle(self.bound), self.calls))
        with threads(self.threads), self.version.computing():
            backend.sync()
            began, start = time.perf_counter(), backend.mark()
            for call in calls:
                call()
            stop = backend.mark()
            backend.sync()
            waited = time.perf_counter() - began
        seconds = backend.elapsed(start, stop) / self.calls
        if keep:
            self.samples.append(seconds)
            self.waits.append(waited / self.calls)
        return seconds

    def warm_up(self) -> None:
        """Choose threads and batch size, on the very path that will be timed."""
        super().warm_up()
        self.helped = self.on_cpu and self.has_helpers()

    def has_helpers(self) -> bool:
        """Do other threads compute, where they may? Asked of their processor time.

        A caller that spins until a helper gets a core computes too, so a small share is help.
        """
        chosen, self.threads = self.threads, thread_choices()[-1]
        own, others = time.thread_time(), computed_by_others()
        self.sample(keep=False)
        self.threads = chosen
        return computed_by_others() - others > 0.05 * (time.thread_time() - own)

    def take(self, again: bool) -> None:
        self.guarded(lambda: super(Run, self).take(again))

    def ended(self, limit: float) -> bool:
        enough = len(self.samples) >= ROUNDS and self.spent >= SECONDS
        if enough and interval(self.samples) < PRECISION:
            self.stop = "settled"
        elif self.spent >= limit:
            self.stop = "time budget"
        else:
            return bool(self.trouble)
        return True

    def recheck(self) -> None:
        """Once more after timing, the very call that was timed, on inputs swapped under its feet:
        what was made ready for it may depend on where they are, and not on what they are."""
        backend, problem = self.version.backend, self.problem
        (inputs, out), reference = self.sets[0], problem.references[1]
        try:
            write_all(backend, inputs, problem.inputs[1])
            with self.version.computing():
                result = self.bound[0]()
            result = out if result is None else result
            self.require_right(result, reference, " after timing, when its inputs had changed")
        finally:
            write_all(backend, inputs, problem.inputs[0])

    def result(self) -> Timing | Absent:
        """The Timing; or an Absent, when it came to nothing, when its last answer was wrong, or
        when it beats the memory: an error to explain is no figure to draw or to divide by."""
        self.guarded(self.recheck)
        if self.trouble:
            return absent(self.problem, self.version, self.trouble)
        timing = self.timing()
        # A warm one raises no doubt, and may not cost the time that machine() measures.
        doubt = timing.doubt(machine().bandwidth(timing.backend)) if timing.cold else ""
        return absent(self.problem, self.version, doubt) if doubt else timing

    def timing(self) -> Timing:
        problem, version = self.problem, self.version
        return Timing(
            op=problem.op.name,
            version=version.name,
            backend=version.backend.name,
            size=problem.size,
            samples=tuple(self.samples),
            waits=() if self.on_cpu else tuple(self.waits),
            calls=self.calls,
            threads=self.threads if self.helped else None,
            first=self.first,
            h2d=self.h2d,
            d2h=self.d2h,
            flops=problem.flops,
            bytes=problem.bytes,
            error=self.error,
            arithmetic=version.arithmetic,
            cold=bool(self.flush),
            stop=self.stop,
        )

    def guarded(self, action: Callable[[], None]) -> None:
        """Take a step of this run; a version that raises ends its own run and no other."""
        if not self.trouble:
            try:
                action()
            except Exception as trouble:
                self.trouble = sentence(trouble)


def interleave(runs: list[Run], budget: float, cold: bool, advance: Callable[[str], None]) -> None:
    """Warm every run up; then rounds, until each has settled or used up its budget.

    advance(name of the version): called as each run ends. cold: empty the caches before every call,
    where there is the memory for it; a Timing says whether that was so.
    """
    flushing = cache(flusher)  # one for each memory: a ballast is large
    for run in runs:
        run.flush = flushing(host if run.on_cpu else run.version.backend) if cold else None
        run.guarded(run.warm_up)
    timer.interleave(runs, budget, lambda run: advance(run.version.name))


def absent(problem: Problem, version: Version, why: str) -> Absent:
    name, backend = version.name, version.backend.name
    return Absent(problem.op.name, name, backend, problem.size, why, version.arithmetic)


def sentence(trouble: Exception) -> str:
    return f"{type(trouble).__name__}: {trouble}"


def interval(samples: list[float]) -> float:
    """Width of the median's 95 % interval over the median, by order statistics: no distribution."""
    ordered, half = sorted(samples), 0.98 * math.sqrt(len(samples))
    low = max(0, math.floor(len(samples) / 2 - half))
    high = min(len(samples) - 1, math.ceil(len(samples) / 2 + half))
    return (ordered[high] - ordered[low]) / median(ordered)


def flusher(backend: Backend) -> Callable[[], Any] | None:
    """A function that pushes all else out of a backend's caches; None where memory is too short.

    On a CPU as many threads as it has cores read twice the last cache each, and so go through each
    core's own caches too. Reads leave nothing behind that memory would still be writing back while
    the clock runs.
    """
    if backend.name not in ON_CPU and backend.name == "gpu" and any_gpu():
        return None  # what its caches hold, WebGPU does not tell
    if backend.name not in ON_CPU:
        ballast = np.zeros((512 << 20) // 8)  # more than all caches of a GPU hold, whoever made it
        placed = backend.put(ballast)
        return lambda: backend.write(placed, ballast)
    if ballast_bytes() > free_memory() / 4:
        return None
    ballast, number = np.ones(ballast_bytes() // 8), cores()  # zeros would be one page, shared
    starts = [core * len(ballast) // number for core in range(number)]
    pool = ThreadPoolExecutor(number)  # its threads end with the function that is returned

    def sweep(start: int) -> None:
        ballast[start:].max(initial=0)
        ballast[:start].max(initial=0)

    def flush() -> None:
        list(pool.map(sweep, starts))

    return flush


def ballast_bytes() -> int:
    """What a core must read to empty its caches, of which the last is the largest."""
    return 2 * machine().last_cache


def clocked(backend: Backend, action: Callable[[], Any]) -> tuple[Any, float]:
    """(what the action returns, seconds until it is really done)"""
    backend.sync()
    began = time.perf_counter()
    result = action()
    backend.sync()
    return result, time.perf_counter() - began
