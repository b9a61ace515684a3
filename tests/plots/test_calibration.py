"""The picture of a learner's predictions: every dot in view, no two words on each other."""

from itertools import combinations

import pytest

from gpulessons.notebook.controls.kept import Event
from gpulessons.notebook.controls.showing import Scale
from gpulessons.notebook.predictions.history import HOW, history_of
from gpulessons.notebook.predictions.scores import calibrated

TIMES, SHARE = Scale(0.1, 1000.0, "×"), Scale(0.0, 100.0, "%")
CASES = [(0, False), (1, False), (2, True), (7, False), (17, True), (40, True)]


def made(n, linear):
    """So many predictions, spread by a rule; where `linear`, each fifth is a share."""
    events = []
    for i in range(n):
        share = linear and i % 5 == 1
        true = (7 * i) % 100 if share else 10 ** ((i * 0.37) % 3 - 0.5)
        guess = (11 * i) % 100 if share else true * 10 ** ((i * 0.61) % 2 - 0.8)
        tier = "counted" if linear and i % 4 == 3 else "live"
        about = f"q{i}", f"Question {i}?", SHARE if share else TIMES
        events.append(Event("2026-11-22", *about, guess, (true,) * 3, tier, "x"))
    events.append(Event("2026-11-22", "p", "Published?", TIMES, 77.0, (7.7,) * 3, "published", "x"))
    return calibrated(history_of(events))


@pytest.mark.parametrize(("n", "linear"), CASES)
def test_every_scored_prediction_is_a_dot_in_view_and_nothing_else_is(n, linear):
    figure = made(n, linear).picture().figure
    left, *_, last = axes = figure.axes
    assert len(axes) == 2 + linear
    dots = [line for one in (left, last) for line in one.lines
            if line.get_marker() in ("o", "s") and len(line.get_xdata()) == 1]
    assert len(dots) == n
    for dot in dots:
        (low, high), (bottom, top) = dot.axes.get_xlim(), dot.axes.get_ylim()
        assert low < dot.get_xdata()[0] < high and bottom < dot.get_ydata()[0] < top


@pytest.mark.parametrize(("n", "linear"), CASES)
def test_no_two_words_meet_and_all_are_on_the_page(n, linear):
    figure = made(n, linear).picture().figure
    figure.draw_without_rendering()
    words = [figure._suptitle]
    for axes in figure.axes:
        words += [*axes.texts, axes.xaxis.label, axes.yaxis.label]
        for axis, (low, high), at in ((axes.xaxis, axes.get_xlim(), 0),
                                      (axes.yaxis, axes.get_ylim(), 1)):
            words += [tick for tick in axis.get_ticklabels()
                      if low <= tick.get_position()[at] <= high]
    words += [text for legend in figure.legends for text in legend.get_texts()]
    boxes = [text.get_window_extent() for text in words if text.get_text()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    page = figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    assert all(page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)


def test_the_band_is_a_factor_of_two_about_the_diagonal():
    axes = made(7, False).picture().axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    corners = axes.collections[0].get_paths()[0].vertices
    assert {round(float(y / x), 6) for x, y in corners} == {0.5, 2}
    assert axes.get_xlim() == axes.get_ylim()


def test_the_curve_beside_it_has_the_share_within_each_factor():
    shown = made(17, True)
    steps = shown.picture().figure.axes[1].lines
    for line, score in zip(steps, shown.scores.values(), strict=False):
        for factor, share in zip(line.get_xdata()[1:-1], line.get_ydata()[1:-1], strict=True):
            assert share == pytest.approx(100 * score.within(factor) / len(score.pairs))


def test_the_title_says_what_it_shows_and_the_alt_text_every_dot():
    shown = made(17, True)
    live, counted = shown.scores["live"], shown.scores["counted"]
    assert shown.title.startswith(
        f"Measured here: {live.within(2)} of {len(live.pairs)} predictions within a factor of 2; ")
    assert f"Counted: {counted.within(2)} of {len(counted.pairs)} prediction" in shown.title
    alt = shown.picture().alt
    assert alt.startswith(shown.title)
    for entry in shown.history.entries:
        assert (f"{entry.number}: guess " in alt) == entry.scored
    assert "7.7" not in alt, "it was published"


def test_with_none_it_says_how_to_make_one_and_with_one_it_is_singular():
    assert made(0, False).title == HOW == made(0, False).picture().alt
    assert "of 1 prediction within" in made(1, False).title


def test_where_dots_crowd_some_numbers_are_left_out_and_the_farthest_is_there():
    near = [Event("2026-11-22", f"q{i}", "?", TIMES, 3 + 0.1 * i, (3.0, 3.0, 3.0), "live", "x")
            for i in range(9)]
    figure = calibrated(history_of(near)).picture().figure
    figure.draw_without_rendering()
    texts = figure.axes[0].texts
    assert "9" in [text.get_text() for text in texts] and len(texts) < 9
    boxes = [text.get_window_extent() for text in texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_numbers_are_those_of_the_table():
    shown = made(7, False)
    numbered = {int(text.get_text()): text.xy for text in shown.picture().axes.texts}
    assert len(numbered) >= 5
    for number, at in numbered.items():
        entry = shown.history.entries[number - 1]
        assert (entry.number, entry.median, entry.guess) == (number, *at)
