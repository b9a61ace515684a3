"""Modelled answers: shown and said to be such, and no guess is scored by one. And their switch."""

from dataclasses import replace

import pytest

from gpulessons import plots, predict
from gpulessons.measure.results import Absent, Comparison, ModelledTiming, Timing
from gpulessons.notebook.controls import on_paper
from gpulessons.notebook.controls.interactive import Live
from gpulessons.notebook.controls.showing import VIEW
from gpulessons.notebook.predictions import Calibration, kept

QUESTION = "How many times as fast?"
MODELLED = {"tier": "modelled", "label": "modelled for A100"}


@pytest.fixture
def guess():
    made = predict(QUESTION, 0.1, 1000, key=object())
    made.set(10)
    return made


# -- Reveals.


def test_a_modelled_answer_is_said_to_be_one_and_scores_nothing(guess):
    reveal = guess.reveal((2, 5, 8), **MODELLED)
    assert reveal.sentence == (
        "You said 10×; 5× was modelled for A100, not measured: 2 times less."
    )
    assert reveal.score == "modelled for A100, not measured: not scored"
    assert reveal.caption == "Your prediction: modelled for A100, not measured: not scored."
    assert reveal.factor is None
    assert "modelled for A100: 5× (2× to 8×)" in reveal.alt
    for page in (repr(reveal), reveal._repr_html_()):
        assert "modelled for A100, not measured" in page and "within" not in page


@pytest.mark.parametrize("said", [5, 0.2, 3])
def test_a_guess_however_good_is_not_scored_by_it(guess, said):
    guess.set(said)
    reveal = guess.reveal((2, 5, 8), **MODELLED)
    assert reveal.score == "modelled for A100, not measured: not scored"
    assert guess.reveal((2, 5, 8)).score != reveal.score, "a live one is scored"


def test_the_learners_file_and_score_know_it_for_what_it_is(path):
    for key, answer in (("a", MODELLED), ("b", {})):
        made = predict(QUESTION, 0.1, 1000, key=key)
        made.set(10)
        made.reveal((2, 5, 8), **answer)
    told = kept()
    assert [entry.status for entry in told.entries] == ["modelled, not scored", "measured here"]
    assert {kind: score.ratios for kind, score in Calibration(told).scores.items()} == {
        "live": (2,)
    }
    assert "Scored: 1 of 2." in repr(told)


# -- The switch.

TIMED = Timing(
    op="relu", version="NumPy", backend="host", size=1000, samples=(1e-6,), waits=(), calls=1,
    threads=1, first=1.0, h2d=0.0, d2h=0.0, flops=1000, bytes=8000, error=0.0, cold=False,
    stop="settled",
)  # fmt: skip
GONE = Absent("relu", "CUDA", "gpu", 1000, "no GPU here")


def paper(gpu):
    one = ModelledTiming("relu", "CUDA", "gpu", 1000, gpu, 2e-6, 1e-6, 3e-6, "DRAM", "latency",
                         "machine code", 1000, 8000, 8e12, 3.2e11)  # fmt: skip
    return Comparison("relu", (one,), gpu, "2026-11-22", "modelled")


MEASURED = Comparison("relu", (TIMED, GONE), "a laptop", "2026-11-22")
TIMES = replace(MEASURED, modelled=tuple(map(paper, ("T4", "RTX 3090", "A100"))))


@pytest.fixture
def shown(monkeypatch):
    """What a Live put below its controls, the latest last."""
    put = []
    monkeypatch.setattr(Live, "put", lambda self, thing: put.append(thing))
    return put


def draw(gpu):
    return plots.bars(TIMES, gpu=gpu)


def test_the_switch_offers_the_modelled_gpus_and_draws_the_one_chosen(shown):
    switch = on_paper(draw, TIMES)
    (chooser,) = (one for one in switch.widget.children if hasattr(one, "options"))
    assert [name for name, _ in chooser.options] == ["T4", "RTX 3090", "A100"]
    assert "modelled for" in chooser.description and chooser.value == "T4"
    for gpu in ("A100", "RTX 3090"):
        chooser.value = gpu
        assert f"modelled for {gpu}, not measured" in shown[-1].alt


def test_a_saved_page_has_the_first_gpus_figure_and_says_what_else_there_is(shown, monkeypatch):
    pages = []
    monkeypatch.setattr("IPython.display.display", lambda thing, **options: pages.append(thing))
    on_paper(draw, TIMES)._ipython_display_()
    assert "modelled for T4, not measured" in shown[-1].alt
    (page,) = (each for each in pages if VIEW in each)
    assert "modelled for from T4, RTX 3090, A100, here T4" in page["text/plain"]


def test_where_nothing_is_modelled_there_is_no_switch():
    picture = on_paper(lambda gpu: plots.bars(MEASURED, gpu=gpu), MEASURED)
    assert isinstance(picture, plots.Picture) and "modelled" not in picture.alt


