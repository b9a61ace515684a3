"""Repair a clock by hand: a machine with a time of its own says which lie it still tells."""

from random import Random

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
HINT = "the headings above: which of them has this clock not heard of?"
LIES = {  # and its trap: does a call wait, ms queued before, ms of the first launch, and of others
    "lie 1: its first call compiles": (True, 0, 1000, [2]),
    "lie 2: it did not wait until the work was done": (False, 0, 2, [2]),
    "lie 2: work launched before it started is counted": (False, 500, 2, [2]),
    "lie 4: one sample, or too few, or a mean or least": (True, 0, 30, [2] * 16 + [30] * 3 + [1]),
}


def read(attempt, seed, waits, busy, first, rest):  # time passes only by what is called
    at, works = {"now": 0, "done": busy}, iter([first, *Random(seed).choices(rest, k=9_999)])
    wait, now = lambda: at.update(now=max(at.values())), lambda: at["now"] * (seed + 1) / 1e3
    go = lambda: at.update(done=max(at.values()) + next(works)) or (waits and wait()), wait, now
    return 1e3 * number(run(attempt, go, {}), HINT) / (seed + 1)  # each has a speed of its own


def judge(attempt):
    for lie, trap in LIES.items():
        for ms in (read(attempt, seed, *trap) for seed in range(20)):
            if abs(ms - 2) > 0.04:
                raise Mismatch(f"It still tells {lie}. It read {ms:.3g} ms, not 2 ms.", HINT)
    return "An honest clock. (A median hides one slow first call; report that call apart.)"


exercise = Exercise(__name__, text, judge=judge)
