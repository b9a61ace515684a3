"""The glossary: what it says, where its terms lead, and from where a lesson leads to it."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

import browser
import glossary
import save_notebooks
from glossary import Term

WORDS = 40
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


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_definition_is_one_sentence_or_two_and_short(term):
    assert term.means.endswith(".")
    assert len(re.split(r"(?<=[.!?]) ", term.means)) <= 2
    assert len(term.means.split()) <= WORDS


def test_each_term_is_said_in_the_cell_that_shows_it_and_first_appears_somewhere(lessons):
    assert glossary.faults(lessons, TERMS) == []


def test_its_notebook_is_todays(lessons):
    page = save_notebooks.text(glossary.page(lessons, TERMS))
    assert FILE.read_text(encoding="utf-8") == page, "run: python tools/glossary.py"
    assert save_notebooks.is_canonical(FILE)


def test_each_term_is_linked_from_where_it_first_appears_and_from_nowhere_else():
    outdated = glossary.outdated(glossary.lessons(), TERMS)
    assert [path.name for path in outdated] == [], "run: python tools/glossary.py"


# The links


def test_a_term_is_linked_once_where_it_first_appears():
    course = glossary.linked(books("No word.", "Two warps. A warp.", "A warp."), [term()])
    assert texts(course) == ["No word.", "Two [warps](glossary.ipynb#Warp). A warp.", "A warp."]


def test_a_second_run_changes_nothing():
    wanted = [term(), term("In flight"), term("Shared memory")]
    once = glossary.linked(books("A *warp* in\nflight.", "**Shared memory**, a warp."), wanted)
    assert texts(once)[0].count("glossary.ipynb") == 2
    assert glossary.linked(once, wanted) == once


def test_a_link_moves_with_the_first_appearance_and_goes_with_its_term():
    course = books("A warp.", "A [warp](glossary.ipynb#Warp), [this page](glossary.ipynb).")
    moved = texts(glossary.linked(course, [term()]))
    assert moved == ["A [warp](glossary.ipynb#Warp).", "A warp, [this page](glossary.ipynb)."]
    assert texts(glossary.linked(course, []))[0] == "A warp."


@pytest.mark.parametrize("passed", [
    "# A warp", "### A warp *(optional)*", "`a warp`", "``a `warp` ``", "```\na warp\n```",
    "[a warp](01_first.ipynb)", "![a warp](x.png)", '<img src="warp.png">', "| a warp | 32 |",
    "> **Claim 1.** A\n> warp, and\nthat warp.", "**Next:** a\nwarp.", "a time-warp", "warped",
])  # fmt: skip
def test_what_is_no_prose_is_passed_over(passed):
    course = books(f"Begin.\n\n{passed}\n\nA warp.\n\n## Sources\n\nWarps, 2008")
    (text,) = texts(glossary.linked(course, [term()]))
    assert text == course["01_first"].cells[0].source.replace(
        "\n\nA warp.", "\n\nA [warp](glossary.ipynb#Warp).")  # fmt: skip


def test_neither_sources_nor_code_are_a_first_appearance():
    course = books("# First", "## Sources\n\nWarps, 2008")
    course["01_first"].cells.append(new_code_cell("# a warp", id="code"))
    assert list(glossary.first_appearances(course, [term()])) == []


def test_the_longer_of_two_terms_takes_the_words_that_both_want():
    wanted = [term("Register"), term("Register tile"), term("Tile")]
    (text,) = texts(glossary.linked(books("A register tile has a tile of registers."), wanted))
    assert text == (
        "A [register tile](glossary.ipynb#Register-tile) has a [tile](glossary.ipynb#Tile) of "
        "[registers](glossary.ipynb#Register)."
    )


def test_a_word_counts_from_the_cell_on_in_which_it_means_the_term():
    course = books("A heat wave.", "Blocks make a wave.")
    linked = texts(glossary.linked(course, [term("Wave", since="c-1")]))
    assert linked == ["A heat wave.", "Blocks make a [wave](glossary.ipynb#Wave)."]


# What is amiss, and the page


def test_a_term_that_leads_nowhere_is_found():
    course = books("A warp.", "A lane.")
    assert glossary.faults(course, [term()]) == []
    assert glossary.faults(course, [term(shown="c-9")]) == ["Warp: no notebook has the cell c-9"]
    assert glossary.faults(course, [term(shown="c-1")]) == ["Warp: the cell c-1 does not say it"]
    assert glossary.faults(course, [term(since="c-1")]) == ["Warp: it appears nowhere"]


def test_an_entry_names_the_notebook_and_the_heading_above_the_words():
    course = books("# 01 · First: more", "### Warps, and more *(optional)*\n\nThey are 32.")
    said = glossary.entry(term(shown="c-1"), course)
    assert said == (
        "### Warp\n\nThreads that run together. → "
        "[01 · First: Warps, and more](01_first.ipynb#cell-id=c-1)"
    )
    other = glossary.entry(term(shown="c-1", also="wavefront"), course)
    assert "Threads that run together. *Also: wavefront.* → [" in other
    first = glossary.entry(term(), books("# 01 · First: more\n\nA warp."))
    assert first.endswith("→ [01 · First](01_first.ipynb#cell-id=c-0)")


def test_the_page_has_no_code_and_none_is_put_in():
    page = glossary.page(books("# 01 · First\n\nA lane, a warp."), [term("Lane"), term("Warp")])
    assert [cell.cell_type for cell in page.cells] == ["markdown"] * 3
    assert [cell.id for cell in page.cells] == ["glossary", "glossary-l", "glossary-w"]
    assert save_notebooks.canonical(page, "glossary") == page


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
