"""The glossary: what it says, where its terms lead, and from where a lesson leads to it."""


import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

import browser
import glossary
import save_notebooks
from glossary import Term

TERMS = glossary.terms()
FILE = save_notebooks.NOTEBOOKS / "glossary.ipynb"


@pytest.fixture(scope="module")
def lessons():
    """The course's lessons without their links to the glossary."""
    return glossary.linked(glossary.lessons(), [])


def books(*sources, name="01_first"):
    """A course of one lesson with these cells of prose, c-0 and on."""
    cells = [new_markdown_cell(source, id=f"c-{place}") for place, source in enumerate(sources)]
    return {name: nbformat.v4.new_notebook(cells=cells)}


def term(name="Warp", shown="c-0", **options):
    return Term(name, "Threads that run together.", shown, **options)


def texts(course):
    return [cell.source for book in course.values() for cell in book.cells]


# The course's own


def test_it_has_its_terms_in_alphabetical_order():
    names = [term.name.casefold() for term in TERMS]
    assert len(names) >= 55
    assert names == sorted(set(names))


def test_its_notebook_is_todays(lessons):
    page = save_notebooks.text(glossary.page(lessons, TERMS))
    assert FILE.read_text(encoding="utf-8") == page, "run: python tools/glossary.py"
    assert save_notebooks.is_canonical(FILE)


def test_each_term_is_linked_from_where_it_first_appears_and_from_nowhere_else():
    outdated = glossary.outdated(glossary.lessons(), TERMS)
    assert [path.name for path in outdated] == [], "run: python tools/glossary.py"


# The links


def test_a_second_run_changes_nothing():
    wanted = [term(), term("In flight"), term("Shared memory")]
    once = glossary.linked(books("A *warp* in\nflight.", "**Shared memory**, a warp."), wanted)
    assert texts(once)[0].count("glossary.ipynb") == 2
    assert glossary.linked(once, wanted) == once


def test_the_longer_of_two_terms_takes_the_words_that_both_want():
    wanted = [term("Register"), term("Register tile"), term("Tile")]
    (text,) = texts(glossary.linked(books("A register tile has a tile of registers."), wanted))
    assert text == (
        "A [register tile](glossary.ipynb#Register-tile) has a [tile](glossary.ipynb#Tile) of "
        "[registers](glossary.ipynb#Register)."
    )


# What is amiss, and the page


def test_a_term_that_leads_nowhere_is_found():
    course = books("A warp.", "A lane.")
    assert glossary.faults(course, [term()]) == []
    assert glossary.faults(course, [term(shown="c-9")]) == ["Warp: no notebook has the cell c-9"]
    assert glossary.faults(course, [term(shown="c-1")]) == ["Warp: the cell c-1 does not say it"]
    assert glossary.faults(course, [term(since="c-1")]) == ["Warp: it appears nowhere"]


# In JupyterLab


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "a browser is at hand")
def test_jupyterlab_goes_from_a_lesson_to_the_entry_and_on_to_the_cell(tmp_path, monkeypatch):
    far = ["Nothing.\n\n" * 60] * 4
    wanted = [term("Lane"), term(shown="c-5")]
    course = books("# 01 · First\n\nA lane, a warp.", *far, "## Here\n\nThis is a warp.", *far)
    page = glossary.page(course, wanted)
    page.cells[1].source += "\n\nNothing." * 60
    for name, book in {**glossary.linked(course, wanted), "glossary": page}.items():
        saved = save_notebooks.canonical(book, name)
        (tmp_path / f"{name}.ipynb").write_text(save_notebooks.text(saved), encoding="utf-8")
    news = "@jupyterlab/apputils-extension:notification"  # all else as it is for a learner
    monkeypatch.setattr(browser, "SETTINGS", {news: browser.SETTINGS[news]})
    with browser.lab(tmp_path) as url, browser.page(url) as tab:
        tab.goto(tab.evaluate("location.origin") + "/lab/tree/01_first.ipynb")
        link = tab.locator(".jp-RenderedMarkdown a", has_text="warp")
        link.click()  # JupyterLab opens the glossary, and may not yet find the place in it
        tab.locator(".jp-RenderedMarkdown h1", has_text="Glossary").wait_for()
        tab.locator(".lm-TabBar-tabLabel", has_text="01_first").click()
        link.click()
        tab.wait_for_function(IN_SIGHT, arg=["h3", "Warp"])
        tab.locator(".jp-RenderedMarkdown a", has_text="Here").click()
        tab.wait_for_function(IN_SIGHT, arg=["h2", "Here"])


IN_SIGHT = """([kind, words]) => [...document.querySelectorAll(`.jp-RenderedMarkdown ${kind}`)]
    .filter(heading => heading.offsetParent && heading.textContent.startsWith(words))
    .map(heading => heading.getBoundingClientRect())
    .some(box => box.top > 0 && box.bottom < innerHeight)"""
