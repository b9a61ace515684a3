"""The kitchen obeys Little's law, and what follows for many slow cooks and one fast one."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulessons.illustrations import kitchen
from gpulessons.illustrations.kitchen import orders, rush, simulate
from gpulessons.measure.results import Absent, Comparison, Timing

gaps = st.lists(st.floats(0, 30), min_size=1, max_size=40)
cooks = st.integers(1, 6)
minutes = st.floats(0.5, 20)


def minutes_of(gaps):
    now = 0.0
    for gap in gaps:
        now += gap
        yield now


@given(gaps, cooks, minutes)
def test_littles_law_holds_for_every_shift(gaps, cooks, minutes):
    shift = simulate(minutes_of(gaps), cooks, minutes)
    assert shift.in_kitchen == pytest.approx(shift.throughput / 60 * shift.latency)


@given(gaps, cooks, minutes)
def test_no_cook_has_two_dishes_and_no_order_waits_beside_an_idle_cook(gaps, cooks, minutes):
    dishes = simulate(minutes_of(gaps), cooks, minutes).dishes
    for number, dish in enumerate(dishes):
        before = [d for d in dishes[:number] if d.done > dish.started]
        assert dish.cook not in [d.cook for d in before]
        assert dish.started >= dish.ordered
        assert dish.started == dish.ordered or dish.started in [d.done for d in dishes[:number]]
        assert dish.done == dish.started + minutes


@given(gaps, st.integers(2, 6), minutes)
def test_one_fast_cook_serves_every_order_before_as_many_slow_ones_do(gaps, cooks, minutes):
    arrivals = list(minutes_of(gaps))
    slow, fast = simulate(arrivals, cooks, minutes), simulate(arrivals, 1, minutes / cooks)
    for a, b in zip(fast.dishes, slow.dishes, strict=True):
        assert a.done <= b.done or math.isclose(a.done, b.done)


@given(gaps, cooks, minutes)
def test_another_cook_never_makes_anyone_wait_longer(gaps, cooks, minutes):
    arrivals = list(minutes_of(gaps))
    few, more = simulate(arrivals, cooks, minutes), simulate(arrivals, cooks + 1, minutes)
    assert all(b.done <= a.done for a, b in zip(few.dishes, more.dishes, strict=True))


def test_a_rush_is_served_in_rounds():
    shift = simulate(rush(10), cooks=4, minutes=3)
    assert [dish.done for dish in shift.dishes] == [3] * 4 + [6] * 4 + [9] * 2
    assert shift.span == 9
    assert shift.throughput == pytest.approx(60 * 10 / 9)


def test_orders_come_at_random_at_the_rate_asked_for_and_the_same_every_time():
    arrivals = list(orders(5_000, per_hour=30))
    assert arrivals == sorted(arrivals) == list(orders(5_000, per_hour=30))
    assert arrivals[-1] / len(arrivals) == pytest.approx(2, rel=0.05)
    assert len({b - a for a, b in pairwise(arrivals)}) > 4_000


@pytest.mark.parametrize("staff", [1, 3, 16])
def test_the_picture_says_what_the_shift_was(staff):
    shift = simulate(orders(30, per_hour=20), staff, 8)
    said = repr(kitchen.picture(shift))
    assert f"{shift.throughput:.1f} dishes an hour" in said
    assert f"On average {shift.in_kitchen:.1f} orders" in said


def test_side_by_side_names_who_is_first_and_who_is_done_first():
    slow, fast = simulate(rush(40), 8, 8), simulate(rush(40), 1, 2)
    said = repr(kitchen.side_by_side({"8 slow": slow, "1 fast": fast}))
    assert said == (
        "The first portion: 1 fast 2 min, 8 slow 8 min. All 40: 8 slow 40 min, 1 fast 80 min."
    )


def test_flynns_kitchens_are_what_they_are_called():
    *_, sisd, simd, misd, mimd = repr(kitchen.four_classes()).rstrip(".").split(". ")
    cooks = [part.split(": ")[-1].split("; ") for part in (sisd, simd, misd, mimd)]
    verbs = [[[step.split()[0] for step in c.split(", ")] for c in each] for each in cooks]
    dishes = [[[step.split()[1] for step in c.split(", ")] for c in each] for each in cooks]
    assert len(cooks[0]) == 1
    assert len(cooks[1]) > 1
    assert all(v == verbs[1][0] for v in verbs[1])
    assert all(not set(a) & set(b) for a, b in pairwise(dishes[1]))
    assert all(d == dishes[2][0] for d in dishes[2])
    assert len({tuple(v) for v in verbs[2]}) == len(verbs[2])
    assert len({tuple(v) for v in verbs[3]}) == len(verbs[3])
    assert all(not set(a) & set(b) for a, b in pairwise(dishes[3]))


def test_a_schedule_counts_work_without_waiting():
    said = repr(
        kitchen.schedule({"one": [(5.0, 5.1, 0.1), (5.1, 5.2, 0.05)], "two": [(5, 5.1, 0.1)]})
    )
    assert said == (
        "1.2 of 2 programs were at work, on average over 200 ms. "
        "one: 2 calls, 150 ms of work; two: 1 call, 100 ms of work."
    )


def test_a_schedule_of_a_busy_machine_makes_no_claim():
    busy = {"one": [(5.0, 5.2, 0.05)], "two": [(5.0, 5.2, 0.05)]}
    assert "over 200 ms: the machine was too busy to tell." in repr(kitchen.schedule(busy))


def test_what_a_call_waited_is_not_drawn_as_work():
    axes = kitchen.schedule({"one": [(5.0, 5.1, 0.1), (5.1, 5.2, 0.025)]}).axes
    (waiting,) = axes.collections
    assert waiting.get_hatch() and not waiting.get_facecolor().any()
    (span,) = (path.get_extents() for path in waiting.get_paths())
    assert (span.x0, span.width) == pytest.approx((0, 0.2))
    full, part = axes.patches
    assert (full.get_height(), full.get_x()) == pytest.approx((0.7, 0))
    assert (part.get_height(), part.get_x()) == pytest.approx((0.175, 0.1))


def timing(size, seconds):
    return Timing(
        "relu", "NumPy", "host", size, (seconds,) * 3, (), 1, 1, 0.0, 0.0, 0.0,
        size, 8 * size, 0.0, False, "settled",
    )  # fmt: skip


def test_pace_names_the_least_latency_and_the_greatest_throughput():
    rows = timing(1, 1e-6), timing(1_000, 2e-6), Absent("relu", "CUDA", "gpu", 1, "no GPU")
    said = repr(kitchen.pace(Comparison("relu", rows, "here", "2026-11-21")))
    assert said.startswith("relu: no call takes less than 1 µs (NumPy), and none does more than")
    assert "500 Melements/s (NumPy)" in said


@pytest.mark.parametrize("draw", [kitchen.four_classes, lambda: kitchen.picture(
    simulate(rush(5), 2, 3)), lambda: kitchen.schedule({"a": [(0, 1, 1)]}),
])  # fmt: skip
def test_every_picture_can_be_drawn(draw):
    assert draw()._repr_html_().startswith("<figure")
