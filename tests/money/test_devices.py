"""Devices: what data sheets and shops say."""

import pytest

from gpulessons.money.devices import CARDS, Device, card, cards


def test_the_ridge_point_is_where_both_limits_meet():
    mine = Device("a", {"float32": 6e12, "TF32": 9e12}, bandwidth=3e11)
    assert (mine.ridge("float32"), mine.ridge("TF32"), mine.ridge("16 bits")) == (20, 30, None)
    assert Device("a", {"float32": 6e12}).ridge("float32") is None


def test_cards_have_their_sheets_numbers_and_what_was_asked_for_them():
    found = {each.name: each for each in cards()}
    assert tuple(found) == CARDS
    h200, b200, a100 = found["H200"], found["B200"], found["A100 80 GB"]
    assert h200.rates == {"float32": 67e12, "TF32": 495e12, "16 bits": 989e12, "8 bits": 1979e12}
    assert (h200.bandwidth, h200.memory, h200.watts) == (4.8e12, 141e9, 700)
    assert found["H100"].rates == h200.rates  # the same chip
    assert found["H100"].bandwidth == pytest.approx(3.35e12, rel=1e-3)
    assert b200.rates["4 bits"] == 2 * b200.rates["8 bits"] == 4 * b200.rates["16 bits"] == 9e15
    assert set(card("T4").rates) == {"float32", "16 bits"} and card("T4").rent is None
    assert (h200.rent, h200.rent_most) == pytest.approx((3.99, 4.59))  # of three sellers
    assert (b200.rent, b200.rent_most) == pytest.approx((6, 7.15))
    # Of a server's price its cards are 60 to 70 %.
    assert (a100.price, a100.price_most) == pytest.approx((8_000 / 0.7, 15_000 / 0.6))
    assert (h200.price, h200.price_most) == pytest.approx((28_000 / 0.7, 31_000 / 0.6))
    assert all(each.where and each.memory and each.ridge("16 bits") for each in found.values())
    assert card("V100").rates["16 bits"] == 125e12
