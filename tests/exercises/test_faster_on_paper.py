"""The exercise that is judged by modelled times: alike where nothing can read machine code."""

import pytest

from answers import attempt, faster_on_paper
from gpulessons import check, exercises
from warplens.code.cuda import CannotCompile
from warplens.model import modelling

EXERCISE = exercises.faster_on_paper
BEFORE = "import numpy as np\nfrom numba import cuda\n"
SLOW = ("38 of 40 multiprocessors have no block", "it waits for latency", "a tenth of the stub's")
SLOW_ANSWERS = [answer for answer in faster_on_paper.wrong if answer[2] in SLOW]
EDITS = [("", ""), *((what, instead) for what, instead, *_ in faster_on_paper.right)]


@pytest.fixture
def source_alone(monkeypatch):
    """No compiler and no disassembler: times are counted from the source."""

    def refuse(*arguments, **options):
        raise CannotCompile("there is no compiler")

    monkeypatch.setattr(modelling, "code_of", refuse)
    EXERCISE.lesson.before.cache_clear()
    yield
    EXERCISE.lesson.before.cache_clear()


def judged(what, instead):
    return check(EXERCISE, attempt(BEFORE + EXERCISE.solution.replace(what, instead)))


@pytest.mark.parametrize(("what", "instead"), EDITS)
def test_from_the_source_alone_what_is_quick_passes_and_says_where_its_time_comes_from(
    source_alone, what, instead
):
    verdict = judged(what, instead)
    assert verdict.passed, verdict
    assert "counted from the source alone" in verdict.ran


@pytest.mark.parametrize(("what", "instead", "reason"), SLOW_ANSWERS)
def test_from_the_source_alone_what_is_slow_is_refused(source_alone, what, instead, reason):
    assert len(SLOW_ANSWERS) == 4
    assert "a tenth of the stub's" in judged(what, instead).trouble


def test_what_is_quick_is_quick_by_a_good_margin_and_what_is_slow_is_far_from_it():
    """So that another figure of a device, or another compiler, does not turn the verdict."""
    lesson = EXERCISE.lesson

    def times_less(text):
        return lesson.before().seconds / lesson.on_paper(attempt(BEFORE + text)).seconds

    assert times_less(EXERCISE.solution) > 1.3 * lesson.TIMES_LESS
    small_blocks = EXERCISE.stub.replace("255) // 256, 256", "31) // 32, 32")
    assert times_less(small_blocks) < lesson.TIMES_LESS / 1.3


def test_the_stub_names_the_time_that_the_model_gives():
    assert f"{EXERCISE.lesson.before().seconds * 1e3:.1f} ms" in EXERCISE.stub
