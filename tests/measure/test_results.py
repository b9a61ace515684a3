"""Timings and comparisons as values: what they claim, what they refuse, and how they read."""

import math
from dataclasses import replace

import pytest

from gpulessons.measure.results import Absent, Comparison, Timing, entry_from, ratio

TIMING = Timing(
    op="relu", version="NumPy", backend="host", size=1000, samples=(1e-6, 2e-6, 3e-6), waits=(),
    calls=1000, threads=1, first=5e-6, h2d=1e-6, d2h=3e-6, flops=1000, bytes=8000, error=0.0,
    cold=False, stop="settled",
)  # fmt: skip
CALM = replace(TIMING, samples=(2e-6,) * 10)
ABSENT = Absent("relu", "CUDA, grid-stride", "gpu", 1000, "no NVIDIA GPU here")


def compared(*entries, **options):
    return Comparison("relu", entries, "a laptop", "2026-11-05", **options)


# -- One timing.


def test_on_a_gpu_the_caller_waits_longer_than_the_kernel_runs():
    on_gpu = replace(CALM, backend="gpu", waits=(9e-6, 9e-6, 10e-6))
    assert (CALM.wait, on_gpu.wait) == (2e-6, 9e-6)
    assert on_gpu.with_transfers == pytest.approx(1e-6 + 9e-6 + 3e-6)


def test_spread_is_marked_over_ten_percent_and_refused_over_twenty_five():
    for spread, noise in ((0, ""), (0.099, ""), (0.11, "noisy"), (0.249, "noisy"),
                          (0.26, "too noisy")):  # fmt: skip
        samples = (1 - spread / 2, 1 - spread / 2, 1.0, 1 + spread / 2, 1 + spread / 2)
        timing = replace(TIMING, samples=samples)
        assert timing.spread == pytest.approx(spread) and timing.noise == noise


def test_an_entry_survives_its_json_form():
    for entry in (TIMING, ABSENT):
        values = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(entry).items()}
        assert entry_from(values) == entry


# -- How many times faster.


def test_a_ratio_pairs_the_rounds():
    """Round by round it is 2×, though the medians (2 and 2) say 1×: a busy minute hit both."""
    slow = replace(TIMING, samples=(2.0, 2.2, 2.0, 40.0, 2.0))
    fast = replace(TIMING, samples=(1.0, 1.1, 1.0, 20.0, 1.0))
    assert ratio(slow, fast).median == pytest.approx(2)
    assert (ratio(slow, fast).low, ratio(slow, fast).high) == pytest.approx((2, 2))


def test_rounds_that_only_one_took_part_in_do_not_count():
    slow = replace(TIMING, samples=(3.0,) * 4)
    fast = replace(TIMING, samples=(1.0,) * 4 + (30.0,) * 9)
    assert ratio(slow, fast).median == pytest.approx(3)


def test_no_ratio_is_claimed_of_noise_or_of_nothing():
    assert repr(ratio(TIMING, CALM)) == "no claim: NumPy: the machine was too noisy"
    refused = ratio(CALM, ABSENT)
    assert refused.refused == "CUDA, grid-stride: no NVIDIA GPU here" and math.isnan(refused.median)


# -- Many together.


def test_a_comparison_finds_its_entries_and_the_best():
    large = replace(CALM, size=9000, samples=(9e-6,))
    torch = replace(large, version="PyTorch on CPU", backend="torch_cpu", samples=(4e-6,))
    both = compared(CALM, large, torch, ABSENT)
    assert both.sizes == [1000, 9000]
    assert both.versions == ["NumPy", "PyTorch on CPU", "CUDA, grid-stride"]
    assert both.at("NumPy") is large and both.at("NumPy", 1000) is CALM
    assert both.best() is torch and both.best("host") is large and both.best(size=1000) is CALM
    assert both.best("gpu") is None
    assert both.speedup("NumPy", "PyTorch on CPU").median == pytest.approx(9 / 4)


def test_what_computes_in_another_arithmetic_shares_no_ranking():
    rounded = replace(CALM, version="mine", samples=(1e-9,) * 10, arithmetic="TF32")
    missing = replace(ABSENT, version="cast", arithmetic="fp16")
    both = compared(rounded, CALM, missing)
    assert both.best() is CALM and both.by_arithmetic == {
        "": ["NumPy"], "TF32": ["mine"], "fp16": ["cast"]
    }  # fmt: skip


def test_as_text_and_as_html_the_same_is_said_and_a_name_is_never_markup():
    named = replace(CALM, version="<b>bold</b>")
    both = compared(CALM, named, ABSENT, notes=("a note",))
    for words in ("relu", "live: a laptop, 2026-11-05", "1,000 elements", "NumPy", "2 µs", "4 GB/s",
                  "500 MFLOP/s", "– CUDA, grid-stride: no NVIDIA GPU here", "a note"):  # fmt: skip
        assert words in repr(both) and words in both._repr_html_()
    assert "<b>" not in both._repr_html_() and "<b>" in repr(both)


def test_a_comparison_of_nothing_displays():
    nothing = compared(notes=("interrupted",))
    assert "interrupted" in repr(nothing) and "interrupted" in nothing._repr_html_()
    assert nothing.best() is None
    with pytest.raises(KeyError, match="Versions: none; sizes: none"):
        nothing.at("NumPy")
