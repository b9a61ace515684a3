"""Many threads, one tally: adding to it is three steps, and another thread may come in between."""

import random
import threading
import time

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, Wasteful

text = '''\
### BEGIN SOLUTION
from threading import Lock, Thread
### STUB
from threading import Thread
### END SOLUTION

def my_count(lists, tally):
    """Count all negative numbers in tally.value: a thread for each list, all at the same time."""
    ### BEGIN SOLUTION
    lock = Lock()
    def work(numbers):
        mine = sum(x < 0 for x in numbers)  # Nobody else's: no lock needed.
        with lock:
            tally.value += mine  # Once for each thread.
    ### STUB
    def work(numbers):
        for x in numbers:
            if x < 0:
                tally.value += 1  # Read, add, write: is nobody else between the three?
    ### END SOLUTION

    threads = [Thread(target=work, args=[numbers]) for numbers in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
'''

PATIENCE = 2.0  # seconds until a wait counts as endless


class Tally:
    """A number slow to read and to write: whoever does so unguarded is sure to be overtaken."""

    def __init__(self):
        self.held = 0

    @property
    def value(self):
        seen = self.held
        time.sleep(0.02)
        return seen

    @value.setter
    def value(self, number):
        time.sleep(0.02)
        self.held = number


class Numbers(list):
    """A list that nobody reads before all lists are being read."""

    together = threading.Barrier(4, timeout=PATIENCE / 4)

    def __iter__(self):
        self.together.wait()
        return super().__iter__()


def judge(count):
    """Four lists of two to four negative numbers and some zeros each, in four threads at once."""
    each = [3, *random.choices((2, 3, 4), k=3)]
    tally, expected, errors = Tally(), sum(each), []
    Numbers.together.reset()
    before, hook = {*threading.enumerate()}, threading.excepthook
    threading.excepthook = lambda failed: errors.append(failed.exc_value)
    # A daemon's threads are daemons: if one waits forever, the notebook can still be closed.
    lists = [Numbers([0, 0, *n * [-1], 0, 0]) for n in each]
    attempt = threading.Thread(target=count, args=[lists, tally], daemon=True)
    try:
        attempt.start()
        attempt.join(PATIENCE)
    finally:
        threading.excepthook = hook
    if any(isinstance(error, threading.BrokenBarrierError) for error in errors):
        raise Wasteful("the threads took turns: no two counted at once.",
                       "how long the lock is held, and when join() is called.")  # fmt: skip
    if errors:
        raise errors[0]
    if {*threading.enumerate()} - before:
        raise Mismatch("It never came back, or before its threads did.",
                       "a lock that is not given back, and when join() is called.")  # fmt: skip
    if tally.value < expected:
        raise Mismatch(f"{tally.value} of {expected}: one thread overwrote what another had added.",
                       "what may come between its reading and its writing, and how often it need "
                       "do both.")  # fmt: skip
    if tally.value > expected:
        raise Mismatch(f"It counted {tally.value}, where {expected} are negative.", "what counts.")
    return f"{expected} of {expected}, by four threads at once, and none overwrote another."


exercise = Exercise(__name__, text, judge=judge)
