"""Pictures of renting and buying: the crossing drawn is the crossing said."""

import pytest

from gpulessons.illustrations import renting as draw
from gpulessons.money.renting import Plan

NUMBERS = {"price": 1000, "rent_per_hour": 3, "watts": 1000, "price_per_kwh": 1, "years": 2,
           "hours_per_week": 84}  # fmt: skip


def dots(picture):
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0]))
            for line in picture.axes.lines if line.get_marker() == "o"]  # fmt: skip


def test_the_title_says_the_hours_and_the_dot_is_there():
    picture = draw.costs(**NUMBERS)
    assert "break-even after 500 hours of use" in picture.alt
    assert dots(picture) == [(500, 1500)]
    assert picture.figure._suptitle.get_text() == Plan(**NUMBERS).message


def test_the_end_of_support_is_a_line_and_what_follows_is_dotted():
    axes = draw.costs(**NUMBERS).axes
    assert any(list(line.get_xdata()) == [8766, 8766] for line in axes.lines)
    (dotted,) = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert dotted.get_xdata().min() >= 8766
    (energy,) = axes.collections
    shaded = energy.get_paths()[0].get_extents()
    assert (shaded.x1, shaded.y0, shaded.y1) == pytest.approx((8766, 1000, 9766))
    assert any("90%" in text.get_text() for text in axes.texts)  # 8,766 of 9,766


def test_where_renting_is_always_cheaper_nothing_crosses():
    picture = draw.costs(**NUMBERS | {"rent_per_hour": 0.5})
    assert "renting is always cheaper" in picture.alt and not dots(picture)


def test_a_crossing_far_beyond_the_end_of_support_does_not_squeeze_the_rest():
    near, far = (Plan(**NUMBERS | {"years": years}) for years in (0.08, 0.01))
    assert draw.until(near) > near.break_even > near.useful_hours
    assert draw.until(far) < far.break_even


def test_an_hours_cost_crosses_the_rent_at_the_break_even_utilization():
    plan = Plan(**NUMBERS)
    picture = draw.per_hour(**NUMBERS)
    here, even = dots(picture)
    assert here == (0.5, pytest.approx(plan.per_useful_hour()))
    assert even == (pytest.approx(plan.break_even_utilization), 3)
    assert f"the rent; break-even at {plan.break_even_utilization:.0%}" in picture.alt


@pytest.mark.parametrize("hours", [1, 0.1])
def test_however_few_the_hours_of_a_week_their_dot_is_on_the_axis(hours):
    picture = draw.per_hour(**NUMBERS | {"hours_per_week": hours})
    left, right = picture.axes.get_xlim()
    assert left <= dots(picture)[0][0] <= right
    assert f"Used {'0.6' if hours == 1 else '0.06'}% of its life" in picture.alt


@pytest.mark.parametrize("make", [draw.costs, draw.per_hour])
def test_no_tick_is_written_in_powers_of_ten(make):
    picture = make(**NUMBERS | {"price": 1e10, "rent_per_hour": 1e6})
    picture.figure.draw_without_rendering()
    ticks = [label.get_text() for label in picture.axes.get_yticklabels()]
    assert any("000,000" in tick for tick in ticks) and not any("e+" in tick for tick in ticks)


@pytest.mark.parametrize("make", [draw.costs, draw.per_hour])
@pytest.mark.parametrize(
    "changes",
    [{"rent_per_hour": 0}, {"price": 0}, {"price": 0, "price_per_kwh": 0}, {"watts": 0},
     {"hours_per_week": 168, "idle_watts": 9, "resale": 1},
     {"price": 0, "price_per_kwh": 0, "rent_per_hour": 0}],
)  # fmt: skip
def test_every_edge_has_a_picture(make, changes, recwarn):
    assert make(**NUMBERS | changes).svg
    assert not [str(one.message) for one in recwarn]


@pytest.mark.parametrize("make", [draw.costs, draw.per_hour])
def test_without_a_price_the_picture_asks_for_it(make):
    picture = make(price=1000)
    assert picture.alt.startswith("Nothing to compare yet. Type in: rent_per_hour")
    assert not picture.axes.lines
