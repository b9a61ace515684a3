"""The error of a prediction: planted caches, threads and launches are found and named."""

import dataclasses

import pytest

from gpulessons.backends import host
from gpulessons.hardware import machine
from gpulessons.money import errors
from gpulessons.money.devices import Device
from gpulessons.money.errors import Measured, Trial, by_ceilings, by_shares
from gpulessons.money.prediction import Work
from gpulessons.ops.matmul import matmul
from gpulessons.ops.reduce import total

ONE = Device("one core", 1, flop_rate=1e9, bandwidth=1e9, kind="live")
TWO = Device("two cores", 2, flop_rate=2e9, bandwidth=2e9, kind="live")


def stream(seconds, nbytes=1e9, name="stream"):
    return Work(name, 1, nbytes, 7, "v", seconds)


def one(*works, cache=None):
    return Measured(ONE, works, cache)


def two(*works, cache=None):
    return Measured(TWO, works, cache)


def test_by_its_ceilings_the_error_is_the_share_that_is_reached():
    found = by_ceilings(two(stream(0.5), stream(2.0, name="b")))
    assert [miss.predicted for miss in found.misses] == pytest.approx([0.5, 0.5])
    assert found.verdict == "They reach 25 % to 100 % of the roof, in the median 62 %."
    assert [row[2] for row in found.table().rows] == ["100 %", "25 %"]


def test_the_same_share_there_is_right_where_nothing_but_the_roof_differs():
    found = by_shares(one(stream(4.0)), two(stream(2.0)))  # a quarter of the roof, both times
    (miss,) = found.misses
    assert miss.prediction.share == 0.25 and miss.predicted == pytest.approx(2.0)
    assert found.median == pytest.approx(1) and miss.why == "" and miss.was == "as predicted"
    assert not by_shares(one(stream(4.0)), two(dataclasses.replace(stream(2.0), size=8))).misses


def test_what_broke_is_named_and_the_worst_is_in_the_verdict():
    cases = [
        (two(stream(0.1), cache=1e10), "caches: its 954 MiB fit"),
        (two(stream(0.1), cache=1e8), "faster than what was taken for the roof"),
        (two(stream(8e-5, nbytes=1e3)), "launch"),
        (two(stream(1.0)), "neither limit"),
    ]
    for there, words in cases:
        assert by_ceilings(there).worst.why.startswith(words), words
    found = by_shares(one(stream(1.0), stream(1.0, name="b")),
                      two(stream(0.5), stream(4.0, name="b")))  # fmt: skip
    assert found.worst.why.startswith("threads: ") and found.worst.off == pytest.approx(8)
    assert "at worst 8× the predicted time, b at 7 (threads: " in found.verdict
    fast, slow = by_ceilings(two(stream(0.125))), by_ceilings(two(stream(2.0)))
    assert fast.median == slow.median == 4  # too fast is as wrong as too slow


def test_one_core_and_all_are_both_measured(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    monkeypatch.setattr(errors, "cores", lambda: 2)
    monkeypatch.setattr(errors, "rates_of", lambda counts: {n: (1e10 * n, 1e10) for n in counts})
    broken = total.like()
    broken.version("broken", on=host)(lambda x: 1 / 0)
    tried = [(matmul, "NumPy", 64), (broken, "broken", 9), (total, "NumPy", 1000)]
    trial = errors.one_core_to_all(tried)
    assert [w.label for w in trial.one.works] == ["matmul at 64", "total at 1,000"]
    assert [len(e.misses) for e in (trial.by_ceilings, trial.by_shares)] == [2, 2]
    assert trial.note and trial.every.device.cores == 2
    monkeypatch.setattr(errors, "cores", lambda: 1)
    alone = errors.one_core_to_all()
    assert "has one core" in alone.why and alone.by_shares.worst is None and not alone.disturbed


def test_where_all_cores_are_slower_than_one_there_is_no_result():
    busy = errors.crowded(one(*[stream(1.0)] * 2), two(stream(0.5), stream(1.3)))
    assert busy.startswith("1 of 2 took longer on all cores than on one")
    assert not errors.crowded(one(stream(1.0)), two(stream(1.1)))
    assert not errors.crowded(one(*[stream(1.0)] * 10), two(*[stream(1.0)] * 9, stream(1.3)))
    slow = Measured(dataclasses.replace(TWO, flop_rate=0.9e9), [stream(0.6)])
    assert "their ceiling was lower" in errors.crowded(one(stream(1.0)), slow)
    trial = Trial(one(stream(1.0)), two(stream(1.5)), note=busy, disturbed=True)
    for found in (trial.by_shares, trial.by_ceilings):
        assert found.verdict == f"No result: {busy}" and found.worst.why == ""


@pytest.mark.nightly
def test_a_step_of_each_network_is_measured_at_a_size_that_fits(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    ceilings = {"host float32": 1e11, "host copy": 3e10}
    here = dataclasses.replace(machine(), ceilings=ceilings)
    monkeypatch.setattr(errors, "machine", lambda: here)
    found = errors.steps_here()
    assert len(found.works) == 6 and all(w.seconds > 0 and w.size <= 128 for w in found.works)
    assert len(by_ceilings(found).misses) == 6
