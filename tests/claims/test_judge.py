"""The one judge: figures are ranges, borders are two, and each statement can get each word."""

import math
from dataclasses import replace

import pytest

from gpulessons import claims
from gpulessons.claims.findings import NONE
from gpulessons.claims.judge import HOLDS, LIMITS, OPEN, REFUTED, Figure, zone
from gpulessons.illustrations import verdicts as draw

INF = math.inf
STATEMENTS = claims.statements()


def figure(low, high=None, kind="live"):
    return Figure("x", kind, low, low if high is None else high, "there")


@pytest.mark.parametrize(("low", "high", "said"), [
    (3, 3, HOLDS), (3, 9, HOLDS), (2.9, 9, OPEN), (1, 2.9, LIMITS), (1, 1, LIMITS),
    (0.9, 0.9, REFUTED), (0.5, 1, OPEN), (0.5, 9, OPEN), (4, INF, HOLDS), (2, INF, OPEN),
    (-INF, 0.9, REFUTED), (-INF, 2, OPEN), (-INF, INF, OPEN),
])  # fmt: skip
def test_a_range_speaks_where_it_lies_between_two_borders(low, high, said):
    assert zone(figure(low, high), refuted=1, holds=3) == said


@pytest.mark.parametrize(("ranges", "said"), [
    ([], OPEN), ([(0.5, 9)], OPEN), ([(4, 4), (0.5, 9)], HOLDS), ([(4, 4), (0.5, 0.5)], LIMITS),
    ([(0.1, 0.2), (0.5, 0.6)], REFUTED), ([(4, 4), (2, 2)], LIMITS), ([(2, 2)], LIMITS),
])  # fmt: skip
def test_figures_that_disagree_hold_with_limits_and_the_uncertain_say_nothing(ranges, said):
    assert claims.word([figure(*each) for each in ranges], refuted=1, holds=3) == said


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_figures_can_give_a_statement_each_of_its_words(about):
    finding = claims.Finding(about, (figure(about.holds),))
    assert finding.here == HOLDS
    below = replace(finding, figures=(figure(0.99 * about.refuted),))
    assert below.here == REFUTED
    assert replace(below, figures=(*below.figures, *finding.figures)).here == LIMITS
    assert finding.judged_from(about.refuted, 2 * about.holds).here == LIMITS


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_has_figures_that_could_refute_it_and_that_could_support_it(about):
    """One that has bounds of one side alone has its word before anything is looked up."""
    figures = claims.judged(about.claim)[about.name].figures
    measured = any(each.kind == "live" for each in about.figures.values())
    assert measured or any(each.high < INF for each in figures)
    assert measured or any(each.low > -INF for each in figures)


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_the_right_answer_of_a_quiz_shows_figures(about):
    question, answers, right = draw.asked(claims.judged(about.claim)[about.name])
    assert about.words in question and "no figure says so" not in answers[right]


def test_measured_figures_and_evidence_have_a_word_each():
    kinds = [figure(9, kind="recorded"), figure(0.5, kind="published"), figure(0, 0.4, "modelled")]
    about = replace(STATEMENTS["4b"], refuted=1, holds=3)
    finding = claims.Finding(about, tuple(kinds))
    assert (finding.here, finding.by_evidence) == (HOLDS, REFUTED)
    assert "refuted" in repr(finding) and "published: there" in finding._repr_html_()


def test_a_figure_left_out_is_the_one_that_was_named_and_no_other():
    finding = claims.Finding(STATEMENTS["9b"], (figure(2), figure(3), figure(0.01)))
    assert [each.low for each in finding.without(3).figures] == [2, 3]
    assert (finding.here, finding.without(3).here) == (LIMITS, HOLDS)
    assert finding.without(0) == finding.without(4) == finding


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


def test_the_twenty_seven_claims_have_statements_or_say_why_not_with_borders_in_order():
    assert list(claims.claims()) == list(range(1, 28))
    assert all(each.statements or each.untested for each in claims.claims().values())
    assert not [name for name, each in STATEMENTS.items() if not each.refuted <= each.holds]
    with pytest.raises(ValueError, match="no statement '99z'"):
        claims.statement("99z")


def test_the_table_has_a_row_and_two_words_for_each_statement():
    found = claims.judged(1, 3)
    assert [each.about.name for each in found] == ["1a", "1b", "3a", "3b"]
    assert found._repr_html_().count('<th scope="row"') == 4
    assert found.counts["by the evidence"] == {HOLDS: 2, LIMITS: 0, REFUTED: 0, OPEN: 0, NONE: 2}
    assert found["3b"].by_evidence == HOLDS and "Statements: 4" in found.sentence
    with pytest.raises(KeyError, match="Nothing was found about 2a"):
        found["2a"]
    with pytest.raises(ValueError, match="no claim 28"):
        claims.judged(28)
