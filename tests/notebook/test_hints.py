"""hint(): a nudge, a picture, a line, each folded inside the one before."""

import re

import pytest

from gpulessons import exercises, hint
from gpulessons.illustrations import puzzles
from gpulessons.notebook import hints

EXERCISES = [getattr(exercises, name) for name in exercises.NAMES]
HINTED = [exercise for exercise in EXERCISES if exercise.hints]
DRAWN = ("map_1d",)


def named(exercise):
    return exercise.name


def test_hints_with_a_picture_have_three_layers_each_inside_the_one_before():
    found = [exercise for exercise in HINTED if len(exercise.hints) == 3]
    assert exercises.guard in found
    for exercise in found:
        page = hint(exercise)._repr_html_()
        tags = re.findall(r"</?details", page)
        assert tags == 3 * ["<details"] + 3 * ["</details"]  # nested
        assert not any("open" in tag for tag in re.findall(r"<details[^>]*>", page))
        assert re.findall(r"<summary>(.*?)</summary>", page) == [
            "Hint 1: a nudge", "Hint 2: a picture", "Hint 3: a line"
        ]  # fmt: skip


@pytest.mark.parametrize("exercise", HINTED, ids=named)
def test_its_line_is_in_the_solution_and_not_in_the_stub(exercise):
    _, *picture, line = exercise.hints
    solution = [one.strip() for one in exercise.solution.splitlines()]
    for one in line.splitlines():
        assert any(theirs.startswith(one.strip()) for theirs in solution), one
    assert not all(one.strip() in exercise.stub for one in line.splitlines())
    assert set(picture) <= set(DRAWN) and len(picture) < 2


def test_without_a_picture_the_line_is_the_second_hint():
    text = repr(hint(exercises.no_conflicts))
    assert text.startswith("Hint 1: a nudge: In which bank lies tile[i, j]?")
    assert "Hint 2: a line: tile = cuda.shared.array((32, 33)" in text


def test_as_text_a_picture_is_its_message():
    assert puzzles.map_1d().alt in repr(hint(exercises.guard))


def test_a_picture_is_drawn_when_it_is_shown_and_once(monkeypatch):
    drawn = []
    monkeypatch.setattr(puzzles, "map_1d", lambda: drawn.append(1) or "a picture")
    shown = hints.Hint("a nudge", "map_1d", "a line")
    assert not drawn
    assert shown.picture == "a picture" == shown.picture
    assert drawn == [1]


@pytest.mark.parametrize("name", DRAWN)
def test_every_picture_has_a_title_and_more_words_for_who_cannot_see_it(name):
    picture = getattr(puzzles, name)()
    title = picture.alt.partition(".")[0]
    assert title in picture.svg and len(picture.alt) > len(title) + 20


def test_who_has_no_hints_is_told_what_else_there_is():
    with pytest.raises(ValueError, match=r"slowest has no hints; solution\(slowest\)"):
        hint(exercises.slowest)


def test_what_is_shown_is_escaped():
    page = hints.Hint("a < b", "", "if a < b:")._repr_html_()
    assert "<p>a &lt; b</p>" in page
