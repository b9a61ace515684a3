"""The brain's arithmetic: the formula by hand, the spread of a product exactly, and whose word."""

import math

import numpy as np
import pytest

from gpulessons.money import brain
from gpulessons.money.brain import (
    ASSUMPTIONS,
    PUBLISHED,
    Assumed,
    Assumption,
    operations_per_second,
    parts,
    powers,
    spread,
)


def test_the_sources_numbers_come_to_what_they_come_to_by_hand():
    of = parts()
    # 2 × 200/s × 10^8 cells × (10^5·5 inputs × 10·1000·5 of the filter, and once more as weights)
    assert of["Purkinje cells"] == pytest.approx(4e10 * (5e5 * 5e4 + 5e5 + 5))
    assert of["granule cells"] == pytest.approx(2 * 200 * 50e9 * (75 * 60 + 75 + 5))
    assert operations_per_second() == sum(of.values())


def test_it_is_said_how_far_that_is_from_what_the_source_gives():
    assert operations_per_second() / PUBLISHED == pytest.approx(0.93, abs=0.005)
    assert "7 % less" in brain.__doc__ and "could not be read" in brain.__doc__
    told = repr(Assumed())
    assert "1.000×10²¹ FLOP/s as put together here, 93% of the 1.075×10²¹ published" in told


def test_every_assumption_has_the_source_within_its_range_and_says_whose_the_range_is():
    for each in ASSUMPTIONS:
        assert 0 < each.low <= each.source <= each.high and each.low < each.high, each.name
        assert any(who in each.why for who in ("ours", "low:", "high:", brain.DETTMERS)), each.name
        assert each.name.replace("_", " ") in Assumed()._repr_html_().lower()


def test_the_estimate_grows_with_every_assumption():
    for each in ASSUMPTIONS:
        assert operations_per_second(**{each.name: 2 * each.source}) > operations_per_second()
    assert operations_per_second(firing_rate=400) == pytest.approx(2 * operations_per_second())
    # Time is in the inputs and in the filter: nearly four times.
    assert operations_per_second(time_steps=10) / operations_per_second() == pytest.approx(4, 1e-3)


@pytest.mark.parametrize("number", [0, -1, float("nan"), np.array([1.0, 0.0])])
def test_a_number_that_is_none_is_refused_by_name(number):
    with pytest.raises(ValueError, match="firing_rate is a number above 0"):
        operations_per_second(firing_rate=number)


def test_a_strange_assumption_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="no assumption 'glia'; there are granule_cells"):
        operations_per_second(glia=1)


def product(a, b, c):
    return a * b**2 / c


def test_the_spread_of_a_product_is_that_of_its_logarithms():
    widths = {"a": 100, "b": 10, "c": 1000}
    factors = [Assumption(n, 1, 1, wide, "", "ours") for n, wide in widths.items()]
    got = spread(factors, product, draws=100_000)
    # A uniform logarithm has a twelfth of its width squared as variance; b counts twice.
    wide = {"a": math.log(100), "b": 2 * math.log(10), "c": math.log(1000)}
    whole = sum(width**2 for width in wide.values())
    for name, width in wide.items():
        assert got.shares[name] == pytest.approx(width**2 / whole, abs=0.01)
    assert got.weakest == "c" and next(iter(got.shares)) == "c"
    assert np.var(np.log(got.values)) == pytest.approx(whole / 12, rel=0.02)
    assert got.median == pytest.approx(10 * 10 / 10**1.5, rel=0.05)


def test_what_cannot_vary_has_no_share():
    still = Assumption("a", 2, 2, 2, "", "ours")
    both = spread([still, Assumption("b", 1, 1, 9, "", "ours")], lambda a, b: a * b)
    assert both.shares["a"] == pytest.approx(0) and both.shares["b"] == pytest.approx(1)


def test_the_draws_are_the_same_each_time_and_stay_within_their_ranges():
    first, second = spread(draws=500), spread(draws=500)
    assert np.array_equal(first.values, second.values) and first.shares == second.shares
    least = operations_per_second(**{a.name: a.low for a in ASSUMPTIONS})
    most = operations_per_second(**{a.name: a.high for a in ASSUMPTIONS})
    assert least <= first.values.min() and first.values.max() <= most
    assert first.low < first.median < first.high
    assert first.reaching(0) == 500 and first.reaching(most * 1.01) == 0


def test_a_spread_names_its_weakest_assumption_in_text_and_on_a_page():
    got = spread(draws=2000)
    name = brain.in_words(got.weakest)
    assert f"{name} moves the result most" in repr(got)
    assert f"{name} moves the result most" in got._repr_html_()
    assert powers(got.low) in repr(got) and f"{got.shares[got.weakest]:.0%}" in repr(got)


def test_a_power_of_ten_is_written_as_one():
    assert powers(1.075e21) == "1.1×10²¹" and powers(1.075e21, 3) == "1.075×10²¹"
    assert powers(2e-7) == "2.0×10⁻⁷"
