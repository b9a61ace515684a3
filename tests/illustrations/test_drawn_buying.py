"""Pictures for a buyer: a dot where a cost is known, a mark where a step stands."""

import dataclasses

import pytest

from gpulessons.illustrations import buying
from gpulessons.money.devices import Device
from gpulessons.money.errors import Errors, Measured, by_ceilings
from gpulessons.money.prediction import Work, worth
from gpulessons.money.throughput import costs

BOX = Device("box", cores=10, lanes=10, flop_rate=1e13, bandwidth=1e11, price=20)  # corner: 100
CPU = Device("cpu", cores=2, lanes=40, flop_rate=1e11, bandwidth=1e10, price=20, kind="live")  # 10
BARE = Device("bare", cores=8, kind="published")
STEPS = [Work("copy", 0, 1), Work("few", 50, 10), Work("more", 52, 10), Work("many", 200, 10)]


def dots_of(axes):
    """(x, y, filled) of each point that is drawn alone."""
    alone = [line for line in axes.lines if len(line.get_xydata()) == 1]
    return [(*line.get_xydata()[0], line.get_markerfacecolor() != "none") for line in alone]


def test_a_dot_stands_at_its_cost_and_is_filled_where_it_was_measured():
    picture = buying.dots(costs([BOX, CPU, BARE]))
    assert dots_of(picture.figure.axes[0]) == [(2, 0, False), (10, 1, True)]
    assert dots_of(picture.figure.axes[1]) == [(2, 0, False), (0.5, 1, True)]
    assert "bare (published): no cost known" in picture.alt


def test_the_title_of_the_costs_is_their_verdict():
    priced = costs([BOX, CPU], currency="coins")
    picture = buying.dots(priced)
    assert picture.figure.get_suptitle() == priced.verdict
    assert picture.axes.get_xlabel() == "coins per core\n(log scale)"
    assert picture.axes.get_xscale() == "log"


def test_without_a_price_no_dot_is_drawn():
    free = dataclasses.replace(BOX, price=0)
    for devices in ([BARE], [free, BARE]):  # 0 has no place on a log axis
        picture = buying.dots(costs(devices))
        assert not any(dots_of(axes) for axes in picture.figure.axes)
        assert "not known" in [text.get_text() for text in picture.axes.texts]
        assert picture.png


def test_a_roof_bends_at_the_corner_and_steps_stand_at_their_flops_per_byte():
    picture = buying.roofs(worth(STEPS, [BOX, CPU, BARE]))
    assert dots_of(picture.axes) == [(100, 1e13, False), (10, 1e11, True)]
    upright = [line.get_xdata()[0] for line in picture.axes.lines
               if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]  # fmt: skip
    assert upright == [5, 20]
    names = [text.get_text() for text in picture.axes.texts]
    assert "few, more" in names and "many" in names and "box (typed in)" in names


def test_the_title_of_the_roofs_counts_the_steps_left_of_each_corner():
    told = buying.roofs(worth(STEPS, [BOX, CPU])).figure.get_suptitle()
    assert told == "Modelled: of 4 steps, bytes/s limit 4 on box, 3 on cpu."
    told = buying.roofs(worth(STEPS[3:], [BOX, CPU])).figure.get_suptitle()
    assert told == "Modelled: of 1 step, bytes/s limit 1 on box, none on the others."
    told = buying.roofs(worth(STEPS[3:], [CPU])).alt
    assert told.startswith("Modelled: FLOP/s are the limit of every step, on each device.")


def test_roofs_that_nobody_knows_are_not_drawn():
    with pytest.raises(ValueError, match="No device has both a flop_rate and a bandwidth"):
        buying.roofs(worth(STEPS, [BARE]))


def test_a_dot_stands_where_predicted_and_measured_meet():
    works = [Work("slow", 1, 1e10, 7, "v", 4.0, 2), Work("sums", 1e11, 1, 7, "v", 1.0, 2)]
    found = by_ceilings(Measured(CPU, works))
    picture = buying.hits(found)
    assert [dot[:2] for dot in dots_of(picture.axes)] == [(1, 4), (1, 1)]
    assert (
        "From its own ceilings: typically off by 2.5×, at worst 4× slower than predicted (slow)."
        in picture.alt
    )
    assert "slow at 7: predicted 1 s, measured 4 s, 4× slower than predicted" in picture.alt
    assert "predicted (modelled)" in picture.axes.get_xlabel()
    assert "measured (live)" in picture.axes.get_ylabel()
    assert len(buying.hits(found, found).figure.axes) == 2
    busy = dataclasses.replace(found, note="something else was running.")
    assert buying.hits(busy, busy).figure.get_suptitle().count("something else was running.") == 1


def test_a_disturbed_trial_s_title_tells_no_size_of_an_error():
    busy = Errors(by_ceilings(Measured(CPU, [Work("slow", 1, 1e10, 7, "v", 4.0, 2)])).misses, "x",
                  CPU, "something else was running.", disturbed=True)  # fmt: skip
    assert buying.hits(busy).figure.get_suptitle() == "No result: something else was running."


def test_nothing_judged_is_nothing_drawn():
    with pytest.raises(ValueError, match="no op was both predicted and measured"):
        buying.hits(Errors((), "nothing", None, "one core"))
