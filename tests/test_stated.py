"""No sentence of the course states a number or an order that a page could contradict."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import save_notebooks
import stated
from save_notebooks import NOTEBOOKS

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def page(prose, code="", shown="", tags=()):
    output = [new_output("stream", text=shown)] if shown else []
    cell = new_code_cell(code, outputs=output, metadata={"tags": list(tags)})
    return new_notebook(cells=[new_markdown_cell(prose), cell])


@each_notebook
def test_what_its_prose_states_has_a_ground(path):
    assert stated.groundless(save_notebooks.read(path), stated.grounds_of(path.stem)) == []


def test_every_ground_is_of_something_that_is_stated():
    import json
    every = json.loads(stated.GROUNDS.read_text(encoding="utf-8"))
    read = {path.stem: save_notebooks.read(path) for path in PATHS}
    for name, grounds in every.items():
        left = stated.unused(read[name], grounds)
        assert not left, f"{name}: nothing states {left}"
        assert all(len(why) > 8 for why in grounds.values())


@pytest.mark.parametrize("prose", [
    "A tile saves 93 % of the reads.", "It takes 12 µs.", "It moves 3.5 GB/s.",
    "So it is 7.5× as fast.", "4 chains of 16: 4 × 16 = 65.", "The figure shows that ReLU wins.",
    "Here NumPy is faster than the loop.",
])  # fmt: skip
def test_a_statement_without_a_ground_is_found(prose):
    assert stated.groundless(page(prose), {})


def test_a_number_of_the_code_or_of_a_compared_output_is_a_ground_and_a_measured_one_is_none():
    prose = "It is 12 µs."
    assert stated.groundless(page(prose, "launch = 12e-6"), {}) == []
    assert stated.groundless(page(prose, "show()", "12\n", ["nbval-check-output"]), {}) == []
    assert stated.groundless(page(prose, "show()", "12\n"), {})
    assert stated.groundless(page(prose), {"12 µs": "published"}) == []


