"""Rent or buy: the sums by hand, the edges in one sentence each, and no price of ours anywhere."""

import math
from dataclasses import fields, replace

import pytest

from gpulessons.money.renting import HOURS_PER_YEAR, NEEDED, Energy, Plan

# 3 an hour rented; owned 1000 W at 1 a kWh, so 1 an hour; half of all hours of two years.
PLAN = Plan(price=1000, rent_per_hour=3, watts=1000, price_per_kwh=1, years=2, hours_per_week=84)


def test_the_hours_of_break_even_are_where_both_have_cost_the_same():
    assert PLAN.running == 1 and PLAN.break_even == 500
    assert PLAN.bought(500) == PLAN.rented(500) == 1500
    assert PLAN.bought(499) > PLAN.rented(499) and PLAN.bought(501) < PLAN.rented(501)


def test_what_is_sold_again_and_what_has_to_be_bought_besides_count_once():
    assert replace(PLAN, resale=0.25, rest=50).break_even == 400
    assert replace(PLAN, rest=200).fixed == 1200


def test_a_rented_device_twice_as_fast_is_half_as_dear():
    assert replace(PLAN, speed=2).rent == 1.5
    assert replace(PLAN, speed=2).break_even == 2000


def test_idle_hours_and_upkeep_are_paid_by_the_hours_of_use():
    lazy = replace(PLAN, hours_per_week=42, idle_watts=100)  # three idle hours for each of use
    assert lazy.running == pytest.approx(1 + 3 * 0.1)
    kept = replace(PLAN, upkeep_per_year=HOURS_PER_YEAR / 4)
    assert kept.running == pytest.approx(1 + 0.5)


@pytest.mark.parametrize(
    "changes",
    [{}, {"idle_watts": 300}, {"upkeep_per_year": 900, "rest": 70}, {"resale": 0.5, "speed": 1.4},
     {"years": 0.05}, {"hours_per_week": 1}, {"rent_per_hour": 1.1}],
)  # fmt: skip
def test_the_two_ways_of_being_even_agree(changes):
    plan = replace(PLAN, **changes)
    needed = plan.break_even_utilization
    assert plan.per_useful_hour(needed) == pytest.approx(plan.rent)
    assert (plan.break_even <= plan.useful_hours) == (plan.utilization >= needed)
    # Over the whole life an hour of use costs what the line says at its end.
    whole = plan.bought(plan.useful_hours) / plan.useful_hours
    assert plan.per_useful_hour() == pytest.approx(whole)
    assert plan.per_year == pytest.approx(whole * plan.useful_hours / plan.years)


def test_the_energys_share_is_of_what_the_owner_pays():
    assert PLAN.energy_share(500) == pytest.approx(500 / 1500)
    free = replace(PLAN, price=0, price_per_kwh=0)
    assert free.energy_share(10) == 0


def test_the_sentence_says_when_buying_pays_or_that_it_never_does():
    told = "At these numbers: break-even after 500 hours of use, 0.1 of 2 years. For fewer hours "
    assert told + "renting is cheaper." in repr(PLAN)
    soon = replace(PLAN, years=10, price=100)  # 50 hours: 0.01 of ten years
    assert soon.message.startswith("At these numbers: break-even after 50 hours of use. For fewer")
    assert "after 0.4 hours of use." in replace(PLAN, price=0.8).message
    late = replace(PLAN, years=0.1)
    assert "renting is cheaper: break-even after 500 hours of use, but support ends after 438" in (
        repr(late)
    )
    never = replace(PLAN, rent_per_hour=1)
    assert never.break_even == never.break_even_utilization == math.inf
    assert "renting is always cheaper" in repr(never) and "none is enough" in repr(never)
    assert "From a utilization" not in repr(never)
    gift = replace(PLAN, price=0)
    assert gift.break_even == 0 and "from the first hour" in repr(gift)


def test_where_only_these_hours_are_too_few_the_sentence_says_from_when_on():
    idle = replace(PLAN, price=100, idle_watts=500, hours_per_week=10)
    assert idle.break_even == math.inf and idle.break_even_utilization < 1
    assert f"From a utilization of {idle.break_even_utilization:.0%} on, buying is." in repr(idle)


def test_a_gift_whose_energy_costs_more_than_the_rent_is_not_cheaper():
    assert replace(PLAN, price=0, rent_per_hour=0.5).break_even == math.inf
    assert replace(PLAN, rent_per_hour=0).break_even == math.inf


def test_without_a_price_the_result_is_empty_and_says_what_to_type_in():
    empty = Plan()
    assert empty.missing == list(NEEDED)
    assert repr(empty).startswith("Nothing to compare yet. Type in: price, what the device costs")
    assert "<table" not in empty._repr_html_() and "rent_per_hour" in empty._repr_html_()
    assert replace(PLAN, watts=None).missing == ["watts"]


def test_no_price_no_watts_and_no_tariff_has_a_value_of_ours():
    for field in fields(Plan):
        neutral = {"speed": 1}.get(field.name, 0)
        assert field.default == (None if field.name in NEEDED else neutral), field.name
    assert Energy(1, 1).price_per_kwh is None


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("price", -1, "price is a number from 0 on"),
        ("watts", math.nan, "watts is a number from 0 on"),
        ("years", math.inf, "years is a number from 0 on"),
        ("hours_per_week", 169, "hours_per_week is at most 168"),
        ("resale", 1.1, "resale is at most 1"),
        ("speed", 0, "speed is more than 0"),
        ("years", 0, "years is more than 0"),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_name(name, value, why):
    with pytest.raises(ValueError, match=why):
        replace(PLAN, **{name: value})


def test_a_table_names_hours_utilization_and_energy():
    told = PLAN._repr_html_()
    assert "<caption>At these numbers: break-even" in told and "8,766" in told  # half of two years
    assert "break-even utilization" in told and "of it energy" in told


def test_energy_is_watts_times_seconds():
    hour = Energy(3600, 500, 2)
    assert hour.joules == 1.8e6 and hour.kwh == 0.5 and hour.cost == 1
    assert repr(hour) == "3,600 s at 500 W: 1.8 MJ, 0.5 kWh, 1 in your currency."
    step = Energy(0.002, 100)
    assert step.cost is None and "currency" not in repr(step)
    assert "0.2 J" in step._repr_html_()
