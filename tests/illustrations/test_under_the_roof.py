"""What stands on a roofline is beyond the caches, steady, and possible; the rest is named."""

import dataclasses

import pytest

from gpulessons import adam_step, copy
from gpulessons.illustrations import under_the_roof
from gpulessons.measure.results import Ratio, Timing


class Card:
    """100 GB/s to read, 80 to copy; 1 TFLOP/s; a last cache of 8 MiB."""

    name, last_cache = "a card", 2**23

    def ceiling(self, backend, what):
        return {"read": 1e11, "copy": 8e10, "float32": 1e12}.get(what)


def timed(op, flops, nbytes, *samples, backend="host"):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    given = {"op": op, "version": "fast", "flops": flops, "bytes": nbytes, "backend": backend}
    return Timing(**{**fields, **given, "cold": True, "samples": samples})


FAST = timed("total", 2.5e6, 1e7, 1.25e-4)  # 80 GB/s
SLOW = timed("transpose", 0, 1e7, 1e-3)
NOISY = timed("relu", 1e6, 8e6, 1e-4, 2e-4, 3e-4)
HOT = timed("copy", 0, 2e7, 1e-4)  # 200 GB/s


def test_an_op_gets_the_size_at_which_it_moves_four_times_the_last_cache(monkeypatch):
    monkeypatch.setattr(under_the_roof, "note", lambda: "")
    monkeypatch.setattr(under_the_roof, "free_memory", lambda: float("inf"))
    assert under_the_roof.size_beyond(copy, Card()) == 4 * 2**23 // 8
    assert under_the_roof.size_beyond(adam_step, Card()) == 4 * 2**23 // 28
    monkeypatch.setattr(Card, "last_cache", 2**29)
    assert under_the_roof.size_beyond(copy, Card()) == 2**27 // 8
    monkeypatch.setattr(under_the_roof, "free_memory", lambda: 2**29)
    assert under_the_roof.size_beyond(copy, Card()) == 2**25 // 8


def test_noisy_times_and_those_faster_than_memory_are_sorted_out_with_the_reason():
    kept, left = under_the_roof.sorted_out([FAST, NOISY, HOT, SLOW], Card())
    assert kept == [FAST, SLOW]
    assert left[0] == "relu (too noisy)"
    assert left[1].startswith("copy (its 100 µs would be 200 GB/s, and this memory's best is 100")


def test_the_shares_are_told_in_order_and_the_low_ones_named():
    words = under_the_roof.told([SLOW, FAST], Card())
    assert words == "CPU: total 80%, transpose 10%\nBelow 50% of the roof: transpose."
    product = timed("matmul", 2e9, 1e6, 4e-3)
    assert "matmul 50%\nBelow 50% of the roof: none." in under_the_roof.told([product], Card())
    assert "Every time here is noisy" in under_the_roof.told([], Card())


def test_a_gpu_has_shares_of_its_own():
    words = under_the_roof.told([FAST, dataclasses.replace(SLOW, backend="gpu")], Card())
    assert words.splitlines()[2:] == ["GPU: transpose 10%", "Below 50% of the roof: transpose."]


@pytest.mark.parametrize("budget", ["0.02"])
def test_where_time_is_short_arrays_are_small(budget, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", budget)
    monkeypatch.setattr(Card, "last_cache", 2**29)
    assert under_the_roof.size_beyond(copy, Card()) <= 2**24 // 8


def test_the_verdict_counts_the_ops_that_come_near_their_roof():
    words = under_the_roof.verdict([FAST, SLOW], Card())
    assert "is not shown: 1 of 2 ops" in words
    assert "holds: 1 of 1 ops" in under_the_roof.verdict([FAST], Card())
    computing = timed("matmul", 2e9, 1e6, 4e-3)
    assert under_the_roof.verdict([computing], Card()).startswith("No verdict")


def test_how_far_the_arrays_go_beyond_the_last_cache_is_said(monkeypatch):
    monkeypatch.setattr(under_the_roof, "bytes_beyond", lambda machine: 4 * machine.last_cache)
    assert under_the_roof.how_far_beyond(Card()) == (
        "An op is to move 32 MiB, 4 times the last cache (8 MiB)."
    )
    monkeypatch.setattr(under_the_roof, "bytes_beyond", lambda machine: 2**22)
    assert under_the_roof.how_far_beyond(Card()).endswith(
        "0.5 times the last cache (8 MiB). So what it writes may stay in that cache."
    )


def test_whether_arithmetic_shows_is_told_from_the_measured_ratio():
    def words(median, refused="", low=None):
        ratio = Ratio(median, low or median, median, refused)
        return under_the_roof.with_twice_the_arithmetic(ratio)

    assert "for no more time than the noise" in words(1.02)
    assert "1.4× as long" in words(1.4) and "here arithmetic shows" in words(1.4)
    assert "in this noise" in words(1.13, low=1.02)
    assert words(1.4, "too noisy") == "No word on arithmetic: too noisy."


def test_a_small_step_is_in_a_cache_only_where_it_beats_the_memory():
    assert "faster than from memory" in under_the_roof.from_a_cache(HOT, 1e11)
    assert "no faster than from memory" in under_the_roof.from_a_cache(FAST, 1e11)
    assert "Too noisy" in under_the_roof.from_a_cache(NOISY, 1e9)
