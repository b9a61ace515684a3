"""Roofs: what the sentence under a bound says, and that other figures would turn it round."""

import numpy as np
import pytest

from gpulessons.illustrations.roofs import carried, decided
from warplens.model.devices import sheet

SIZES = np.geomspace(1, 1000, 301)


def said(cpu, **roofs):
    return decided(roofs, lambda size: cpu, SIZES, who="it", write="{:.0f}".format)


def test_a_card_is_behind_from_where_its_bound_exceeds_the_cpu_and_else_nothing_is_decided():
    roofs = {"T4": lambda n: 0.1 * n, "A100": lambda n: 0.01 * n, "H200": lambda n: 0.001 * n}
    assert said(1.0, **roofs).endswith("behind it: T4 from 10 on; A100 from 102 on.")
    assert said(9e9, **roofs) == "No bound decides."
    assert said(1e-9, **roofs).count("from 1 on") == 3
    assert "decides" in said(1.0, T4=lambda n: 9.0 if n < 500 else 0.1)  # quicker again at the end


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
