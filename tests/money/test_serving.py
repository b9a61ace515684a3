"""Tokens by the million, and cards by the day. Sums by hand."""

import math

import pytest

from gpulessons.money.serving import RUNS, by_the_token, tokens, ways


def test_a_server_s_cards_are_bought_together():
    owned = [way for way in ways(128, 2048, (3, 5), 0.2) if way.verb == "own"]
    assert [way.together for way in owned] == [8, 8, 1]  # H200, B200, RTX PRO 6000


def test_each_way_is_what_its_offer_asks_for_a_day():
    found = {(way.verb, way.cards): way for way in ways(128, 2048, (3, 5), 0.20)}
    assert len(found) == 11
    assert found["rent", "2 × H100, 8 bits"].least == pytest.approx(24 * 2 * 3.20)
    rented, reserved = found["rent", "H200, 8 bits"], found["reserve", "H200, 8 bits"]
    assert (rented.least, rented.most) == pytest.approx((24 * 3.99, 24 * 4.59))
    assert (reserved.least, reserved.most) == pytest.approx((24 * 2.79, math.inf))  # "from"
    assert rented.full == pytest.approx(4336 * 86400 / 1e6)
    owned, power = found["own", "RTX PRO 6000, 4 bits"], 0.6 * 24 * 0.20
    assert owned.least == pytest.approx(8000 / 0.7 / (5 * 365.25) + power)
    assert owned.most == pytest.approx(9200 / 0.7 / (3 * 365.25) + power)


def test_lengths_that_nobody_published_are_refused_with_those_that_are():
    with pytest.raises(ValueError, match=r"\(128, 2048\).*not \(7, 8\)"):
        ways(7, 8, (3, 5), 0.20)


def test_each_card_has_ten_published_lengths_and_its_watts():
    assert all(len(tokens(name)) == 10 for name in RUNS)
    owned, dearer = (next(way for way in ways(128, 2048, (3, 5), kwh)
                          if (way.verb, way.cards) == ("own", "H200, 8 bits"))
                     for kwh in (0.0, 1.0))
    assert dearer.least - owned.least == pytest.approx(24 * 0.7)  # 700 W, by its data sheet


def test_an_apis_bill_is_by_the_token():
    assert by_the_token("DeepInfra", 5_000, 500) == pytest.approx(660e-6)
    with pytest.raises(LookupError, match="a million read"):
        by_the_token("nobody", 1, 1)
