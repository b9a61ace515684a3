"""Repair a clock by hand: a machine with a time of its own says which lie it still tells."""

from itertools import chain, repeat
from math import isclose

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, number

text = '''\
def my_seconds(launch, wait, now):
    """Seconds that a launch() usually takes. wait() ends when all is done; now() is the time."""
    ### BEGIN SOLUTION
    times = []
    for _ in range(26):
        wait()
        start = now()
        launch()
        wait()
        times.append(now() - start)
    return sorted(times[1:])[12]
    ### STUB
    start = now()  # Your turn: this clock tells three of the five lies.
    launch()
    return now() - start
    ### END SOLUTION
'''

WORK, MOST = 2e-3, 10_000  # seconds of a launch, and launches before somebody is stopped
HINT = "the headings above: which of them has this clock not heard of?"


class Machine:
    """Time passes here only by what is called. No two machines are as fast."""

    def __init__(self, usual, first=0.0, queue=False, before=0.0, works=()):
        self.time, self.first, self.queue, self.done = 0.0, first, queue, before
        self.works, self.launches = chain(works, repeat(usual)), 0

    def launch(self):
        self.launches += 1
        if self.launches > MOST:
            raise Mismatch(f"After {MOST:,} launches it still wants more.", HINT)
        self.time, self.first = self.time + self.first + 1e-6, 0.0
        self.done = max(self.time, self.done) + next(self.works)
        if not self.queue:
            self.wait()

    def wait(self):
        self.time = max(self.time, self.done)

    def now(self):
        self.time += 1e-8
        return self.time


def uneven(usual, seed):
    """Most launches take as long as ever; some are interrupted, and a few are lucky."""
    works = [usual, 15 * usual, usual / 2]
    return np.random.default_rng(seed).choice(works, MOST, p=[0.8, 0.15, 0.05])


LIES = (  # what it still tells, and a machine that has no other trap
    ("something else than the seconds of a launch, where nothing goes wrong", {}),
    ("lie 1: its first call compiles", {"first": 1.0}),
    ("lie 2: it did not wait until the work was done", {"queue": True}),
    ("lie 2: work launched before it started is counted", {"queue": True, "before": 0.5}),
)
NOISE = "lie 4: one sample, or too few, or their mean or least, is not what is usual"


def traps():
    """(lie, the usual seconds of a launch, a machine): no constant is right on all of them."""
    for n, (lie, trap) in enumerate(LIES):
        for usual in (WORK * (n + 1), WORK / (n + 2)):
            yield lie, usual, Machine(usual, **trap)
    for seed in range(20):
        usual = WORK * (1 + seed / 7)
        yield NOISE, usual, Machine(usual, works=uneven(usual, seed))


def judge(attempt):
    for lie, usual, machine in traps():
        read = number(run(attempt, (machine.launch, machine.wait, machine.now), {}), HINT)
        if not isclose(read, usual, rel_tol=0.02):
            raise Mismatch(f"It still tells {lie}. It read {1e3 * read:,.4g} ms; a launch "
                           f"usually takes {1e3 * usual:.3g} ms.", HINT)  # fmt: skip
    return "An honest clock. (A median hides one slow first call; report that call apart.)"


exercise = Exercise(__name__, text, judge=judge)
