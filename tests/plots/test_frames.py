"""What moves on a saved page: every frame is on it, packed, and a still picture for the rest."""

import base64
import json
import math
import re
import zlib

import numpy as np
import pytest

from gpulessons.illustrations import systolic
from gpulessons.notebook.controls import beforehand
from gpulessons.notebook.controls.interactive import live
from gpulessons.notebook.controls.sliders import control, slider
from gpulessons.plots import frames
from gpulessons.plots.film import spread
from gpulessons.plots.picture import Picture, blank


def unpacked(page):
    packed = re.search(r'<script type="text/plain">([^<]*)</script>', page)[1]
    held = json.loads(zlib.decompress(base64.b64decode(packed)))
    tags = held.pop("tags")
    assert len(tags) == len(set(tags))
    held["frames"] = [["<".join(tags[place] for place in places), words]
                      for places, words in held["frames"]]  # fmt: skip
    return held


def picture(words):
    return Picture(blank(title=words)[0], words)


@pytest.fixture
def saved(monkeypatch):
    monkeypatch.setenv(frames.SAVING, "1")


def test_a_page_holds_all_frames_and_a_still_for_pages_without_scripts():
    drawn = [("<b>1</b>", "one"), ("<b>2</b>", "two")]
    page = frames.moving([("n", ["1", "2"], 1)], drawn, "<i>?</i>")
    assert unpacked(page) == {
        "controls": [{"name": "n", "values": ["1", "2"], "start": 1}],
        "frames": [["<b>1</b>", "one"], ["<b>2</b>", "two"]],
    }
    assert re.sub(r"<script.*</script>", "", page, flags=re.DOTALL).count("<i>?</i>") == 1


def test_a_picture_is_saved_as_its_image_and_its_packed_vectors(saved):
    shown = picture("One message.")
    page = shown._repr_html_()
    assert "<svg" not in page and 'alt="One message."' in page
    assert unpacked(page)["frames"] == [[shown.drawing, "One message."]]
    assert len(page) < len(shown.drawing + shown.image)


def test_a_film_is_saved_with_all_its_steps_and_its_multiples(saved):
    film = systolic.Pass(np.ones((4, 3)), np.ones((3, 3)))
    bundle = film._repr_mimebundle_()
    held = unpacked(bundle["text/html"])
    assert held["controls"][0]["values"] == [f"{n} of 8" for n in range(1, 9)]
    assert [words for _, words in held["frames"]] == [film.figure(n).alt for n in range(8)]
    assert film.multiples().alt[:30] in bundle["text/html"]


def test_what_is_too_large_has_fewer_frames():
    pages = ["x" * (frames.LARGEST + 1), "small", "smaller"]
    assert frames.fitting(pages) == "small"
    assert frames.fitting(pages[:1]) == pages[0]


def test_chosen_steps_have_the_first_and_the_last():
    assert spread(5, 60) == [0, 1, 2, 3, 4] and spread(1, 8) == [0]
    assert spread(100, 8)[0] == 0 and spread(100, 8)[-1] == 99 and len(spread(100, 8)) == 8


def test_sliders_are_saved_with_a_frame_for_every_combination(monkeypatch):
    monkeypatch.setattr(beforehand, "SECONDS", math.inf)
    tried = []

    def shown(n, kind):
        tried.append((n, kind))
        return picture(f"{n} {kind}")

    long = slider(1, 3, 2, step=1, unit="cm")
    lesson = live(shown, n=long, kind=["a", "b"], labels={"n": "length"})
    held = unpacked(lesson.page())
    assert held["controls"] == [
        {"name": "length", "values": ["1 cm", "2 cm", "3 cm"], "start": 1},
        {"name": "kind", "values": ["a", "b"], "start": 0},
    ]
    assert [words for _, words in held["frames"]] == ["1 a", "1 b", "2 a", "2 b", "3 a", "3 b"]
    assert lesson.values == {"n": 2, "kind": "a"}


def test_a_long_slider_has_some_of_its_values_its_first_among_them():
    control = slider(1, 1000, 337, step=1)
    chosen = beforehand.some(control, 8)
    assert chosen[0] == 1 and chosen[-1] == 1000 and 337 in chosen and len(chosen) == 8
    assert beforehand.some(control, 1000) == list(control.values)
    for start in (1, 2, 500, 999, 1000):
        three = beforehand.some(slider(1, 1000, start, step=1), 3)
        assert {1, start, 1000} <= set(three), "there is a way to either side"


def test_a_page_has_the_values_that_are_to_be_saved_and_where_the_slider_starts():
    control = slider(1, 256, 150, step=1, saved=(129, 128))
    assert beforehand.some(control, 8) == [128, 129, 150]
    held = unpacked(live(lambda n: picture(str(n)), n=control).page())
    assert held["controls"][0]["values"] == ["128", "129", "150"]
    with pytest.raises(ValueError, match="300 is not on the slider"):
        slider(1, 256, 150, saved=(300,))


def test_of_many_controls_the_last_stay_and_the_page_says_which(monkeypatch):
    monkeypatch.setattr(beforehand, "SECONDS", math.inf)
    page = live(lambda **values: picture(str(values)),
                **{name: slider(1, 9, 5) for name in "abcdef"}).page()
    controls = unpacked(page)["controls"]
    assert [(each["name"], len(each["values"])) for each in controls] == [
        ("a", 3), ("b", 3), ("c", 3)]  # fmt: skip
    assert page.endswith("<p>Run this cell to turn also: d; e; f.</p>")


def test_a_choice_of_numbers_is_in_order_and_starts_at_the_one_named_first():
    choice = control("blocks", [9, 1, 4])
    assert (choice.values, choice.start) == ((1, 4, 9), 9)
    assert control("on", ["T4", "A100"]).values == ("T4", "A100")


def test_what_a_function_refuses_is_a_frame_that_says_so():
    def shown(n):
        if n == 3:
            raise ValueError("three is too many")
        return picture(str(n))

    *_, last = unpacked(live(shown, n=slider(1, 3, 1, step=1)).page())["frames"]
    assert "three is too many" in last[1]


def test_what_is_slow_or_measured_by_a_button_is_not_drawn_beforehand(monkeypatch):
    calls = []
    assert live(lambda n: calls.append(n), n=(1, 3), run="Measure").page() == "" and not calls
    monkeypatch.setattr(beforehand, "SECONDS", 0.0)
    assert live(lambda n: picture(str(n)), n=(1, 3)).page() == ""
