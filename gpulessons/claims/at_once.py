"""Calls at the same time, in threads: how long each really ran.

A thread's own clock stands still while others have its core, so what it says is true on a busy
machine, too. It may be slow to move: on Windows, 64 times a second.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from gpulessons.hardware.budget import capped, repeated

from .evidence import live, missing

WHILE = 0.1  # seconds
STILL = "the clock of a thread did not move"


def together(calls):
    """([seconds of work of each call], seconds that passed): all of them at once, in threads."""
    with ThreadPoolExecutor(len(calls)) as pool:
        began = time.perf_counter()
        worked = list(pool.map(work, calls))
    return worked, time.perf_counter() - began


def work(call):
    """Seconds for which the calling thread really ran."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def at_work(calls, rounds=10):
    """How many of the calls ran at once, on average over the round in which most did."""
    ran = (together(calls) for _ in range(repeated(rounds)))
    return max(sum(worked) / passed for worked, passed in ran)


def kept_busy(what, calls):
    """The same as a figure."""
    busy = at_work(calls)
    return live(what, busy) if busy else missing(what, STILL)


def lasting(call):
    """The call, so often in a row that a thread's clock has moved on when it is done."""
    return partial(again, how_often(call), call)


def how_often(call):
    """The number of calls that take WHILE."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return math.ceil(capped(WHILE) / max(min(took), 1e-9))


def again(times, call):
    for _ in range(times):
        call()
