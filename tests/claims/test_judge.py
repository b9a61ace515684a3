"""The one judge: figures are ranges, borders are two, and each statement can get each word."""

import math
from dataclasses import replace
from itertools import permutations, product

import pytest

from gpulessons import claims
from gpulessons.claims import judge
from gpulessons.claims.judge import BETWEEN, DEPENDS, HOLDS, REFUTED, UNDECIDED, Figure

INF = math.inf
ENDS = -INF, 0.5, 1, 2, 3, 4, INF  # of ranges, around the thresholds 1 and 3
STATEMENTS = claims.statements()


def figure(low, high=None, kind="live", where="there"):
    return Figure("x", kind, low, low if high is None else high, where)


@pytest.mark.parametrize(("low", "high", "said"), [
    (3, 3, {HOLDS}), (3, 9, {HOLDS}), (2.9, 9, {HOLDS, BETWEEN}), (2, 3, {HOLDS, BETWEEN}),
    (1.1, 2.9, {BETWEEN}), (1, 1, {REFUTED}), (1, 2.9, {BETWEEN, REFUTED}), (0.9, 0.9, {REFUTED}),
    (0.5, 1, {REFUTED}), (0.5, 2, {BETWEEN, REFUTED}), (0.5, 9, {HOLDS, BETWEEN, REFUTED}),
    (4, INF, {HOLDS}), (2, INF, {HOLDS, BETWEEN}), (-INF, 0.9, {REFUTED}),
    (-INF, 2, {BETWEEN, REFUTED}), (-INF, INF, {HOLDS, BETWEEN, REFUTED}),
])  # fmt: skip
def test_a_range_reaches_what_lies_in_it(low, high, said):
    assert judge.reached(figure(low, high), refuted=1, holds=3) == said
    one = claims.word([figure(low, high)], refuted=1, holds=3)
    assert {one} == (said if said in ({HOLDS}, {REFUTED}) else {UNDECIDED})


def test_borders_that_are_one_have_nothing_between_them():
    assert claims.word([figure(0.5, 2)], refuted=1, holds=1) == UNDECIDED
    assert claims.word([figure(0.5), figure(2)], refuted=1, holds=1) == DEPENDS


@pytest.mark.parametrize(("ranges", "said"), [
    ([], UNDECIDED), ([(4, 4), (0.5, 9)], UNDECIDED), ([(0.5, 0.5), (0.5, 9)], UNDECIDED),
    ([(4, 4), (0.5, 0.5)], DEPENDS), ([(4, 4), (0.5, 2)], DEPENDS), ([(4, 4), (2, 2)], DEPENDS),
    ([(0.1, 0.2), (0.5, 0.6)], REFUTED), ([(2, 9), (2, 9)], UNDECIDED),
    ([(0.5, 0.5), (2, 2)], REFUTED), ([(2, 2), (2, 2.5)], UNDECIDED), ([(2, 9), (1, 2)], UNDECIDED),
    ([(0.5, 9), (0.5, 9)], UNDECIDED), ([(2, 2), (0.5, 0.5), (4, 4)], DEPENDS),
    ([(4, 4), (5, 9)], HOLDS), ([(0.5, 2), (0.5, 0.5)], REFUTED),
])  # fmt: skip
def test_several_figures_give_the_word_that_each_of_their_sides_leaves(ranges, said):
    figures = [figure(*each) for each in ranges]
    for order in permutations(figures):
        assert claims.word(order, refuted=1, holds=3) == said


@pytest.mark.parametrize(("theirs", "said"), [
    ([0.5], "depends (2 of 3 figures support it)"), ([0.5, 1], "depends (2 of 4 figures support"),
    ([2], DEPENDS), ([4], HOLDS),
])  # fmt: skip
def test_a_finding_says_how_many_figures_and_which_authors_support_it(theirs, said):
    ours = [figure(4), figure(5, kind="counted")]
    book = [figure(each, kind="published", where="2020 (a book)") for each in theirs]
    finding = claims.Finding(replace(STATEMENTS["4b"], refuted=1, holds=3), (*ours, *book))
    assert finding.said.startswith(said) and [*finding.authors] == ["this course", "a book"]
    assert "2 authors: this course (holds), a book (" in finding.support
    assert f"{finding.word.upper()} by 2 authors" in repr(finding)
    assert said in finding._repr_html_()


def test_no_statement_has_a_word_with_holds_or_depends_but_by_a_figure_that_supports_it():
    for each in claims.judged():
        supported = any(each.reached(figure) == {HOLDS} for figure in each.figures)
        assert supported == (each.word in (HOLDS, judge.DEPENDS)) or each.word == UNDECIDED


def test_a_wider_range_never_makes_a_word_surer():
    spans = [figure(low, high) for low, high in product(ENDS, ENDS) if low <= high]
    for one, other in product(spans, spans):
        if other.low <= one.low and one.high <= other.high:
            for beside in (figure(4), figure(2, 9), figure(-INF, 2)):
                narrow, wide = (claims.word([each, beside], 1, 3) for each in (one, other))
                assert wide in (narrow, UNDECIDED)


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_figures_can_give_a_statement_each_of_its_words(about):
    ranges = {HOLDS: [about.holds], REFUTED: [0.99 * about.refuted],
              DEPENDS: [about.holds, 0.99 * about.refuted]}  # fmt: skip
    for said, values in ranges.items():
        assert claims.Finding(about, tuple(map(figure, values))).word == said
    wide = figure(0, 2 * about.holds)
    assert claims.Finding(about, (wide,)).word == UNDECIDED


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
@pytest.mark.parametrize("kind", ["live", "bounded"])
def test_a_figure_with_one_end_supports_or_contradicts_by_that_end_alone(about, kind):
    """Here, or by the evidence; and a statement has no word where it has no such figure."""
    low, high = 0.99 * about.refuted, 1.01 * about.holds
    for ends, said in (((-INF, low), REFUTED), ((-INF, high), UNDECIDED), ((high, INF), HOLDS),
                       ((low, INF), UNDECIDED)):  # fmt: skip
        finding = claims.Finding(about, (figure(*ends, kind),))
        words = finding.here, finding.by_evidence
        assert words == ((said, "") if kind == "live" else ("", said)) and finding.word == said
        if said == HOLDS:  # beside what contradicts it
            both = claims.Finding(about, (*finding.figures, figure(-INF, low, kind)))
            assert DEPENDS in (both.here, both.by_evidence)


@pytest.mark.parametrize("about", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_has_figures_that_could_refute_it_and_that_could_support_it(about):
    """One that has bounds of one side alone has its word before anything is looked up."""
    figures = claims.Finding.of(about, claims.measured(about)).figures
    measured = any(each.kind == "live" for each in about.figures.values())
    assert measured or any(each.high < INF for each in figures)
    assert measured or any(each.low > -INF for each in figures)


def test_an_author_is_a_publication_and_all_that_the_course_finds_is_its_own():
    where = {"live": "a Xeon, 2 cores", "counted": "", "modelled": "",
             "published": "V100 (DeepBench)"}
    assert [figure(1, 1, *each).author for each in where.items()] == [*["this course"] * 3, "Baidu"]
    assert claims.Finding(STATEMENTS["4b"], ()).support == "nobody yet"


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


def test_the_table_has_a_row_for_each_statement_under_its_word():
    found = claims.judged(5, 10)  # all of them counted: no machine changes their words
    assert [each.about.name for each in found] == ["5a", "10b", "10c"]
    html = found._repr_html_()
    assert html.count("<details>") == 3 and html.count('scope="rowgroup"') == 2
    assert "so says a blog article of about 2020" in html and "1 author: this course" in html
    assert ">you<" not in html and html.count(">–</td>") == 3  # nothing of them is measured
    mine = found.beside({"10b": "holds", "5a": ""})
    assert [each.about.name for each in mine] == ["10b", "5a"] and mine["5a"].here == ""
    assert ">you<" in mine._repr_html_() and ">holds</td>" in mine._repr_html_()
    assert repr(mine).startswith("10b: holds by you\n5a: – by you\n")
    assert found.sentence == ("Statements: 3, 3 found by one author alone. "
                              "holds: 1 (0 by several); depends: 2 (0 by several).")  # fmt: skip
    assert found["5a"].word == HOLDS and claims.judged(4).confirmed == 2
    with pytest.raises(KeyError, match="Nothing was found about 2a"):
        found["2a"]
    with pytest.raises(ValueError, match="no claim 28"):
        claims.judged(28)
