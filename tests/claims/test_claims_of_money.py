"""Money: each verdict turns when its figures do, and prices come from the learner alone."""

from dataclasses import replace

import pytest
from turning import assert_measures_what_is_judged, assert_turns

from gpulessons import claims
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.money import PUBLISHED, Device

TURNS = {
    2: [
        ({"workers": 50.0, "costs": 300.0, "promised": 0}, LIMITS),
        ({"workers": 50.0, "costs": 0.8, "promised": 0}, REFUTED),
        ({"workers": 50.0, "costs": 3.0, "promised": 1}, LIMITS),
        ({"workers": 50.0, "costs": 0.8, "promised": 2}, REFUTED),
        ({"workers": None, "costs": None, "promised": 2}, UNTESTED),
    ],
    9: [
        ({"rent": 0.5}, HOLDS),
        ({"rent": 0.0}, HOLDS),  # free
        ({"rent": 5.0}, LIMITS),
        ({"rent": 100.0}, REFUTED),
        ({"rent": None}, UNTESTED),
    ],
    20: [
        ({"core": 1e11, "k80": 2e9, "gpu_multiprocessor": 5e11}, REFUTED),  # a core is no core
        ({"core": 1e11, "k80": 2e9, "gpu_multiprocessor": None}, REFUTED),
        ({"core": 3e9, "k80": 2e9, "gpu_multiprocessor": 5e11}, LIMITS),
        ({"core": 1e9, "k80": 2e9, "gpu_multiprocessor": 5e11}, REFUTED),  # no faster
    ],
    26: [
        ({"devices": 5, "split": 2, "buys": 2}, LIMITS),
        ({"devices": 5, "split": 2, "buys": 1}, LIMITS),
        ({"devices": 5, "split": 0, "buys": None}, REFUTED),
        ({"devices": 5, "split": 2, "buys": None}, UNTESTED),
    ],
    27: [
        ({"again": 0.93, "published": 1e21, "apart": 10.0, "wider": 1e5}, UNTESTED),
        ({"again": 0.1, "published": 1e21, "apart": 10.0, "wider": 1e5}, REFUTED),
    ],
}


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_turns_with_its_figures(number):
    assert_turns(number, *TURNS[number])


@pytest.mark.parametrize("number", TURNS)
def test_the_test_of_a_claim_runs_here(number, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    assert_measures_what_is_judged(number)


def device(name, price, **more):
    return Device(name, bandwidth=1e11, price=price, kind="recorded", where="a day", **more)


def verdicts_of(*devices):
    return [each.verdict for each in claims.judge(2, 9, given=claims.Given(devices=devices))]


def test_prices_decide_and_nothing_else_does():
    quick = device("quick", 40, lanes=100, flop_rate=2e12)
    wide = device("wide", 40, lanes=4000, flop_rate=8e12, price_per_hour=1)
    dear = device("wide", 400, lanes=4000, flop_rate=8e12, price_per_hour=0.01)
    assert verdicts_of(wide, quick) == [LIMITS, REFUTED]
    assert verdicts_of(dear, quick) == [REFUTED, HOLDS]
    assert verdicts_of() == [UNTESTED] * 2


def test_what_a_box_promises_decides_and_is_said_to_be_a_promise():
    quick = device("quick", 40, lanes=100, flop_rate=2e12)
    promised = Device("wide", lanes=4000, flop_rate=8e12, price=40)
    assert verdicts_of(promised, quick) == [LIMITS, UNTESTED]
    found = claims.judge(2, given=claims.Given(devices=(promised, quick)))[2]
    assert "by what its box promises" in found.why and found.lacks == ()


def test_a_free_service_is_a_rent_of_nothing():
    free = device("free", 100, price_per_hour=0)
    assert verdicts_of(free) == [UNTESTED, HOLDS]


@pytest.mark.parametrize("number", [2, 9])
def test_without_prices_it_is_prices_that_are_lacking(number):
    assert claims.judge(number)[number].lacks == ("your prices",)


def test_a_device_of_yours_takes_the_place_of_a_published_one():
    priced = [replace(each, price=100) for each in PUBLISHED]
    found = claims.judge(26, given=claims.Given(devices=tuple(priced)))[26]
    assert "test failed" not in found.why
