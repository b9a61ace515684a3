"""Pictures for a buyer: a dot where a cost is known, a mark where a step stands."""

import dataclasses

import pytest
from matplotlib.text import Text

from gpulessons.illustrations import buying
from gpulessons.money.devices import PUBLISHED, Device
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
    assert len(picture.figure.axes) == 4 and "no panel" not in picture.alt
    assert "bare (published): no cost known" in picture.alt


def test_the_title_of_the_costs_is_their_verdict():
    priced = costs([BOX, CPU], currency="coins")
    picture = buying.dots(priced)
    assert picture.figure.get_suptitle() == priced.verdict
    assert picture.axes.get_xlabel() == "coins per core\n(log scale)"
    assert picture.axes.get_xscale() == "log"


def test_what_no_device_s_cost_is_known_of_has_no_panel_and_the_alt_text_says_so():
    rates = [dataclasses.replace(d, cores=None, lanes=None) for d in (BOX, CPU)]
    picture = buying.dots(costs(rates))
    labels = [axes.get_xlabel().partition("\n")[0] for axes in picture.figure.axes]
    assert labels == ["per TFLOP/s", "per GB/s"]
    assert picture.alt.endswith("Of no device the cost per core or per lane is known: no panel.")


@pytest.mark.parametrize(
    ("known", "limits"),
    [([2], (1, 1000)), ([2, 999], (1, 1000)), ([0.02, 2000], (1e-3, 1e6)), ([1000], (1e3, 1e6)),
     ([1, 1000], (1, 1000))],
)  # fmt: skip
def test_an_axis_of_costs_stays_where_it_is_until_a_thousand_is_passed(known, limits):
    assert buying.thousands(known) == pytest.approx(limits)


def test_dots_move_under_a_slider_and_the_axis_does_not():
    axes = [
        buying.dots(costs([dataclasses.replace(BOX, price=price), CPU])).figure.axes[2]
        for price in (100, 2000)
    ]
    assert axes[0].get_xlim() == axes[1].get_xlim() and dots_of(axes[0]) != dots_of(axes[1])


def test_networks_move_under_a_slider_and_the_roofs_do_not():
    steps = ([Work("net", 1, 1)], [Work("net", 60, 1)])
    axes = [buying.roofs(worth(works, [BOX, CPU])).axes for works in steps]
    assert axes[0].get_xlim() == axes[1].get_xlim() == (0.1, 300)
    assert axes[0].get_ylim() == axes[1].get_ylim()


def test_names_of_steps_that_stand_close_do_not_overlap():
    close = [Work(f"net {n}", 50 + n, 10) for n in range(6)]
    picture = buying.roofs(worth(close, [BOX, CPU]))
    picture.figure.draw_without_rendering()
    names = [text for text in picture.axes.texts if text.get_text().startswith("net")]
    boxes = [Text.get_window_extent(name) for name in names]  # without the lines that lead there
    assert len(boxes) == 6
    assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])


def test_without_a_price_no_dot_is_drawn():
    free = dataclasses.replace(BOX, price=0)
    for devices in ([BARE], [free, BARE]):  # 0 has no place on a log axis
        picture = buying.dots(costs(devices))
        assert not any(dots_of(axes) for axes in picture.figure.axes)
        assert picture.alt.endswith("There is no panel: no cost above 0 is known.")
        assert picture.svg


def test_a_roof_bends_at_the_corner_and_steps_stand_at_their_flops_per_byte():
    picture = buying.roofs(worth(STEPS, [BOX, CPU, BARE]))
    assert dots_of(picture.axes) == [(100, 1e13, False), (10, 1e11, True)]
    upright = [line.get_xdata()[0] for line in picture.axes.lines
               if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]  # fmt: skip
    assert upright == pytest.approx([5, 5.2, 20])
    names = [text.get_text() for text in picture.axes.texts]
    assert {"few", "more", "many", "box (typed in)"} <= {*names}


def test_the_title_of_the_roofs_counts_the_steps_left_of_each_corner():
    told = buying.roofs(worth(STEPS, [BOX, CPU])).figure.get_suptitle()
    assert told == "Modelled: memory is the limit of 4 of 4 steps on box, of 3 on cpu."
    told = buying.roofs(worth(STEPS[3:], [BOX, CPU])).figure.get_suptitle()
    assert told == "Modelled: memory is the limit of 1 of 1 step on box, of none on the others."
    told = buying.roofs(worth(STEPS[3:], [CPU])).alt
    assert told.startswith("Modelled: FLOP/s are the limit of every step, on each device.")


def test_tensor_cores_have_a_roof_of_their_own_in_their_device_s_color():
    plain, tensor = [d for d in PUBLISHED if d.name.startswith("H200")]
    drawn = buying.roofs(worth(STEPS, [plain, tensor, BOX])).figure.axes[0]
    one, other, third = [each for each in drawn.lines if len(each.get_xdata()) == 3]
    assert one.get_color() == other.get_color() != third.get_color()
    assert one.get_linestyle() != other.get_linestyle()
    assert other.get_ydata()[-1] == tensor.flop_rate


def test_roofs_that_nobody_knows_are_not_drawn():
    with pytest.raises(ValueError, match="No device has both a flop_rate and a bandwidth"):
        buying.roofs(worth(STEPS, [BARE]))


def test_a_dot_stands_where_predicted_and_measured_meet():
    works = [Work("slow", 1, 1e10, 7, "v", 4.0), Work("sums", 1e11, 1, 7, "v", 1.0)]
    found = by_ceilings(Measured(CPU, works))
    picture = buying.hits(found)
    assert [dot[:2] for dot in dots_of(picture.axes)] == [(1, 4), (1, 1)]
    assert "The roof alone: in the median 62% of it is reached, at least 25% (slow)." in picture.alt
    assert "slow at 7: predicted 1 s, measured 4 s, 4× the predicted time" in picture.alt
    assert "predicted (modelled)" in picture.axes.get_xlabel()
    assert "measured (live)" in picture.axes.get_ylabel()
    assert len(buying.hits(found, found).figure.axes) == 2
    busy = dataclasses.replace(found, note="something else was running.")
    assert buying.hits(busy, busy).figure.get_suptitle().count("something else was running.") == 1


def test_a_disturbed_trial_s_title_tells_no_size_of_an_error():
    busy = Errors(by_ceilings(Measured(CPU, [Work("slow", 1, 1e10, 7, "v", 4.0)])).misses, "x",
                  CPU, "something else was running.", disturbed=True)  # fmt: skip
    assert buying.hits(busy).figure.get_suptitle() == "No result: something else was running."


def test_nothing_judged_is_nothing_drawn():
    with pytest.raises(ValueError, match="no op was both predicted and measured"):
        buying.hits(Errors((), "nothing", None, "one core"))
