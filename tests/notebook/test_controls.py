"""The controls in process: traits are set as a browser would set them. No display, no network."""

import ast
import base64
import io
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gpulessons.notebook.controls import kept, live, predict, quiz, sketch, slider
from gpulessons.notebook.controls.showing import VIEW, Scale

QUESTION = "How much faster?"


@pytest.fixture
def guess():
    """A prediction that no other test has made."""
    return predict(QUESTION, 0.1, 1000, key=object())


@pytest.fixture
def shown(monkeypatch):
    """What IPython's display was asked to show: (object, display id, whether it replaced)."""
    calls = []

    def display(thing, *, display_id=None, update=False, raw=False):
        calls.append((thing, display_id, update))

    monkeypatch.setattr("IPython.display.display", display)
    return calls


def test_importing_the_controls_loads_no_widgets_and_no_plots():
    heavy = {"ipywidgets", "matplotlib", "numpy", "IPython"}
    code = f"import sys, gpulessons.notebook.controls; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# Predictions


def test_a_prediction_is_none_until_the_slider_moves(guess):
    assert guess.widget and guess.value is None
    assert "not yet moved" in guess.status.value
    guess.slider.value = 90
    assert guess.value == 90
    assert "90×" in guess.status.value


def asked_for():
    """The arguments of every `predict(...)` in the notebooks."""
    for path in sorted(Path(__file__).parents[2].glob("notebooks/*.ipynb")):
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            source = "".join(cell["source"])
            if cell["cell_type"] != "code" or "predict(" not in source:
                continue
            for call in ast.walk(ast.parse(source)):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "predict":
                    yield pytest.param(
                        [ast.literal_eval(each) for each in call.args],
                        {each.arg: ast.literal_eval(each.value) for each in call.keywords},
                        id=f"{path.stem[:2]}/{number}")


def show_in_a_page(prediction):
    """Do as a browser does with a slider: send back what it shows, which is a number of a stop."""
    assert prediction.widget
    prediction.slider.set_state({"index": prediction.slider.get_state()["index"]})


@pytest.mark.parametrize(("arguments", "options"), list(asked_for()))
def test_a_prediction_of_the_course_that_is_only_shown_is_not_made(arguments, options):
    prediction = predict(*arguments, **{**options, "key": object()})
    show_in_a_page(prediction)
    assert prediction.value is None
    prediction.slider.index += 1
    assert prediction.value == prediction.slider.value > prediction.scale.middle


ENDS = st.integers(-10 ** 9, 10 ** 9).map(lambda thousandths: thousandths / 1000)


@given(ENDS, ENDS, st.floats(0, 1))
@example(0.1, 1000.0, 0.5)
@example(0.5, 100.0, 0.01)
def test_every_scale_has_stops_from_end_to_end_and_starts_on_one(low, high, share):
    assume(high - low > 1e-3 * max(abs(low), abs(high)))
    scale = Scale(low, high, "×")
    stops = scale.stops
    assert (stops[0], stops[-1]) == (low, high) and scale.middle in stops
    for one, following in pairwise(stops):
        near = 1.2 * one if scale.log else one + (high - low) / 20
        assert one < following <= near * (1 + 1e-9) + 1e-9
    prediction = predict(QUESTION, low, high, key=object())
    show_in_a_page(prediction)
    assert prediction.value is None
    prediction.set(low + share * (high - low) if share < 1 else high)
    said = prediction.value
    show_in_a_page(prediction)
    again = predict(QUESTION, low, high, key=prediction.key)
    show_in_a_page(again)
    assert prediction.value == again.value == said


def test_setting_a_prediction_moves_the_slider_and_refuses_what_is_off_the_scale(guess):
    assert guess.widget
    guess.set(37.25)
    assert (guess.value, guess.slider.value) == (37.25, 35)  # the stop nearest to it
    for wrong in (0.05, 2000, float("nan"), "37"):
        with pytest.raises(ValueError, match="choose a number from"):
            guess.set(wrong)
    assert guess.value == 37.25


def test_a_cell_that_runs_again_remembers_the_guess_unless_the_scale_no_longer_has_it():
    predict(QUESTION, 1, 1000, key="again").set(500)
    assert predict(QUESTION, 1, 1000, key="again").slider.value == 500
    assert predict(QUESTION, 1, 100, key="again").value is None
    assert predict(QUESTION, 1, 1000, key="other").value is None


def test_a_scale_without_extent_is_refused_in_words():
    with pytest.raises(ValueError, match="from a low number to a higher one"):
        predict(QUESTION, 10, 10)


def test_a_saved_prediction_reads_without_widgets(guess):
    data = guess._repr_mimebundle_()
    assert data[VIEW]["model_id"] == guess.widget.model_id
    for kind in ("text/plain", "text/html"):
        assert f"Prediction: {QUESTION} (0.1× … 1,000×, log scale)" in data[kind]


# Reveals


@pytest.mark.parametrize(("said", "measured", "gap", "score"), [
    (100, 3.14, "32 times less", "off by 10×–100×"),
    (8, 1, "8 times less", "off by 2×–10×"),
    (600, 10, "60 times less", "off by 10×–100×"),
    (10, 12.6, "1.3 times more", "within 2×"),
    (10, 10.5, "the same within 10 %", "within 25 %"),
    (1, 900, "900 times more", "off by more than 100×"),
    (3, (2.5, 4, 5), "1.3 times more", "inside the spread of the measurement")])
def test_a_reveal_says_how_far_off_the_prediction_was(guess, said, measured, gap, score):
    guess.set(said)
    reveal = guess.reveal(measured)
    assert reveal.sentence.startswith(f"You said {said}×; this machine says ")
    assert reveal.sentence.endswith(f"×: {gap}.")
    assert reveal.score == score


def test_what_could_not_be_measured_is_said_and_the_model_still_shown(guess):
    reveal = guess.reveal(None, 40, [("launches are free", "they cost 5 µs.")])
    assert reveal.sentence == "Not measured here: no GPU."
    assert reveal.reason == ("The model expects 40×, provided that launches are free "
                             "(they cost 5 µs).")
    assert "measured here: not possible (no GPU); the model: 40×" in reveal.alt


def test_a_recorded_value_is_never_said_to_be_this_machines(guess):
    guess.set(100)
    reveal = guess.reveal(3.1, tier="recorded", label="recorded on an H200, 2026-11-20")
    assert reveal.sentence == ("You said 100×; 3.1× was recorded on an H200, 2026-11-20: "
                               "32 times less.")
    with pytest.raises(ValueError, match="say where with label"):
        guess.reveal(3.1, tier="recorded")
    with pytest.raises(ValueError, match="published, modelled, bounded or emulated"):
        guess.reveal(3.1, tier="guessed", label="somewhere")


def test_the_assumption_that_failed_is_named_and_those_that_held_are_not(guess):
    known = guess.reveal(3, 40, [("free launches", False, "5 µs each"),
                                 ("memory-bound", True, "12 bytes per element")])
    assert known.reason == ("The model expects 40×, 13 times more than measured. "
                            "What did not hold: free launches (5 µs each).")
    both = guess.reveal(3, 40, [("free launches", False, "5 µs each"), ("a quiet host", "look")])
    assert both.reason.endswith("hold: free launches (5 µs each). Not known: a quiet host (look).")
    unknown = guess.reveal(3, 40, [("free launches", "5 µs each")])
    assert "At least one of its assumptions failed: free launches (5 µs each)." in unknown.reason
    held = guess.reveal(3, 40, [("memory-bound", True, "12 bytes per element")])
    assert "It leaves something out" in held.reason


def test_a_measurement_out_of_order_is_refused(guess):
    with pytest.raises(ValueError, match=r"a number or \(low, median, high\)"):
        guess.reveal((3, 2, 1))


def test_the_axis_is_the_sliders_and_reaches_what_fell_outside_it(guess):
    axes = guess.reveal(0.01, 5000).picture().axes
    assert axes.get_xscale() == "log"
    low, high = axes.get_xlim()
    assert low <= 0.01 and high >= 5000
    linear = predict("Which share?", 0, 100, "%").reveal(0).picture().axes
    assert linear.get_xscale() == "linear"


def test_the_answer_to_a_prediction_is_a_picture_with_alt_text_and_no_background(guess):
    from matplotlib.image import imread

    guess.set(10)
    page = guess.reveal(3.14)._repr_html_()
    assert 'alt="You said ' in page and "<figcaption>" in page
    width = int(re.search(r'width="(\d+)"', page)[1])
    image = imread(io.BytesIO(base64.b64decode(re.search("base64,([^\"]+)", page)[1])))
    assert 500 < width < 850 and image.shape[1:] == (width, 4)
    assert image[2, -2, 3] == 0  # Transparent in a corner.


# Quizzes

CHOICES = {"They wait for memory": "Each element travels twice.",
           "The GPU is slow": "It has the faster memory."}


@pytest.fixture
def question():
    return quiz("Why do they tie?", CHOICES, right="They wait for memory")


def test_every_choice_is_judged_and_explained(question):
    right, wrong = (question.answer(choice) for choice in CHOICES)
    assert (right.passed, wrong.passed) == (True, False)
    assert repr(right) == "✓ Right. Each element travels twice."
    assert repr(wrong) == "✗ Not this one. It has the faster memory."
    with pytest.raises(ValueError, match="not among the choices: “They wait for memory”"):
        question.answer("No idea")


def test_pressing_a_choice_explains_it_and_marks_its_button(question):
    assert question.widget
    question.buttons[1].click()
    assert "It has the faster memory." in question.explanation.value
    assert question.buttons[1].description == "✗ The GPU is slow"
    question.buttons[0].click()
    question.buttons[0].click()
    assert "Right." in question.explanation.value
    assert question.buttons[0].description == "✓ They wait for memory"


def test_a_saved_quiz_keeps_its_answers_folded(question):
    data = question._repr_mimebundle_()
    assert "○ The GPU is slow" in data["text/plain"] and "travels" not in data["text/plain"]
    assert data["text/html"].count("<details><summary>") == 2
    assert "Each element travels twice." in data["text/html"]


@pytest.mark.parametrize(("choices", "right", "complaint"), [
    ({"a": "x"}, "a", "two choices"), (CHOICES, "They wait", "not among the choices"),
    (CHOICES, None, "not among the choices"), ({"a": "x", "A ": "y"}, "a", "read the same"),
    ({"a": "x", "b": " "}, "a", "“b” has no words")])
def test_a_quiz_that_cannot_teach_is_refused(choices, right, complaint):
    with pytest.raises(ValueError, match=complaint):
        quiz("Why?", choices, right=right)


# The box around them


def contrast(one, other):
    """The contrast of two colors, as the Web Content Accessibility Guidelines define it."""
    from matplotlib.colors import to_rgb

    def luminance(color):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                  for c in to_rgb(color)]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05

    dark, light = sorted(map(luminance, (one, other)))
    return light / dark


# Live


def test_one_of_a_unit_is_not_several():
    from gpulessons.notebook.controls.showing import quantity

    said = [quantity(1, unit) for unit in ("tokens", "classes", "launches", "µs", "GB/s", "×")]
    assert said == ["1 token", "1 class", "1 launch", "1 µs", "1 GB/s", "1×"]


def test_a_slider_goes_up_by_its_step_and_starts_in_the_middle():
    steps = slider(1, 9, step=2)
    assert steps.values == (1, 3, 5, 7, 9) and steps.start == 5
    assert slider(1, 9, 3, saved=(1, 8)).saved == (1, 3, 8)


@pytest.mark.parametrize("wrong", [
    lambda: slider(5, 1), lambda: slider(1, 5, step=0), lambda: slider(1, 9, 4, step=2),
    lambda: slider(0, 10**7)])
def test_a_slider_that_leads_nowhere_is_refused(wrong):
    with pytest.raises(ValueError, match="slider"):
        wrong()


def test_controls_that_do_not_fit_the_function_are_refused():
    with pytest.raises(TypeError, match="missing a required argument: 'm'"):
        live(lambda n, m: n, n=[0, 3])
    with pytest.raises(ValueError, match="n=3 is no control"):
        live(lambda n: n, n=3)
    with pytest.raises(ValueError, match="no control named m"):
        live(lambda n: n, n=[0, 3], labels={"m": "rows"})


def test_the_first_result_is_an_ordinary_output_and_every_move_replaces_it(shown):
    lesson = live(lambda n, kind: (n, kind), n=slider(0, 10), kind=["a", "b"])
    lesson._ipython_display_()
    (controls, *_), (first, place, update) = shown
    assert VIEW in controls and "n from 0 … 10, here 5" in controls["text/html"]
    assert (first, update) == ((5, "a"), False)
    number, kind, *_ = lesson.widget.children
    number.value, kind.value = 7, "b"
    assert shown[-1] == ((7, "b"), place, True)
    assert len(shown) == 4


def test_an_error_is_said_in_the_output_and_the_next_result_takes_its_place(shown):
    lesson = live(lambda n: 6 // n, n=slider(0, 3, 1))
    lesson._ipython_display_()
    for value, said in ((0, "(n=0) failed: ZeroDivisionError"), (2, "3")):
        lesson.widget.children[0].value = value
        assert said in repr(shown[-1][0])


def test_a_function_that_gives_nothing_is_said_to(shown):
    with pytest.raises(ValueError, match="nothing to show"):
        live(lambda n: None, n=[1, 2])._ipython_display_()
    assert "nothing to show" in repr(shown[-1][0])


def test_a_picture_of_the_course_is_shown_as_it_is(shown, guess):
    lesson = live(lambda n: guess.reveal(n).picture(), n=slider(1, 9))
    lesson._ipython_display_()
    assert "says 5×" in shown[-1][0].alt


def test_nbconvert_renders_every_control_without_widget_state(tmp_path):
    pytest.importorskip("nbclient")
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    sources = ["from gpulessons.notebook.controls import live, predict, quiz, slider",
               "guess = predict('How fast?', 1, 1000); guess", "guess.reveal(3)",
               "quiz('Why?', {'a': 'since x', 'b': 'not y'}, right='a')",
               "live(lambda n: f'{n} squared is {n * n}', n=slider(0, 24))"]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, sources)))
    work = {"metadata": {"path": str(Path(__file__).parents[2])}}
    NotebookClient(notebook, timeout=600, resources=work, store_widget_state=False).execute()
    page, _ = HTMLExporter().from_notebook_node(notebook)
    for words in ("Prediction: How fast? (1× … 1,000×, log scale)", "This machine says 3×",
                  "<summary>a</summary>", "since x", "here 12", "12 squared is 144"):
        assert words in page.split("</head>")[-1], words


def test_a_sketch_is_a_curve_of_predictions_and_scores_each_of_them(path):
    drawn = sketch("How long for", [1, 100, 10_000], 0.01, 100, "µs", "numbers")
    assert repr(drawn) == (
        "Prediction: How long for 1, 100, 10,000 numbers? (0.01 µs … 100 µs, log scale)")
    assert drawn.drawn == {} and "nothing yet" in drawn.svg
    measured = {1: (0.9, 1.0, 1.1), 10_000: (2.0, 2.0, 2.0)}
    assert drawn.reveal(measured).startswith("You drew no curve")
    drawn.widget.children[1].value = 5
    drawn.widget.children[3].value = 3
    assert drawn.drawn == {1: 5, 10_000: 3} and "10,000: 3 µs" in drawn.picture.value
    assert drawn.svg.count("<circle") == 2
    assert drawn.reveal(measured) == "Of your points 1 of 2 are within a factor of 2."
    kept_now = [event for event in kept.events() if event.measured]
    assert [event.question for event in kept_now] == [
        "How long for 1 numbers", "How long for 10,000 numbers"]
    sketch("Theirs", [1], 1, 9, "s").reveal({1: 2.0}, tier="published", label="somebody's")
    assert kept.events()[-1].tier == "published"
    with pytest.raises(ValueError, match="rising places"):
        sketch("How long", [2, 1], 1, 10, "s")
