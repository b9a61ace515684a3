"""The one judge: figures are ranges, thresholds are two, and each statement can get each word."""

import math
from dataclasses import replace
from itertools import product

import pytest

from gpulessons import claims
from gpulessons.claims.findings import NONE
from gpulessons.claims.judge import HOLDS, LIMITS, OPEN, REFUTED, Figure
from gpulessons.illustrations import verdicts as draw

INF = math.inf
UPPER, LOWER = f"{HOLDS} or {LIMITS}", f"{LIMITS} or {REFUTED}"
ENDS = -INF, 0.5, 1, 2, 3, 4, INF  # of ranges, around the thresholds 1 and 3
STATEMENTS = claims.statements()


def figure(low, high=None, kind="live", where="there"):
    return Figure("x", kind, low, low if high is None else high, where)


@pytest.mark.parametrize(("low", "high", "said"), [
    (3, 3, HOLDS), (3, 9, HOLDS), (2.9, 9, UPPER), (2, 3, UPPER), (1.1, 2.9, LIMITS),
    (1, 1, REFUTED), (1, 2.9, LOWER), (0.9, 0.9, REFUTED), (0.5, 1, REFUTED), (0.5, 2, LOWER),
    (0.5, 9, OPEN), (4, INF, HOLDS), (2, INF, UPPER),
    (-INF, 0.9, REFUTED), (-INF, 2, LOWER), (-INF, INF, OPEN),
])  # fmt: skip
def test_a_range_allows_each_word_that_it_reaches(low, high, said):
    assert claims.word([figure(low, high)], refuted=1, holds=3) == said


def test_between_thresholds_that_are_one_there_are_no_limits_for_a_single_figure():
    assert claims.word([figure(0.5, 2)], refuted=1, holds=1) == f"{HOLDS} or {REFUTED}"
    assert claims.word([figure(0.5), figure(2)], refuted=1, holds=1) == LIMITS


@pytest.mark.parametrize(("ranges", "said"), [
    ([], OPEN), ([(4, 4), (0.5, 9)], UPPER), ([(0.5, 0.5), (0.5, 9)], LOWER),
    ([(4, 4), (0.5, 0.5)], LIMITS), ([(4, 4), (0.5, 2)], LIMITS), ([(4, 4), (2, 2)], LIMITS),
    ([(0.1, 0.2), (0.5, 0.6)], REFUTED), ([(2, 9), (2, 9)], UPPER), ([(2, 9), (0.5, 2)], LIMITS),
    ([(0.5, 9), (0.5, 9)], OPEN), ([(2, 2), (0.5, 9)], LIMITS), ([(4, 4), (5, 9)], HOLDS),
])  # fmt: skip
def test_several_figures_allow_what_one_word_of_each_can_give(ranges, said):
    assert claims.word([figure(*each) for each in ranges], refuted=1, holds=3) == said


def test_a_wider_range_never_makes_a_word_surer():
    spans = [figure(low, high) for low, high in product(ENDS, ENDS) if low <= high]
    for one, other in product(spans, spans):
        if other.low <= one.low and one.high <= other.high:
            for beside in (figure(4), figure(2, 9), figure(-INF, 2)):
                narrow, wide = (claims.word([each, beside], 1, 3) for each in (one, other))
                assert wide == OPEN or set(narrow.split(" or ")) <= set(wide.split(" or "))


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_figures_can_give_a_statement_each_of_its_words(about):
    finding = claims.Finding(about, (figure(about.holds),))
    assert finding.here == HOLDS
    below = replace(finding, figures=(figure(0.99 * about.refuted),))
    assert below.here == REFUTED
    assert replace(below, figures=(*below.figures, *finding.figures)).here == LIMITS
    assert finding.judged_from(0.99 * about.refuted, 2 * about.holds).here == LIMITS
    upper = replace(finding, figures=(figure(about.holds), figure(0.99 * about.holds, about.holds)))
    lower = replace(finding, figures=(below.figures[0], figure(0, 1.001 * about.refuted)))
    assert (upper.here, lower.here) == (UPPER, LOWER)


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_has_figures_that_could_refute_it_and_that_could_support_it(about):
    """One that has bounds of one side alone has its word before anything is looked up."""
    figures = claims.Finding.of(about, claims.measured(about)).figures
    measured = any(each.kind == "live" for each in about.figures.values())
    assert measured or any(each.high < INF for each in figures)
    assert measured or any(each.low > -INF for each in figures)


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_the_right_answer_of_a_quiz_shows_figures(about):
    question, answers, right = draw.asked(claims.Finding.of(about, claims.measured(about)))
    assert about.words in question and answers[right].startswith("Yes: ")
    assert answers.keys() >= {HOLDS, LIMITS, REFUTED} and "No figure" not in answers[right]
    assert "(" in answers[right]  # a figure with its kind


def test_measured_figures_and_evidence_have_a_word_each():
    kinds = [figure(9, kind="recorded"), figure(0.5, kind="published"), figure(0, 0.4, "modelled")]
    about = replace(STATEMENTS["4b"], refuted=1, holds=3)
    finding = claims.Finding(about, tuple(kinds))
    assert (finding.here, finding.by_evidence) == (HOLDS, REFUTED)
    assert "refuted" in repr(finding) and "published: there" in finding._repr_html_()


def test_a_word_hangs_on_a_source_without_which_the_others_give_another():
    figures = figure(2, 2, "counted"), figure(3, 3, "counted"), figure(2), figure(0, where="a book")
    finding = claims.Finding(STATEMENTS["9b"], figures)
    assert finding.hangs_on == [("a book", HOLDS)] and not finding.stands
    assert replace(finding, figures=figures[:3]).stands
    assert not replace(finding, figures=figures[:2]).stands  # nobody else said so
    against = replace(finding, about=STATEMENTS["21c"], figures=(figure(0.5),))
    assert against.stands and not replace(against, about=STATEMENTS["24c"]).stands  # a "cannot"


def test_a_source_is_a_machine_a_publication_or_a_way_of_knowing():
    where = {"live": "a Xeon, 2 cores", "recorded": "a Xeon, 2 cores, 2026-11-23",
             "published": "V100, CUDA 10, 2019 (DeepBench)", "counted": ""}  # fmt: skip
    sources = dict.fromkeys(figure(1, 1, *each).source for each in where.items())
    assert list(sources) == ["a Xeon, 2 cores", "DeepBench", "counts"]


@pytest.mark.parametrize(("change", "words"), [
    ({"kind": "guessed"}, "A figure is live"), ({"low": 2.0}, "is no range"),
    ({"low": math.nan}, "is no range"), ({"kind": "published", "where": ""}, "where it is from"),
])  # fmt: skip
def test_a_figure_that_is_none_is_refused(change, words):
    fields = {"what": "x", "kind": "live", "low": 1.0, "high": 1.0, "where": "there"}
    with pytest.raises(ValueError, match=words):
        Figure(**(fields | change))


@pytest.mark.parametrize(("low", "high", "unit", "text"), [
    (2, 2, "×", "2×"), (2, 3, "×", "2× to 3×"), (-INF, 24, "×", "at most 24×"),
    (1.6e-3, INF, "s", "at least 1.6 ms"), (0.5, 0.5, "%", "50 %"), (2, 2, "cores", "2 cores"),
    (1e9, 1e9, "B/s", "1 GB/s"),
])  # fmt: skip
def test_a_range_is_written_in_its_unit(low, high, unit, text):
    assert figure(low, high).amount(unit) == text


def test_the_twenty_seven_claims_have_statements_or_say_why_not_with_thresholds_in_order():
    assert list(claims.claims()) == list(range(1, 28))
    assert all(each.statements or each.untested for each in claims.claims().values())
    assert not [name for name, each in STATEMENTS.items() if not each.refuted <= each.holds]
    with pytest.raises(ValueError, match="no statement '99z'"):
        claims.statement("99z")


def test_the_table_has_a_row_and_two_words_for_each_statement():
    found = claims.judged(1, 3)
    assert [each.about.name for each in found] == ["1a", "1b", "3b"]  # 3a is a definition
    assert found._repr_html_().count('<th scope="row"') == 3
    assert found["3b"].by_evidence == HOLDS and "Statements: 3" in found.sentence
    assert f"by the evidence: 2 {HOLDS}, 1 {NONE}" in found.sentence
    with pytest.raises(KeyError, match="Nothing was found about 2a"):
        found["2a"]
    with pytest.raises(ValueError, match="no claim 28"):
        claims.judged(28)
