"""The controls as a learner meets them: JupyterLab, Chromium, a keyboard and a mouse."""

import re

import pytest

from browser import cell, lab, missing, page, picture, run_all, write_notebook

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is at hand")
PATIENCE = 300_000  # milliseconds until what does not show counts as missing

LESSON = """\
from gpulessons.notebook.controls import live, predict, quiz
guess = predict("How much faster does a GPU run ReLU?", 0.1, 1000)
guess
---
guess.reveal((2.9, 3.14, 3.4), 40, [("launches are free", False, "each costs 5 µs")])
---
quiz("Why do ReLU and GELU tie on a GPU?", {
    "Both wait for memory": "Each element is read once and written once.",
    "They need the same arithmetic": "GELU needs many times more."}, right="Both wait for memory")
---
live(lambda n: f"{n} squared is {n * n}", n=(0, 24), labels={"n": "elements"})
---
import time
def steps(n):
    for step in range(n):
        time.sleep(0.1)
        yield f"step {step + 1} of {n}"
live(steps, run="Measure", n=[3, 90_000])
"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A page on which every cell of the notebook ran without an error."""
    root = tmp_path_factory.mktemp("notebooks")
    write_notebook(root / "lesson.ipynb", *LESSON.split("---\n"))
    with lab(root) as url, page(url) as tab:
        assert run_all(tab, "lesson.ipynb") == []
        picture(tab, root / "lesson.png")
        yield tab


def see(notebook, number, words):
    """Wait until the cell of that number says so."""
    found = cell(notebook, number).locator(".jp-OutputArea").get_by_text(words)
    found.first.wait_for(timeout=PATIENCE)


def test_arrow_keys_move_the_slider_and_the_reveal_draws_the_guess(notebook):
    see(notebook, 0, "not yet moved")
    see(notebook, 1, "move its slider and run this cell again")
    cell(notebook, 0).locator(".noUi-handle").focus()
    for _ in range(4):
        notebook.keyboard.press("ArrowRight")
    see(notebook, 0, "Your prediction: 15.8×")
    cell(notebook, 1).locator(".cm-content").click()
    notebook.keyboard.press("Shift+Enter")
    see(notebook, 1, "What did not hold: launches are free")
    message = cell(notebook, 1).locator("img").get_attribute("alt")
    assert message.startswith("You said 15.8×; this machine says 3.14×: 5 times less.")


def test_the_quiz_is_answered_by_keyboard_and_explains(notebook):
    wrong = cell(notebook, 2).get_by_role("button", name="They need the same arithmetic")
    wrong.focus()
    notebook.keyboard.press("Enter")
    see(notebook, 2, "GELU needs many times more.")
    notebook.keyboard.press("Shift+Tab")
    notebook.keyboard.press("Space")
    see(notebook, 2, "Right.")


def test_a_cheap_function_follows_the_slider(notebook):
    from playwright.sync_api import expect

    see(notebook, 3, "12 squared is 144")
    cell(notebook, 3).locator(".noUi-handle").focus()
    notebook.keyboard.press("ArrowRight")
    see(notebook, 3, "13 squared is 169")
    expect(cell(notebook, 3).get_by_text("squared is 1")).to_have_count(1)


def test_measure_runs_until_stop_and_keeps_what_it_has(notebook):
    from playwright.sync_api import expect

    see(notebook, 4, "step 3 of 3")
    button = cell(notebook, 4).get_by_role("button", name="Measure")
    button.click()
    see(notebook, 4, "Done: 3 results")
    cell(notebook, 4).locator("select").select_option("90000")
    see(notebook, 4, "Press Measure for these values.")
    button.click()
    see(notebook, 4, re.compile(r"step \d+ of 90000"))  # each one passes in a moment
    cell(notebook, 4).get_by_role("button", name="Stop").click()
    see(notebook, 4, "Stopped: ")
    status = cell(notebook, 4).get_by_text("Stopped: ").inner_text()
    see(notebook, 4, f"step {status.split()[1]} of 90000")
    expect(button).to_be_enabled(timeout=PATIENCE)  # its state arrives after the words
