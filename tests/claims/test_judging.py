"""Claims, findings and verdicts, apart from what any one claim says."""

import itertools

import pytest

from gpulessons import claims
from gpulessons.claims.claim import (
    CLAIMS,
    HOLDS,
    KINDS,
    LIMITS,
    REFUTED,
    UNTESTED,
    Figure,
    claim,
    holds,
    limits,
    refuted,
    untested,
    weakest,
)  # fmt: skip


@pytest.fixture
def made_up():
    """Put a claim of your own in the table: made_up(figures, judge)."""

    def make(figures, judge, number=1, **more):
        def measure(given):
            """What is measured."""
            return figures() if callable(figures) else figures

        claim(number, f"Claim {number}.", source="A", notebooks="00", measure=measure,
              changes="Nothing.", **more)(judge)  # fmt: skip

    before = dict(CLAIMS)
    CLAIMS.clear()
    yield make
    CLAIMS.clear()
    CLAIMS.update(before)


def speed(gain):
    return holds("Faster.") if gain > 1 else refuted("Slower.")


def test_a_verdict_follows_the_figure(made_up):
    made_up(lambda: {"gain": Figure("gain", 2.0, "×")}, speed)
    (found,) = claims.judge()
    assert (found.verdict, found.why, found.test) == (HOLDS, "Faster.", "What is measured.")
    made_up(lambda: {"gain": Figure("gain", 0.5, "×")}, speed)
    assert claims.judge()[1].verdict == REFUTED


def test_without_the_figure_nothing_is_said(made_up):
    made_up({"gain": Figure("gain", None, why="the machine was too noisy")}, speed)
    (found,) = claims.judge()
    assert found.verdict == UNTESTED
    assert found.why == "The machine was too noisy (gain)."


def test_only_a_gpu_measured_or_recorded_lets_a_claim_about_gpus_hold(made_up):
    for kind, of_gpu in itertools.product(KINDS, (True, False)):
        where = "an H200, 2026-01-01" if kind in ("recorded", "published") else ""
        figure = Figure("gain", 2.0, "×", kind, where, of_gpu=of_gpu)
        made_up({"gain": figure}, speed, about_gpus=True)
        found = claims.judge()[1]
        may = of_gpu and kind in ("live", "recorded")
        assert found.verdict == (HOLDS if may else UNTESTED), kind
        assert ("an H200, 2026-01-01" in found.why) == (kind == "recorded" and of_gpu)
    made_up({"gain": Figure("gain", 0.5, "×", "counted")}, speed, about_gpus=True)
    assert claims.judge()[1].verdict == REFUTED


def test_a_test_that_fails_costs_one_verdict(made_up):
    def broken():
        raise OSError("no space left")

    made_up(broken, speed, 1)
    made_up({"gain": Figure("gain", 2.0)}, speed, 2)
    first, second = claims.judge()
    assert first.verdict == UNTESTED
    assert "OSError: no space left" in first.why
    assert second.verdict == HOLDS


def test_an_interrupt_keeps_what_was_found(made_up):
    def interrupted():
        raise KeyboardInterrupt

    made_up({"gain": Figure("gain", 2.0)}, speed, 1)
    made_up(interrupted, speed, 2)
    made_up({"gain": Figure("gain", 2.0)}, speed, 3)
    told = []
    found = claims.judge(told=told.append)
    assert [each.number for each in found] == [1] == [each.number for each in told]
    assert found.interrupted
    assert "interrupted" in repr(found)


def test_a_figure_without_its_kind_source_or_reason_is_refused():
    for wrong in ({"kind": "guessed"}, {"kind": "recorded"}, {"kind": "published"},
                  {"value": None}):  # fmt: skip
        with pytest.raises(ValueError):
            Figure("gain", **{"value": 2.0, **wrong})


def test_findings_read_as_text_html_and_json(made_up, tmp_path):
    sharp = Figure("<gain>", 2.0, "×", "published", "Smith & Co. 2020", (1.5, 2.5))
    made_up({"gain": sharp}, speed)
    found = claims.judge()
    assert "2× (1.5× to 2.5×), published: Smith & Co. 2020" in repr(found)
    assert "Of 1 claim 1 holds." in repr(found)
    page = found._repr_html_()
    assert "&lt;gain&gt;" in page and "Smith &amp; Co. 2020" in page and "<gain>" not in page
    assert claims.load(claims.save(found, tmp_path / "found.json")) == found


def test_a_claim_of_several_statements_is_as_good_as_its_weakest():
    for words, expected in (((holds, holds), HOLDS), ((holds, limits), LIMITS),
                            ((limits, untested, holds), UNTESTED),
                            ((holds, refuted, untested), REFUTED)):  # fmt: skip
        each = {f"statement_{n}": word(f"Why {n}.") for n, word in enumerate(words)}
        for order in (each, dict(reversed(each.items()))):
            assert weakest(**order).word == expected
    assert weakest(a=holds("Yes."), on_a_GPU=refuted("No.")).why == (
        "A: holds. Yes. On a GPU: refuted. No.")


def test_what_was_live_is_recorded_once_it_comes_from_a_file(made_up, tmp_path):
    made_up({"gain": Figure("gain", 2.0), "count": Figure("count", 3, kind="counted")},
            lambda gain, count: speed(gain))  # fmt: skip
    found = claims.judge()
    loaded = claims.load(claims.save(found, tmp_path / "found.json"))
    gain, count = loaded[1].figures
    assert (gain.kind, gain.where) == ("recorded", f"{found.machine}, {found.date}")
    assert (count.kind, count.where) == ("counted", "")
    assert claims.load(claims.save(loaded, tmp_path / "again.json")) == loaded


def test_a_file_that_holds_no_findings_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "found.json"
    for text in ("", "[]", "{}", '{"format": 9}', '{"format": 1, "found": [1]}',
                 '{"format": 1, "found": [{"verdict": "true"}]}'):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ValueError, match="cannot be read as findings"):
            claims.load(path)


def test_what_ships_was_found_about_the_claims_as_they_stand():
    assert sorted(CLAIMS) == [*range(1, 28)]
    for findings in claims.recorded():  # its test is the one of that day
        assert [each.number for each in findings] == sorted(CLAIMS)
        for each in findings:
            about = CLAIMS[each.number]
            assert (each.claim, each.notebooks) == (about.words, about.notebooks)
            assert about.test and about.changes and set(about.source) <= set("ABCDE")


