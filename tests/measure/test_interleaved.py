"""Calls in turn: each gets its samples, none gets more time than it is due, nothing is lost."""

import itertools
import os
import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from gpulessons.hardware import pools, timer
from gpulessons.hardware.timer import interleaved


class Clock:
    """A clock that only moves when a call says so."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(timer, "time", self)

    def perf_counter(self):
        return self.now

    def call(self, seconds, calls=None):
        def work():
            self.now += seconds
            if calls is not None:
                calls.append(seconds)

        return work


def test_each_call_is_known_by_its_own_time(monkeypatch):
    clock = Clock(monkeypatch)
    found = dict(interleaved({"slow": clock.call(0.3), "quick": clock.call(1e-4)}, seconds=1))
    assert list(found) == ["slow", "quick"]
    assert found["slow"].median == pytest.approx(0.3)
    assert found["quick"].median == pytest.approx(1e-4)


def test_a_call_has_its_seconds_and_no_more_but_always_one_sample(monkeypatch):
    clock = Clock(monkeypatch)
    found = dict(interleaved({"a": clock.call(0.3), "b": clock.call(5.0)}, seconds=1))
    assert len(found["a"].samples) == 4
    assert len(found["b"].samples) == 1


def test_short_calls_are_batched(monkeypatch):
    clock, calls = Clock(monkeypatch), []
    found = dict(interleaved({"a": clock.call(1e-4, calls)}, seconds=0.1))
    assert len(calls) > 15 * len(found["a"].samples)


def test_they_take_turns(monkeypatch):
    clock, order = Clock(monkeypatch), []
    dict(interleaved({n: clock.call(s, order) for n, s in (("a", 0.1), ("b", 0.11))}, seconds=0.6))
    runs = sum(one != other for one, other in pairwise(order[6:]))
    assert runs >= 4


def test_whoever_comes_back_waits_until_the_others_threads_have_left_the_cores(monkeypatch):
    clock, order = Clock(monkeypatch), []
    monkeypatch.setattr(timer, "rest", lambda: order.append("rest"))
    dict(interleaved({n: clock.call(s, order) for n, s in (("a", 0.1), ("b", 0.11))}, seconds=0.6))
    turns = order[order.index("rest") :]
    for one, other in pairwise(turns):
        assert "rest" in (one, other) or one == other, turns


@pytest.mark.parametrize("spun, looks", [((0,), 1), ((9, 5, 1, 0), 4), (itertools.repeat(9), 400)])
def test_a_rest_lasts_until_nobody_else_computes_but_not_for_ever(monkeypatch, spun, looks):
    """spun: milliseconds that the other threads compute in one pause after the other."""
    spun, now, pauses = iter(spun), [0.0], []
    monkeypatch.setattr(pools, "computed_by_others", lambda: now[0])
    monkeypatch.setattr(pools.time, "sleep", lambda seconds: pauses.append(seconds)
                        or now.append(now.pop() + next(spun) / 1e3))  # fmt: skip
    pools.rest()
    assert len(pauses) == looks


def test_what_another_thread_computes_is_seen_while_it_lives():
    before, computed, seen = pools.computed_by_others(), threading.Event(), threading.Event()

    def work():
        while time.thread_time() < 0.02:
            pass
        computed.set(), seen.wait()

    threading.Thread(target=work).start(), computed.wait()
    found = pools.computed_by_others() - before
    seen.set()
    assert found >= 0.02


def test_inside_threads_openblas_has_been_told_to_sleep():
    np.ones((64, 64)) @ np.ones((64, 64))
    with pools.threads(1):
        told = [library.dynlib.openblas_thread_timeout()
                for library in pytest.importorskip("threadpoolctl").ThreadpoolController()
                .lib_controllers if hasattr(library.dynlib, "openblas_thread_timeout")]  # fmt: skip
    wanted = int(os.environ.get("OPENBLAS_THREAD_TIMEOUT", 20))
    assert all(timeout == wanted for timeout in told)


def test_what_was_measured_before_ctrl_c_is_kept(monkeypatch):
    clock, calls = Clock(monkeypatch), []
    work = clock.call(0.3, calls)

    def interrupted():
        work()
        if len(calls) > 8:
            raise KeyboardInterrupt

    kept = []
    with pytest.raises(KeyboardInterrupt):
        for one in interleaved({"a": interrupted}, seconds=100):
            kept.append(one)
    ((name, spread),) = kept
    assert name == "a" and len(spread.samples) >= 3
