"""The switch that makes measurements short: it does so, it says so, and it changes nothing else."""

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gpulessons import compare, hardware
from gpulessons.backends import host
from gpulessons.hardware import Machine, budget, card, ceilings, timer
from gpulessons.measure import rounds
from gpulessons.measure.results import Timing
from gpulessons.measure.timings import timings
from gpulessons.operation import op

WORDS = "measured for at most 0.02 s each (GPULESSONS_BUDGET): rough"


@pytest.fixture(autouse=True)
def card_of_its_own(monkeypatch):
    """Each test makes a card, in no time, and none is left that was measured with the switch."""
    measures = {"host copy": lambda threads: ceilings.Rate(1e9, threads)}
    monkeypatch.setattr(ceilings, "host", lambda _: measures)
    card.this_machine.clear()
    yield
    card.this_machine.clear()


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.02")


@op(inputs=lambda size, rng: (rng.standard_normal(size, np.float32),), flops=np.size, sizes=(8,))
def double(x):
    return 2 * x


@double.version("asleep", on=host)
def asleep(x):
    time.sleep(0.03)
    return 2 * x


@pytest.mark.parametrize("text", [None, ""])
def test_without_it_nothing_changes(text, monkeypatch):
    if text is not None:
        monkeypatch.setenv(budget.NAME, text)
    assert (budget.limit(), budget.capped(1.0), budget.note()) == (math.inf, 1.0, "")
    assert budget.repeated(30) == 30
    assert not compare(double, versions=["NumPy"], budget=0.01, recorded=()).notes


@pytest.mark.parametrize("text", ["soon", "nan", "0", "-1", "0,02"])
def test_what_is_no_number_of_seconds_is_refused_in_a_sentence(text, monkeypatch):
    monkeypatch.setenv(budget.NAME, text)
    words = rf"GPULESSONS_BUDGET is a number of seconds above 0, such as 0\.02; not '{text}'\."
    for measure in (budget.limit, lambda: list(timings(double)), hardware.machine):
        with pytest.raises(ValueError, match=words):
            measure()


def test_a_version_has_one_sample_and_none_is_ruled_out_for_being_slow(short):
    (entry,) = timings(double, versions="asleep", budget=60)
    assert isinstance(entry, Timing), entry.why
    assert (entry.stop, len(entry.samples)) == ("time budget", 1)


def test_nothing_is_flushed_and_no_timing_calls_itself_cold(short, monkeypatch):
    monkeypatch.setattr(rounds, "flusher", lambda backend: pytest.fail("it would flush"))
    (entry,) = timings(double, versions="NumPy", cold=True)
    assert isinstance(entry, Timing) and not entry.cold


def test_a_ceiling_is_the_best_of_the_fewest_passes(short, monkeypatch):
    passes, ticks = [], iter(range(100))
    clock = SimpleNamespace(perf_counter=lambda: 0.005 * next(ticks))
    monkeypatch.setattr(timer, "time", clock)
    monkeypatch.setattr(ceilings, "perf_counter", clock.perf_counter)
    ceilings.best(lambda: passes.append(1))
    assert len(passes) == 1 + 3  # the first one warms up


def test_a_card_says_that_its_ceilings_are_rough(short):
    here = hardware.machine()
    assert WORDS in repr(here) and Machine.from_json(here.to_json()) == here
