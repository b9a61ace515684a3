"""Numbers read as people read them: three digits, the right prefix, and words for what has none."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulessons import units

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "time, text",
    [
        (1.23e-3, "1.23 ms"), (4.5e-6, "4.5 µs"), (87e-9, "87 ns"), (0.4e-9, "0.4 ns"),
        (12.34, "12.3 s"), (12345, "12,300 s"), (1, "1 s"), (0, "0 s"), (-2e-3, "−2 ms"),
        (None, "unknown"), (NAN, "NaN"), (INF, "∞ s"), (-INF, "−∞ s"),
        (1e-14, "0.00001 ns"), (np.float32(0.5), "500 ms"),
    ],
)
def test_seconds(time, text):
    assert units.seconds(time) == text


def test_one_is_singular_and_none_is_not():
    told = [units.plural(n, "pass") for n in (0, 1, 1024)]
    assert told == ["0 passes", "1 pass", "1,024 passes"] and units.plural(2, "block") == "2 blocks"


@pytest.mark.parametrize(
    "amount, unit, text",
    [
        (4.5e9, "FLOP/s", "4.5 GFLOP/s"), (31.24e9, "B/s", "31.2 GB/s"),
        (989e12, "B/s", "989 TB/s"), (12, "B/s", "12 B/s"), (0.25, "FLOP/s", "0.25 FLOP/s"),
        (2e21, "B/s", "2,000 EB/s"), (0, "B/s", "0 B/s"), (None, "B/s", "unknown"),
        (NAN, "B/s", "NaN"), (INF, "B/s", "∞ B/s"),
    ],
)
def test_rate(amount, unit, text):
    assert units.rate(amount, unit) == text


@pytest.mark.parametrize(
    "nbytes, text",
    [
        (2**26, "64 MiB"), (48 * 2**10, "48 KiB"), (2**10, "1 KiB"), (1000, "1,000 B"), (1, "1 B"),
        (1.5 * 2**30, "1.5 GiB"), (0, "0 B"), (-(2**20), "−1 MiB"), (None, "unknown"),
    ],
)
def test_size_is_binary(nbytes, text):
    assert units.size(nbytes) == text


@pytest.mark.parametrize(
    "number, text",
    [(1000003, "1,000,003"), (np.int64(1024), "1,024"), (1e6, "1,000,000"), (0, "0"),
     (-5000, "−5,000"), (None, "unknown"), (NAN, "NaN"), (INF, "∞")],
)
def test_count_keeps_every_digit(number, text):
    assert units.count(number) == text


@pytest.mark.parametrize(
    "factor, text",
    [(12.34, "12.3×"), (1, "1×"), (0.0512, "0.0512×"), (1234, "1,230×"), (0, "0×"), (-2, "−2×"),
     (0.00001, "0.00001×"), (None, "unknown"), (NAN, "NaN"), (INF, "∞×")],
)
def test_ratio(factor, text):
    assert units.ratio(factor) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_is_ever_written_in_powers_of_ten(value):
    for text in (units.seconds(value), units.size(value), units.ratio(value)):
        assert re.fullmatch(r"−?[\d,]+(\.\d+)?( (s|ms|µs|ns|[KMGTPE]?i?B)|×)", text)


@pytest.mark.parametrize(
    "times, words",
    [
        ((1.2e-3, 0.94e-3, 2.1e-3), "1.2 ms (0.94 to 2.1)"),
        ((9.97e-4, 5e-4, 2e-3), "1 ms (0.5 to 2)"),
        ((3.8e-4, 3.26e-4, 1.46e-3), "380 µs (330 to 1,500)"),
        ((2.0, 0.015, 30.0), "2 s (0.015 to 30)"),
        ((5e-10, 1e-10, 1e-9), "0.5 ns (0.1 to 1)"),
    ],
)
def test_a_time_between_two_is_written_in_one_unit_with_two_digits(times, words):
    assert units.between(*times) == words
