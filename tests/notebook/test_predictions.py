"""What a learner sees of their predictions: a table, a score, a picture, a file of their own."""

import os

import pytest

from gpulessons import predict, predictions
from gpulessons.notebook.controls.kept import Event
from gpulessons.notebook.controls.showing import Scale
from gpulessons.notebook.predictions import HOW, Calibration, Score, history_of

TIMES, SHARE = Scale(0.1, 1000.0, "×"), Scale(0.0, 100.0, "%")


def said(guess, key="q", scale=TIMES, when="2026-11-01T10:00:00+00:00"):
    return Event(when, key, f"How {key}?", guess, **vars(scale))


def answered(guess, measured, key="q", scale=TIMES, tier="live"):
    spread = (0.9 * measured, measured, 1.1 * measured)
    return Event("2026-11-02T10:00:00+00:00", key, f"How {key}?", guess, **vars(scale),
                 measured=spread, tier=tier, label="x")


def of(*events):
    entry, = history_of(events).entries
    return entry


def scores_of(*events):
    return Calibration(history_of(events)).scores


# What counts


def test_the_guess_counts_that_stood_when_the_first_answer_was_shown():
    entry = of(said(5), said(8), answered(8, 4), said(4), answered(4, 4.1))
    assert (entry.guess, entry.median, entry.scored) == (8, 4, True)
    assert entry.row == ["1", "How q?", "8×", "4×", "measured here", "2× too high", "2026-11-02"]


def test_a_guess_after_the_answer_is_shown_and_said_to_be_none():
    entry = of(answered(None, 4), said(9), said(4.1))
    assert (entry.guess, entry.scored, entry.off) == (4.1, False, "")
    assert entry.status == "measured here; guessed after the answer, not scored"
    assert "Scored: 0 of 1." in repr(history_of([answered(None, 4), said(4.1)]))


def test_an_answer_without_any_guess_is_no_prediction():
    table = history_of([answered(None, 4), said(5, "other")])
    assert [entry.question for entry in table.entries] == ["How other?"]


@pytest.mark.parametrize("tier", ["recorded", "published", "modelled"])
def test_a_number_that_is_not_from_here_is_shown_and_not_scored(tier):
    events = [answered(8, 4, tier=tier)]
    assert of(*events).status == f"{tier}, not scored"
    assert scores_of(*events) == {} and repr(Calibration(history_of(events))) == HOW


def test_what_is_measured_and_what_is_counted_are_scored_apart():
    scores = scores_of(answered(8, 4, "a"), answered(9, 3, "b", tier="counted"))
    assert {kind: score.ratios for kind, score in scores.items()} == {"live": (2,), "counted": (3,)}


def test_a_factor_is_for_ratios_and_a_share_of_the_scale_for_the_rest():
    pixels = Scale(2.0, 200.0, "pixels")
    entries = [answered(8, 4, "a"), answered(20, 10, "b", pixels), answered(30, 50, "c", SHARE),
               answered(3, 1, "d", Scale(0.5, 5.0, "×"))]
    assert scores_of(*entries)["live"] == Score((2, 2, 3), (0.2,))
    assert of(entries[2]).off == "20 % of the scale too low"


def test_zero_has_a_distance_on_a_linear_scale_and_no_factor_on_another():
    assert of(answered(0, 8, scale=SHARE)).off == "8 % of the scale too low"
    none = of(answered(8, 0))
    assert (none.off, none.scored) == ("", False)
    assert none.status == "measured here; zero has no factor, not scored"
    assert of(answered(4, 4)).off == "exact"


# The table and its file


def test_a_table_of_nothing_says_how_to_make_a_prediction():
    for shown in (history_of([]), Calibration(history_of([]))):
        assert repr(shown) == HOW and HOW in shown._repr_html_()


def test_a_question_is_escaped_in_the_table():
    sly = Event("2026", "k", "<script>", 3.0, **vars(TIMES))
    assert "<script" not in history_of([sly])._repr_html_()
    assert "&lt;script&gt;" in history_of([sly])._repr_html_()


def test_predictions_can_be_seen_and_cleared(path, another_kernel):
    for question, guess in (("How fast?", 40), ('What, "then"?', 2)):
        prediction = predict(question, 1, 1000)
        prediction.set(guess)
        prediction.reveal(20)
    predict("How many?", 1, 9).set(3)
    table = predictions.kept()
    assert [entry.off for entry in table.entries] == ["2× too high", "10× too low", ""]
    assert predictions.where() == path
    assert predictions.clear() == f"Deleted: 3 questions, and {path}."
    assert not path.exists() and len(predictions.kept()) == 0
    assert predict("How fast?", 1, 1000).value is None
    another_kernel()
    assert predict("How fast?", 1, 1000).value is None
    assert predictions.clear().startswith("Deleted: 0 questions")


def test_after_clearing_a_question_can_be_answered_anew(path):
    prediction = predict("How fast?", 1, 1000)
    prediction.reveal(20)
    predictions.clear()
    prediction.set(40)
    prediction.reveal(20)
    assert [entry.scored for entry in predictions.kept().entries] == [True]


def test_a_place_that_is_no_file_is_not_deleted():
    assert predictions.where() is None, "os.devnull, as every test has it"
    assert predictions.clear() == "Deleted: 0 questions."
    assert os.path.exists(os.devnull)


def test_a_file_that_cannot_be_deleted_is_said_and_kept(path, another_kernel, monkeypatch):
    predict("How fast?", 1, 1000).set(40)
    predictions.kept()
    another_kernel()

    def refuse(self, missing_ok):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "unlink", refuse)
    assert predictions.clear() == f"{path} could not be deleted: Permission denied."
    assert len(predictions.kept()) == 1


# The score


def test_factors_count_either_way_and_their_edge_is_inside():
    score = Score((1, 1.25, 2, 1 / 5, 10, 1 / 11), ())
    assert score.factors == pytest.approx([1, 1.25, 2, 5, 10, 11])
    assert [score.within(bound) for bound in (1.25, 2, 5, 10)] == [2, 3, 4, 5]
    assert "half are within 3.5×; 3 too high, 2 too low." in repr(score)


def test_distances_are_shares_of_the_scale():
    assert repr(Score((), (0.2, 0.05, 1.0))) == (
        "3 on a linear scale: half are within 20 % of the scale."
    )


def test_importing_them_loads_nothing_heavy():
    import subprocess
    import sys

    heavy = {"ipywidgets", "matplotlib", "numpy", "IPython"}
    code = f"import sys; from gpulessons import predictions; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
