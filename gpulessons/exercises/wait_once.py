"""Time a run on a GPU behind a queue: wait for it before the clock is read, and only then."""

from math import isclose
from types import SimpleNamespace

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful, number

text = '''\
def my_run(step, steps, synchronize, now):
    """(mean loss, seconds) of so many steps.

    step() puts a step into the queue and returns its loss at once; loss.item() waits for that loss.
    synchronize waits for all: call it. now() is the time. Older work may still be in the queue.
    """
    ### BEGIN SOLUTION
    synchronize()
    start = now()
    losses = [step() for _ in range(steps)]
    synchronize()
    seconds = now() - start
    ### STUB
    start = now()
    losses = [step() for _ in range(steps)]
    seconds = now() - start  # Your turn: is the GPU done by now? And was it idle at the start?
    ### END SOLUTION
    return sum(loss.item() for loss in losses) / steps, seconds
'''

HINT = "what is in the queue when the clock is read: at the start, and at the end."
RUNS = (10, 1, 3, 0), (7, 4, 1, 0), (20, 1, 1.5, 50), (8, 2, 7, 9)  # steps, and in ms: below


class Gpu:
    """A queue and a clock that moves only by what is called. A step takes `ask` ms of Python, and
    then `runs` ms of the GPU, which has work of `older` ms to do first."""

    def __init__(self, ask, runs, older):
        self.ask, self.runs, self.done = ask, runs, older
        self.time = self.asked = self.waits = 0

    def step(self):
        self.asked, self.time = self.asked + 1, self.time + self.ask
        self.done = max(self.time, self.done) + self.runs
        loss, ready = 1 / self.asked, self.done
        return SimpleNamespace(item=lambda: (self.wait(ready), loss)[1])

    def wait(self, until=None):
        until = self.done if until is None else until
        self.waits, self.time = self.waits + (until > self.time), max(self.time, until)

    def now(self):
        return 1e-3 * self.time


def judge(attempt):
    for steps, ask, runs, older in RUNS:
        gpu = Gpu(ask, runs, older)
        found = run(attempt, (gpu.step, steps, gpu.wait, gpu.now), {})
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise Mismatch("Two numbers are expected: the mean loss, and the seconds.", HINT)
        mean, read = (number(each, HINT) for each in found)
        if gpu.asked != steps or not isclose(mean, sum(1 / (n + 1) for n in range(steps)) / steps):
            raise Mismatch(f"After {gpu.asked} of {steps} steps the mean was {mean:.4g}.", HINT)
        right = 1e-3 * ((steps - 1) * max(ask, runs) + ask + runs)
        took = f"It read {1e3 * read:.3g} ms; the steps took {1e3 * right:.3g} ms"
        if read < 0.98 * right:
            raise Mismatch(f"{took}: its clock was read before the GPU was done.", HINT)
        if read > 1.02 * right and gpu.waits > 2:
            raise Wasteful(f"with the GPU idle: Python waited {gpu.waits} times, and put nothing "
                           "into the queue meanwhile.", "item() inside the loop.")  # fmt: skip
        if read > 1.02 * right:
            raise Mismatch(f"{took}: older work in the queue was counted, too.", HINT)
    return "The clock is read when the queue is empty, and it is never empty in between."


hints = (
    "Wait twice: for older work before the clock starts, and for the steps before it stops.",
    "synchronize()",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
