"""hint(): a nudge, then a line, one folded inside the other."""

import re

import pytest

from gpulessons import exercises, hint
from gpulessons.notebook import hints

EXERCISES = [getattr(exercises, name) for name in exercises.NAMES]
HINTED = [exercise for exercise in EXERCISES if exercise.hints]


def named(exercise):
    return exercise.name


def test_hints_have_two_layers_one_inside_the_other():
    assert exercises.guard in HINTED
    for exercise in HINTED:
        page = hint(exercise)._repr_html_()
        tags = re.findall(r"</?details", page)
        assert tags == 2 * ["<details"] + 2 * ["</details"]  # nested
        assert not any("open" in tag for tag in re.findall(r"<details[^>]*>", page))
        assert re.findall(r"<summary>(.*?)</summary>", page) == [
            "Hint 1: a nudge", "Hint 2: a line"
        ]  # fmt: skip


@pytest.mark.parametrize("exercise", HINTED, ids=named)
def test_its_line_is_in_the_solution_and_not_in_the_stub(exercise):
    _, line = exercise.hints
    solution = [one.strip() for one in exercise.solution.splitlines()]
    for one in line.splitlines():
        assert any(theirs.startswith(one.strip()) for theirs in solution), one
    assert not all(one.strip() in exercise.stub for one in line.splitlines())


def test_the_line_is_the_second_hint():
    text = repr(hint(exercises.no_conflicts))
    assert text.startswith("Hint 1: a nudge: Which columns j may row i use")
    assert "Hint 2: a line: tile[i, j ^ i] = x[" in text


def test_who_has_no_hints_is_told_what_else_there_is():
    with pytest.raises(ValueError, match=r"slowest has no hints; solution\(slowest\)"):
        hint(exercises.slowest)


def test_what_is_shown_is_escaped():
    page = hints.Hint("a < b", "if a < b:")._repr_html_()
    assert "<p>a &lt; b</p>" in page
