"""Pictures of the brain's arithmetic: what they say is what was drawn and what was computed."""

import pytest

from gpulessons.illustrations import brain as draw
from gpulessons.money.brain import ASSUMPTIONS, PUBLISHED, operations_per_second, powers, spread

SPREAD = spread(draws=500)


def marks(picture):
    """{the name of each row above: the FLOP/s of its dot}."""
    above = picture.figure.axes[0]
    dots = [float(line.get_xdata()[0]) for line in above.lines if line.get_marker() == "o"]
    return dict(zip([label.get_text() for label in above.get_yticklabels()], dots, strict=True))


def test_the_marks_are_the_source_the_learners_numbers_and_this_machine():
    got = marks(draw.estimates(1e11, SPREAD, firing_rate=2))
    assert got["the source, published"] == PUBLISHED
    assert got["these numbers"] == operations_per_second(firing_rate=2)
    assert got["this machine, measured"] == 1e11
    assert sum("published" in name for name in got) == 3


def test_the_title_gives_the_learners_estimate_and_the_spread():
    picture = draw.estimates(None, SPREAD, firing_rate=2)
    assert picture.alt.startswith(f"These numbers: {powers(operations_per_second(firing_rate=2))}")
    assert SPREAD.title in picture.alt
    assert "this machine" not in picture.alt


def test_every_draw_is_in_the_histogram():
    bins = draw.edges(SPREAD.values)
    assert bins[0] <= SPREAD.values.min() and SPREAD.values.max() <= bins[-1]
    (stairs,) = draw.estimates(None, SPREAD).figure.axes[1].patches[:1]
    assert sum(stairs.get_data().values) == 500


def test_the_numbers_of_sliders_are_taken_by_name():
    picture = draw.estimates(here=1e11, drawn=SPREAD, **{a.name: a.low for a in ASSUMPTIONS})
    assert powers(operations_per_second(**{a.name: a.low for a in ASSUMPTIONS})) in picture.alt
    with pytest.raises(ValueError, match="no assumption"):
        draw.estimates(drawn=SPREAD, glia=2)


def test_the_tornado_names_the_weakest_first_and_draws_each_from_its_least_to_its_most():
    picture = draw.shares(SPREAD)
    axes = picture.figure.axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == SPREAD.weakest.replace("_", " ") and len(names) == len(ASSUMPTIONS)
    (rate,) = [each for each in ASSUMPTIONS if each.name == "firing_rate"]
    ends = axes.lines[names.index("firing rate")].get_xdata()
    assert list(ends) == [operations_per_second(firing_rate=n) for n in (rate.low, rate.high)]
    assert f"{SPREAD.shares[SPREAD.weakest]:.0%} of the spread is one assumption's" in picture.alt
