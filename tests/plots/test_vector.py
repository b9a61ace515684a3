"""A figure in vectors: the drawing that matplotlib wrote, in less room, in the page's ink."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from gpulessons.plots.picture import BLUE, INK, Picture, blank, images, on
from gpulessons.plots.vector import brief, short_numbers, sign, steps, vector


def drawn(words="Twice as fast.", ys=(1, 3, 2)):
    figure, axes = blank(title=words)
    axes.plot(range(len(ys)), ys, marker="o", color=BLUE)
    axes.bar([0, 1], [1, 2], hatch="//", facecolor="none", edgecolor=BLUE)
    return figure


def points(path):
    """The positions that a path of steps goes through, as a browser would follow it."""
    here, start, found = np.zeros(2), np.zeros(2), []
    for letter, rest in re.findall(r"([mlqcz])([^mlqcz]*)", path):
        if letter == "z":
            here = start
            continue
        pairs = np.array(re.findall(r"-?[\d.]+", rest), float).reshape(-1, 2)
        count = {"m": 1, "l": 1, "q": 2, "c": 3}[letter]
        for each in pairs.reshape(-1, count, 2):
            corners = here + each
            found += [*corners]
            here = corners[-1]
        start = here if letter == "m" else start
    return np.array(found)


def test_steps_lead_through_the_same_points():
    random = np.random.default_rng(0)
    at = random.uniform(-300, 300, (6, 2))
    path = "M {} {} L {} {} Q {} {} {} {} z M {} {} L {} {}".format(*at.ravel())
    assert np.abs(points(steps(path, 0.1)) - at).max() <= 0.05 + 1e-9


def test_no_error_adds_up_over_many_steps():
    at = np.cumsum(np.full((500, 2), 0.123), axis=0)
    path = "M 0 0 " + " ".join(f"L {x} {y}" for x, y in at)
    assert np.abs(points(steps(path, 0.1))[-1] - at[-1]).max() <= 0.05 + 1e-9


def test_after_a_closed_part_steps_go_on_from_its_beginning():
    assert steps("M 1 1 L 3 1 z M 5 5 L 6 6", 0.1) == "m1 1l2 0zm4 4l1 1"


@pytest.mark.parametrize(("number", "words"), [(0.5, ".5"), (-0.5, "-.5"), (3.0, "3"),
                                               (-0.0001, "0"), (10.0, "10")])  # fmt: skip
def test_numbers_are_brief(number, words):
    assert brief(number, 1) == words


def test_colors_and_names_are_no_numbers():
    for name in ("url(#h715e00)", "#1e5000"):
        assert short_numbers(name) == name


def test_the_ink_is_the_pages_text_color_and_other_colors_stay():
    svg = vector(drawn(), INK, 100)
    assert "currentColor" in svg and INK not in svg and BLUE.lower() in svg


def test_it_is_well_formed_and_every_name_in_it_is_defined_once():
    svg = vector(drawn(), INK, 100)
    ids = [element.get("id") for element in ElementTree.fromstring(svg).iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="|url\()#([\w-]+)', svg)) == set(ids)


def test_two_figures_of_a_page_share_names_only_for_the_same_and_one_is_always_written_alike():
    one, other = vector(drawn(), INK, 100), vector(drawn("Half.", (3, 9, 1)), INK, 100)
    defined = [
        {each.get("id"): ElementTree.tostring(each) for each in ElementTree.fromstring(svg).iter()
         if each.get("id")} for svg in (one, other)
    ]  # fmt: skip
    shared = set(defined[0]) & set(defined[1])
    assert shared and all(defined[0][name] == defined[1][name] for name in shared)
    assert vector(drawn(), INK, 100) == one and sign(one) != sign(other)


def test_it_takes_about_half_the_room_of_matplotlibs_own():
    import io

    figure, whole = drawn(), io.StringIO()
    figure.savefig(whole, format="svg")
    assert len(vector(figure, INK, 100)) < 0.55 * len(whole.getvalue())


def test_every_letter_and_mark_is_still_there():
    words = "Words, and 3 marks"
    figure, axes = blank(title=words)
    axes.set_axis_off()
    axes.plot([1, 2, 3], marker="o", linestyle="")
    uses = ElementTree.fromstring(vector(figure, INK, 100)).iter("{http://www.w3.org/2000/svg}use")
    assert len(list(uses)) == len(words) + 3


def test_a_photograph_is_packed_as_one():
    random = np.random.default_rng(0)
    shown = images({"noise": random.random((40, 40, 3)), "more": random.random((40, 40, 3))})
    assert shown.svg.count("data:image/webp") == 2 and "data:image/webp" in shown.image
    assert "data:image/png" in Picture(drawn(), "bars").image


def test_an_image_that_is_drawn_in_sharp_squares_is_one():
    figure, axes = blank()
    axes.imshow([[0, 1], [1, 0]], interpolation="none")
    assert "data:image/png" in vector(figure, INK, 100)


def test_words_on_an_area_are_black_or_white_whichever_reads_better():
    assert [on(color) for color in ("#ffffff", "#56B4E9", "#0072B2", "#000000")] == [
        "#000000", "#000000", "#ffffff", "#ffffff"]


def test_pairs_of_equal_points_are_not_drawn_twice():
    path = steps("M 0 0 L 0.01 0 L 5 0", 0.1)
    assert all(one.any() for one in [b - a for a, b in pairwise(points(path))])
