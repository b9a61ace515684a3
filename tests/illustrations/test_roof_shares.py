"""What stands on a roofline is steady, and from emptied caches; the rest is named."""

import dataclasses

import pytest

from gpulessons import adam_step, copy
from gpulessons.illustrations import roof_shares
from gpulessons.measure.results import Absent, Comparison, Ratio, Timing


class Card:
    """100 GB/s and 1 TFLOP/s; a last cache of 8 MiB."""

    name, last_cache = "a card", 2**23

    def ceiling(self, backend, what):
        return {"float32": 1e12, "read": 1e11, "triad": 8e10, "copy": 2e11}[what]

    def bandwidth(self, backend):
        return 2e11


def timed(op, flops, nbytes, *samples, backend="host"):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    given = {"op": op, "version": "fast", "flops": flops, "bytes": nbytes, "backend": backend}
    return Timing(**{**fields, **given, "cold": True, "samples": samples})


FAST = timed("total", 2.5e6, 1e7, 1.25e-4)  # 80 GB/s
SLOW = timed("transpose", 0, 8e6, 1e-3)
NOISY = timed("relu", 1e6, 8e6, 1e-4, 2e-4, 3e-4)
HOT = timed("copy", 0, 2e7, 1e-4)  # 200 GB/s


def run(*entries):
    return Comparison(entries[0].op, entries, "a card", "today")


def test_an_op_gets_the_size_at_which_it_moves_128_mib_or_what_memory_allows(monkeypatch):
    monkeypatch.setattr(roof_shares, "note", lambda: "")
    monkeypatch.setattr(roof_shares, "free_memory", lambda: float("inf"))
    assert roof_shares.cold_size(copy) == 2**27 // 8
    assert roof_shares.cold_size(adam_step) == 2**27 // 28
    monkeypatch.setattr(roof_shares, "free_memory", lambda: 2**29)
    assert roof_shares.cold_size(copy) == 2**25 // 8


def test_what_is_noisy_warm_or_absent_is_left_out_with_the_reason():
    warm = dataclasses.replace(FAST, op="dot", cold=False)
    doubted = Absent("copy", "fast", "host", 0, HOT.doubt(1e11))
    beyond = timed("gelu", 1e6, 1e7, 1e-4)  # 100 GB/s, where a triad has 80
    entries = FAST, NOISY, doubted, warm, SLOW, beyond
    kept, left = roof_shares.sorted_out(map(run, entries), Card())
    assert kept == [FAST, SLOW]
    assert left[3].startswith("gelu (its 100 µs would be 100 GB/s, and this memory's best is 80")
    assert left[0] == "relu (too noisy)" and left[2] == "dot (its caches were not emptied)"
    assert left[1].startswith("copy, fast (its 100 µs would be 200 GB/s, and this memory's best")


def test_the_shares_are_told_in_order_and_the_low_ones_named():
    words = roof_shares.told([SLOW, FAST], Card())
    assert words == (
        "CPU: total 80% (read), transpose 10% (triad)\nBelow 50% of the roof: transpose."
    )
    product = timed("matmul", 2e9, 1e6, 4e-3)
    assert "matmul 50% (triad)\nBelow 50% of the roof: none." in roof_shares.told([product], Card())
    assert "Every time here is noisy" in roof_shares.told([], Card())


def test_an_op_is_held_against_loads_and_stores_like_its_own():
    """A loop's stores cost a read that memcpy's spare: 60 GB/s of 80 are not 30 % of a memcpy."""
    relu = timed("relu", 1e6, 6e6, 1e-4)
    assert roof_shares.share_of_roof(relu, Card()) == pytest.approx(0.75)
    assert "holds: 1 of 1 ops" in roof_shares.verdict([relu], Card())


def test_a_gpu_has_shares_of_its_own():
    words = roof_shares.told([FAST, dataclasses.replace(SLOW, backend="gpu")], Card())
    assert words.splitlines()[2:] == [
        "GPU: transpose 10% (triad)",
        "Below 50% of the roof: transpose.",
    ]


@pytest.mark.parametrize("budget", ["0.02"])
def test_where_time_is_short_arrays_are_small(budget, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", budget)
    assert roof_shares.cold_size(copy) <= 2**24 // 8


def test_the_verdict_counts_the_ops_that_come_near_their_roof():
    words = roof_shares.verdict([FAST, SLOW], Card())
    assert "is not shown: 1 of 2 ops" in words
    assert "holds: 1 of 1 ops" in roof_shares.verdict([FAST], Card())
    computing = timed("matmul", 2e9, 1e6, 4e-3)
    assert roof_shares.verdict([computing], Card()).startswith("No verdict")


def test_how_far_the_arrays_go_beyond_the_last_cache_is_said(monkeypatch):
    monkeypatch.setattr(roof_shares, "cold_bytes", lambda: 2**25)
    assert roof_shares.beside_the_cache(Card()) == (
        "An op is to move 32 MiB, 4 times the last cache (8 MiB)."
    )
    monkeypatch.setattr(roof_shares, "cold_bytes", lambda: 2**22)
    assert roof_shares.beside_the_cache(Card()).endswith(
        "0.5 times the last cache (8 MiB). So what it writes may stay in that cache."
    )


def test_whether_arithmetic_shows_is_told_from_the_measured_ratio():
    def words(median, refused="", low=None):
        ratio = Ratio(median, low or median, median, refused)
        return roof_shares.with_twice_the_arithmetic(ratio)

    assert "for no more time than the noise" in words(1.02)
    assert "1.4× as long" in words(1.4) and "here arithmetic shows" in words(1.4)
    assert "in this noise" in words(1.13, low=1.02)
    assert words(1.4, "too noisy") == "No word on arithmetic: too noisy."


def test_a_small_step_is_in_a_cache_only_where_it_beats_the_memory():
    assert "faster than from memory" in roof_shares.from_a_cache(HOT, 1e11)
    assert "no faster than from memory" in roof_shares.from_a_cache(FAST, 1e11)
    assert "Too noisy" in roof_shares.from_a_cache(NOISY, 1e9)
    missing = Absent("momentum_step", "fast", "host", 1000, "not here")
    assert roof_shares.from_a_cache(missing, 1e9) == "No word on 1,000 parameters: not here."
