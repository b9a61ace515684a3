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
    """A list that nobody reads before all lists are being read; `alone` where that never came."""

    alone = False

    def __init__(self, numbers, together):
        super().__init__(numbers)
        self.together = together

    def __iter__(self):
        try:
            self.together.wait(PATIENCE / 4)
        except threading.BrokenBarrierError:
            self.alone = True
        return super().__iter__()


def judge(count):
    """Four lists of two to four negative numbers and some zeros each, in four threads at once."""
    together = threading.Barrier(4)
    each = [3, *random.choices((2, 3, 4), k=3)]
    lists = [Numbers([0, 0, *n * [-1], 0, 0], together) for n in each]
    tally, expected = Tally(), sum(each)
    run_in_time(count, lists, tally)
    if any(numbers.alone for numbers in lists):
        raise Wasteful("the threads took turns: no two counted at once.",
                       "how long the lock is held, and when join() is called.")  # fmt: skip
    if tally.value < expected:
        raise Mismatch(f"{tally.value} of {expected}: one thread overwrote what another had added.",
                       "what may come between its reading and its writing, and how often it need "
                       "do both.")  # fmt: skip
    if tally.value > expected:
        raise Mismatch(f"It counted {tally.value}, where {expected} are negative.", "what counts.")
    return f"{expected} of {expected}, by four threads at once, and none overwrote another."


def run_in_time(count, lists, tally):
    """Run the attempt, and wait for each thread that it leaves behind."""
    before, hook, errors = set(threading.enumerate()), threading.excepthook, []
    threading.excepthook = lambda failed: errors.append(failed.exc_value)
    try:
        # A daemon's threads are daemons: if one waits forever, the notebook can still be closed.
        attempt = threading.Thread(target=count, args=[lists, tally], daemon=True)
        attempt.start()
        attempt.join(PATIENCE)
        endless, left = attempt.is_alive(), set(threading.enumerate()) - before
        for thread in left if not endless else ():
            thread.join(PATIENCE)
    except RuntimeError:  # as everywhere in a browser
        raise Mismatch("No thread can be started here, so this cannot be checked.",
                       "the same notebook on a computer of yours.") from None  # fmt: skip
    finally:
        threading.excepthook = hook
    if errors:
        raise Mismatch(f"It raised {type(errors[0]).__name__}: {errors[0]}", "the line it names.")
    if endless:
        raise Mismatch("It never came back.", "a lock that is taken and not given back.")
    if left:
        raise Mismatch("It returned while threads were still counting.", "when join() is called.")


exercise = Exercise(__name__, text, judge=judge)
