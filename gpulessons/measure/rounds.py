"""Rounds: versions taking turns under the clock, until each is known well enough."""

import gc
import itertools
import math
import random
import time
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from gpulessons.hardware import machine, thread_choices, threads
from gpulessons.operation import Version

SAMPLE = 2e-3  # seconds: calls shorter than this are batched, so the timer's 0.1 µs vanishes
LONG = 0.05  # seconds: beside this, waking threads up is nothing
ON_CPU = ("host", "torch_cpu")  # backends whose threads and caches are the CPU's
ROUNDS, SECONDS, PRECISION = 10, 0.2, 0.02  # the least number, the least time, the interval's width


@dataclass
class Run:
    """A version being measured at one size."""

    problem: object  # its inputs and references
    version: Version
    first: float
    send: float
    sets: list  # of (inputs, options): what each call is given, in turn
    fetch: float = 0.0
    error: float = 0.0
    calls: int = 1
    threads: int = 1
    samples: list = field(default_factory=list)
    waits: list = field(default_factory=list)
    spent: float = 0.0  # seconds of the caller's time, flushing included
    trouble: str = ""  # what ended it
    stop: str = "interrupted"

    def sample(self, keep=True):
        """Time one batch of calls, by the backend's clock and by the caller's."""
        backend, function = self.version.backend, self.version.function
        turns = list(itertools.islice(itertools.cycle(self.sets), self.calls))
        with threads(self.threads):
            backend.sync()
            began, start = time.perf_counter(), backend.mark()
            for inputs, options in turns:
                function(*inputs, **options)
            stop = backend.mark()
            backend.sync()
            waited = time.perf_counter() - began
        seconds = backend.elapsed(start, stop) / self.calls
        if keep:
            self.samples.append(seconds)
            self.waits.append(waited / self.calls)
        return seconds


def interleave(runs, budget, cold, progress):
    """Rounds of A B B A in random order, until every run has settled or used up its budget."""
    flushes = {run.version.backend: flusher(run.version.backend) for run in runs if cold}
    for run in runs:
        guarded(run, settle_down, cold)
    active, order = list(runs), random.Random(0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        while active:
            order.shuffle(active)
            before = None
            for run in active + active[::-1]:
                if run is not before:
                    guarded(run, take_over)
                guarded(run, take_turn, flushes.get(run.version.backend))
                before = run
            for run in [run for run in active if run.trouble or ended(run, budget)]:
                active.remove(run)
                progress.step(1, run.version.name)
    finally:
        if collecting:
            gc.enable()


def guarded(run, action, *arguments):
    """Act on a run; a version that raises ends its own run and no other."""
    if not run.trouble:
        try:
            action(run, *arguments)
        except Exception as trouble:
            run.trouble = sentence(trouble)


def sentence(trouble):
    return f"{type(trouble).__name__}: {trouble}"


def take_over(run):
    """Make the cores this version's own: others' threads may spin on them, and its own sleep."""
    if run.version.backend.name in ON_CPU and run.samples and run.calls * min(run.samples) < LONG:
        began = time.perf_counter()
        run.sample(keep=False)
        run.spent += time.perf_counter() - began


def take_turn(run, flush):
    began = time.perf_counter()
    if flush:
        flush()
    run.sample()
    run.spent += time.perf_counter() - began


def settle_down(run, cold):
    """Choose threads and batch size, and warm up on the very path that will be timed."""
    once = run.sample(keep=False)
    run.calls = 1 if cold else max(1, math.ceil(SAMPLE / max(once, 1e-9)))
    if run.version.backend.name in ON_CPU:
        run.threads = best_threads(run)
    once = min(run.sample(keep=False) for _ in range(3)) if once < 0.05 else once
    run.calls = 1 if cold else max(1, math.ceil(SAMPLE / max(once, 1e-9)))


def best_threads(run):
    """One thread or all, whichever is faster by more than noise; one where they tie."""
    repeats, took = 3 if run.calls > 1 else 1, {}
    for choice in thread_choices():
        run.threads = choice
        took[choice] = min(run.sample(keep=False) for _ in range(repeats + 1))
    return min(took, key=lambda choice: took[choice] * (1 if choice == 1 else 1.05))


def ended(run, budget):
    enough = len(run.samples) >= ROUNDS and run.spent >= SECONDS
    if enough and interval(run.samples) < PRECISION:
        run.stop = "settled"
    elif run.spent >= budget:
        run.stop = "time budget"
    else:
        return False
    return True


def interval(samples):
    """Width of the median's 95 % interval over the median, by order statistics: no distribution."""
    ordered, half = sorted(samples), 0.98 * math.sqrt(len(samples))
    low = max(0, math.floor(len(samples) / 2 - half))
    high = min(len(samples) - 1, math.ceil(len(samples) / 2 + half))
    return (ordered[high] - ordered[low]) / median(ordered)


def flusher(backend):
    """A function that pushes all else out of a backend's caches, by writing twice their size."""
    if backend.name in ON_CPU:
        ballast = np.zeros(2 * machine().caches.get("L3", 64 << 20) // 8)
        return lambda: np.add(ballast, 1, out=ballast)
    ballast = np.zeros((256 << 20) // 8)  # no GPU's last cache is larger than 128 MiB yet
    placed = backend.put(ballast)
    return lambda: backend.write(placed, ballast)
