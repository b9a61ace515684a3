"""A clock for work that runs elsewhere: the answer is not done when the call returns."""

import math
import random
import time

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, returned

text = '''\
import time

def my_clock(work, sync):
    """Seconds that work() really takes. It returns at once; sync() waits until all is done."""
    ### BEGIN SOLUTION
    sync()
    start = time.perf_counter()
    work()
    sync()
    return time.perf_counter() - start
    ### STUB
    ...  # Your turn.
    ### END SOLUTION
'''

BLUR = 0.01  # seconds: a learner's clock may tick no finer


class Device:
    """A pretend device: what is queued takes as long as it says, while sync() waits.

    It looks at the clock too, so that a busy machine, where all takes longer, spoils no verdict.
    """

    def __init__(self):
        self.pieces, self.queued, self.waited = 0, 0.0, 0.0
        self.idle_since = self.free_since = math.inf

    def work(self, seconds):
        self.free_since = math.inf if self.queued else self.idle_since  # before the last piece
        self.queued += seconds
        self.pieces += 1

    def sync(self):
        if self.queued:
            began = time.perf_counter()
            time.sleep(self.queued)
            self.idle_since = time.perf_counter()
            self.queued, self.waited = 0.0, self.idle_since - began


def judge(clock):
    """Time work that returns at once, with somebody else's work, twice as long, before it.

    It takes 40 to 80 ms: nobody can know beforehand.
    """
    device, length = Device(), random.choice([0.04, 0.06, 0.08])
    device.work(2 * length)
    began = time.perf_counter()
    seconds = clock(lambda: device.work(length), device.sync)
    ended = time.perf_counter()
    returned(seconds)
    if device.pieces == 1:
        raise Mismatch("work() never ran.", "what stands between your two readings of the clock.")
    if seconds > ended - began + BLUR:
        raise Mismatch(f"It says {seconds:.1f}, but not in seconds.", "the unit of perf_counter().")
    if device.queued or seconds < device.waited - BLUR:
        raise Mismatch("It stopped the clock before the work was done.", "when sync() is called.")
    if seconds > ended - device.free_since + BLUR:
        raise Mismatch("It counted earlier work that was still running.",
                      "what is going on when you start the clock.")  # fmt: skip
    return (f"{1e3 * length:.0f} ms of work read as {1e3 * seconds:.0f} ms, though the call itself "
            "took none.")  # fmt: skip


exercise = Exercise(__name__, text, judge=judge)
