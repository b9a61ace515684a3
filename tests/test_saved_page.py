"""A saved page, opened from its file in a browser: what moves does, without Python, by keyboard."""

import nbformat
import pytest

import save_notebooks
from browser import missing, page

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is at hand")

CELLS = """\
import numpy as np
from gpulessons import live, slider
from gpulessons.illustrations.online_softmax import Sweep
from gpulessons.plots.picture import Picture, blank

def shown(n):
    return Picture(blank(title=f"{n} of nine.")[0], f"{n} of nine.")

shown(1)
---
live(shown, n=slider(1, 9, 4, step=1), labels={"n": "how many"})
---
Sweep(range(16), 2)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The HTML file of a notebook as the course saves it."""
    from nbconvert import HTMLExporter

    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.split("---\n")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    save_notebooks.run(notebook, "x")
    notebook = save_notebooks.canonical(notebook, "x")
    file = tmp_path_factory.mktemp("page") / "x.html"
    file.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def opened(saved):
    with page(saved.as_uri()) as tab:
        tab.locator("input[type=range]").nth(1).wait_for()
        yield tab


def test_a_picture_is_drawn_in_the_color_of_the_text_around_it(opened):
    drawing = opened.locator("svg[aria-hidden]").first
    drawing.wait_for()
    inked = drawing.locator("[fill=currentColor]").first
    color = "node => getComputedStyle(node).color"
    assert inked.evaluate(color) == opened.locator("body").evaluate(color)
    letters = inked.evaluate("node => getComputedStyle(node).fill")
    assert letters == opened.locator("body").evaluate(color)


def test_a_picture_that_does_not_move_is_shown_as_well(opened):
    from playwright.sync_api import expect

    picture = opened.get_by_role("img", name="1 of nine.", exact=True)
    expect(picture).to_have_count(1)
    assert picture.locator("svg").bounding_box()["height"] > 100


def test_a_slider_is_moved_by_arrow_keys_and_says_what_it_shows(opened):
    from playwright.sync_api import expect

    slider = opened.get_by_role("slider", name="how many")
    assert slider.get_attribute("aria-valuetext") == "4"
    slider.focus()
    opened.keyboard.press("ArrowRight")
    expect(opened.get_by_role("img", name="5 of nine.")).to_have_count(1)
    expect(slider).to_have_attribute("aria-valuetext", "5")
    opened.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "1")


def test_a_film_is_stepped_through_by_arrow_keys(opened):
    from playwright.sync_api import expect

    slider = opened.get_by_role("slider", name="step")
    slider.focus()
    for _ in range(7):
        opened.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "8 of 8")
    expect(opened.get_by_role("img", name="Tile 8 of 8")).to_have_count(1)


def test_without_scripts_every_picture_is_still_there(saved, opened):
    still = opened.context.browser.new_context(java_script_enabled=False).new_page()
    still.goto(saved.as_uri())
    images = still.locator("img")
    words = [image.get_attribute("alt") for image in images.all()]
    assert [alt.split(".")[0] for alt in words[:2]] == ["1 of nine", "4 of nine"]
    assert words[2].startswith("16 scores in 8 tiles") and len(words) == 3
    assert all(image.is_visible() for image in images.all())
