"""Money: each verdict turns when its figures do, and prices come from the learner alone."""

import pytest
from turning import assert_measures_what_is_judged, assert_turns

from gpulessons import claims
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.money import Device

TURNS = {
    2: [
        ({"workers": 50.0, "costs": 3.0}, LIMITS),
        ({"workers": 50.0, "costs": 0.8}, REFUTED),
        ({"workers": None, "costs": None}, UNTESTED),
    ],
    9: [
        ({"share": 2.0}, HOLDS),
        ({"share": 0.2}, LIMITS),
        ({"share": 0.01}, REFUTED),
        ({"share": None}, UNTESTED),
    ],
    20: [
        ({"core": 1e11, "k80": 8e12, "k80_cores": 5000, "gpu_multiprocessor": 5e11}, LIMITS),
        ({"core": 1e11, "k80": 8e12, "k80_cores": 5000, "gpu_multiprocessor": None}, UNTESTED),
        ({"core": 1e9, "k80": 8e12, "k80_cores": 5000, "gpu_multiprocessor": 5e11}, REFUTED),
    ],
    26: [
        ({"devices": 5, "split": 2, "buys": 2}, LIMITS),
        ({"devices": 5, "split": 2, "buys": 1}, REFUTED),
        ({"devices": 5, "split": 0, "buys": None}, REFUTED),
        ({"devices": 5, "split": 2, "buys": None}, UNTESTED),
    ],
    27: [
        ({"again": 0.93, "published": 1e21, "apart": 10.0}, HOLDS),
        ({"again": 0.93, "published": 1e21, "apart": 1e3}, LIMITS),
        ({"again": 0.93, "published": 1e21, "apart": 1e5}, REFUTED),
        ({"again": 0.1, "published": 1e21, "apart": 10.0}, REFUTED),
    ],
}


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_turns_with_its_figures(number):
    assert_turns(number, *TURNS[number])


@pytest.mark.parametrize("number", TURNS)
def test_the_test_of_a_claim_runs_here(number, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    assert_measures_what_is_judged(number)


def test_prices_decide_and_nothing_else_does():
    wide = Device("wide", lanes=4000, flop_rate=8e12, bandwidth=4e11, price=40, price_per_hour=1)
    quick = Device("quick", lanes=100, flop_rate=2e12, bandwidth=2e11, price=40)
    given = claims.Given(devices=(wide, quick))
    assert [each.verdict for each in claims.judge(2, 9, given=given)] == [LIMITS, REFUTED]
    dear = Device("wide", lanes=4000, flop_rate=8e12, bandwidth=4e11, price=400,
                  price_per_hour=0.01)  # fmt: skip
    given = claims.Given(devices=(dear, quick))
    assert [each.verdict for each in claims.judge(2, 9, given=given)] == [REFUTED, HOLDS]
    assert [each.verdict for each in claims.judge(2, 9)] == [UNTESTED] * 2
