"""What pages hand over: words at once, kept for the last page, shipped when pages are saved."""

import functools

import pytest

import save_notebooks
from gpulessons import claims
from gpulessons.claims import kept
from gpulessons.hardware import budget
from gpulessons.measure.results import Ratio


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv(kept.NAME, str(tmp_path / "a" / "found.jsonl"))
    monkeypatch.setattr(kept, "shipped", lambda: [])
    return tmp_path / "a" / "found.jsonl"


def test_a_page_sees_the_word_and_the_last_page_has_it(file):
    ratio = Ratio(0.8, 0.75, 0.85)
    assert claims.found("17a", batch=ratio, narrow=(0.3, 0.4)).word == "depends"
    assert claims.found("17a", batch=0.9).word == "holds"  # of this call alone
    again = claims.judged(17)["17a"]
    assert [(each.low, each.high) for each in again.figures] == [(0.9, 0.9), (0.3, 0.4)]


def test_what_could_not_be_measured_says_nothing_and_replaces_nothing(file):
    claims.found("17a", batch=0.9, narrow=0.5)
    refused = Ratio(1, 1, 1, "the machine was too noisy")
    assert claims.found("17a", batch=None, narrow=refused).word == "undecided"
    assert len(claims.judged(17)["17a"].figures) == 2


def test_a_figure_has_the_kind_that_its_statement_names(file):
    finding = claims.found("11a", pixels=2.2, lanes=1.0)
    assert finding.word == "depends"
    assert [each.kind for each in finding.figures] == ["counted", "counted"]


def test_a_bound_may_have_no_other_end(file):
    claims.found("17a", batch=(0.8, float("inf")))
    assert claims.judged(17)["17a"].word == "holds"


def test_names_that_there_are_not_are_refused(file):
    with pytest.raises(ValueError, match="17a has no figure cash: it has one, batch, narrow"):
        claims.found("17a", cash=1)
    with pytest.raises(ValueError, match="no statement '1z'"):
        claims.found("1z")


def test_rough_figures_are_shown_and_not_kept(file, monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.02")
    assert claims.found("17a", batch=0.9).word == "holds"
    assert not file.exists()


def test_a_damaged_line_is_passed_over_and_a_folder_in_the_way_stops_nothing(file):
    claims.found("17a", batch=0.9)
    file.write_text('{"machine": 1}\nno json\n' + file.read_text())
    assert len(kept.kept()) == 1
    file.unlink()
    file.mkdir()
    assert claims.found("17a", batch=0.9).word == "holds"


def test_where_nothing_was_found_the_shipped_figures_stand_with_their_machine(file, monkeypatch):
    line = kept.Line("a Xeon", "2026-11-23", "17a", "batch", 0.8, 0.9)
    gone = kept.Line("a Xeon", "2026-11-23", "17a", "no longer asked", 1, 1)
    monkeypatch.setattr(kept, "shipped", lambda: [gone, line])
    (figure,) = claims.judged(17)["17a"].figures
    assert (figure.kind, figure.where) == ("recorded", "a Xeon, 2026-11-23")
    claims.found("17a", narrow=0.3)
    assert [each.kind for each in claims.judged(17)["17a"].figures] == ["recorded", "live"]


def test_every_shipped_figure_is_one_that_its_statement_has():
    kept.shipped.cache_clear()
    known = claims.statements()
    assert not [each for each in kept.shipped() if each.figure not in known[each.statement].figures]


def test_saving_a_page_replaces_what_was_found_about_its_statements(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "SHIPPED", tmp_path / "found.csv")
    known = (("3a", "different"), ("17a", "batch"), ("3a", "no longer asked"))
    old = [kept.Line("a Xeon", "2026-11-22", *names, 1, 2) for names in known]
    new = kept.Line("an EPYC", "2026-11-23", "17a", "narrow", float("-inf"), 2.5)
    monkeypatch.setattr(kept, "shipped", functools.cache(lambda: old))
    save_notebooks.ship([new])
    monkeypatch.undo()
    text = (tmp_path / "found.csv").read_text().splitlines()
    assert text[1:] == [
        "a Xeon,2026-11-22,3a,different,1,2", "an EPYC,2026-11-23,17a,narrow,-inf,2.5",
    ]  # fmt: skip


def test_no_statement_is_left_without_an_answer():
    kept.shipped.cache_clear()
    for each in claims.judged():
        assert each.here or each.by_evidence, each.about.name
        assert len(each.authors) == len({figure.author for figure in each.figures}) > 0
