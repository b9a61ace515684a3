"""Roofs: where a bound decides, and that other figures would turn it round."""

import numpy as np
import pytest

from gpulessons.illustrations.roofs import about, ahead_from, carried
from warplens.model.devices import sheet

SIZES = np.geomspace(1, 1000, 301)


def test_a_card_is_behind_from_where_its_bound_exceeds_the_cpu_and_else_nothing_is_decided():
    assert ahead_from(lambda n: 0.1 * n, lambda n: 1.0, SIZES) == pytest.approx(10, rel=0.03)
    assert ahead_from(lambda n: 0.1 * n, lambda n: 9e9, SIZES) is None
    assert ahead_from(lambda n: 0.1 * n, lambda n: 1e-9, SIZES) == SIZES[0]
    sinks = ahead_from(lambda n: 9.0 if n < 500 else 0.1, lambda n: 1.0, SIZES)
    assert sinks is None  # quicker again at the end


def test_a_size_is_written_in_two_digits():
    assert [about(n) for n in (12_345, 4.14e6, 1.26e9)] == ["12,000", "4.1 million", "1.3 billion"]


def test_between_measured_sizes_lines_are_straight_and_beyond_them_the_steepest_goes_on():
    took = carried({10: 1.0, 1000: 100.0})
    assert took(100) == pytest.approx(10) and took(1000) == pytest.approx(100)
    assert took(10_000) == pytest.approx(1000)
    assert carried({1: 1.0, 10: 10.0, 1000: 5.0})(10_000) == pytest.approx(50)


def test_no_step_is_sooner_than_its_flops_or_the_bytes_that_no_cache_holds():
    t4, a100 = sheet("T4"), sheet("A100 40 GB")
    assert t4.least(8.1e12, 0) == pytest.approx(1) and a100.least(156e12, 0) == pytest.approx(1)
    assert t4.least(0, t4.cache) == 0 < t4.cache
    assert t4.least(0, t4.cache + 320e9, times=2) == pytest.approx(2)
