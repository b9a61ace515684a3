"""What a notebook becomes as a page of the website: nothing waits there for a kernel."""

import ast
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import first_cell
import website_lessons
from gpulessons import quiz

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
OPENS, CLOSES = '<details class="fold">', "</details>"


def as_page(book):
    return website_lessons.page(book, str, str)


@cache
def saved(path):
    return nbformat.read(path, 4)


@cache
def rendered(path):
    return as_page(saved(path))


every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def said(cell):
    return "".join(map(website_lessons.html_of, cell.get("outputs", [])))


def showed(source, *shown, name="one"):
    """A cell of code with what it showed."""
    outputs = [new_output("display_data", {"text/html": html}) for html in shown]
    return new_code_cell(source, id=name, outputs=outputs)


def told(cells):
    """The cells of a page in short: words and code as they are, what was shown in brackets."""
    for cell in cells:
        if cell.cell_type == "markdown":
            yield cell.source.replace("````{raw} html\n", "").replace("\n````", "")
            continue
        if "remove-input" not in cell.metadata.get("tags", []):
            yield cell.source
        if cell.outputs:
            yield [said(cell)]


def page_of(*cells):
    title = new_markdown_cell("# Title", id="title")
    return list(told(as_page(new_notebook(cells=[title, *cells])).cells))[1:]


# Every notebook


@every_notebook
def test_no_page_blames_its_reader_or_asks_for_a_run(path):
    words = " ".join(map(said, rendered(path).cells))
    for asked in ("You made no prediction", "Run this cell", "Prediction:", "No predictions yet",
                  "The stub is as it was"):  # fmt: skip
        assert asked not in words


@every_notebook
def test_every_answer_to_a_prediction_is_folded(path):
    questions = {
        found[1]
        for cell in saved(path).cells
        for found in [re.match(r"<p>Prediction: (.*) \([^()]*\)</p>", said(cell))]
        if found
    }
    inside, answered, asked = False, set(), set()
    for cell in rendered(path).cells:
        if cell.cell_type == "markdown":
            inside = OPENS in cell.source or (inside and CLOSES not in cell.source)
        for question in questions:
            if f"<strong>{question}</strong> Guess first: between" in said(cell):
                asked.add(question)
            elif f"<strong>{question}</strong> " in said(cell):
                answered.add(question)
                assert inside, cell.id
    assert asked == questions
    reveals = sum("You made no prediction" in said(cell) for cell in saved(path).cells)
    assert len(answered) == reveals


@every_notebook
def test_no_code_gives_the_answers_of_a_quiz_and_all_other_code_is_there(path):
    pieces = {cell.id: list(told([cell])) for cell in rendered(path).cells}
    shown = [piece for told_of in pieces.values() for piece in told_of if isinstance(piece, str)]
    for cell in saved(path).cells:
        if cell.cell_type == "code" and cell.id != first_cell.ID:
            last = ast.parse(re.sub(r"(?m)^[%!].*$", "", cell.source)).body[-1]
            call = getattr(getattr(getattr(last, "value", None), "func", None), "id", "")
            if call in ("quiz", "hint", "solution"):
                assert cell.source not in shown, cell.id
            elif not re.match(r"\w+ = predict\(", cell.source):
                assert cell.source in shown, cell.id


@every_notebook
def test_what_is_opened_is_closed(path):
    folds = re.findall("</?details", "".join(  # the page's own, too
        cell.source for cell in rendered(path).cells if cell.cell_type == "markdown"
    ))  # fmt: skip
    assert folds == ["<details", "</details"] * (len(folds) // 2)


# One cell


ASKED = "<p>Prediction: How much? (0 % … 100 %)</p>"
LINE = '<p class="guess"><strong>How much?</strong> Guess first: between 0 and 100 %.</p>'
FOUND = (
    "<p><strong>How much?</strong> This machine says 3 %.<br>You made no prediction. One counts "
    "only before its answer is shown.{}</p>"
)
PROSE = new_markdown_cell("Now.", id="prose")


def test_what_comes_between_a_question_and_its_answer_is_folded_up_to_the_next_prose():
    cells = page_of(
        PROSE,
        showed('guess = predict("How much?")\nguess', ASKED),
        showed("measure()", "a table", name="two"),
        showed("guess.reveal(3)", FOUND.format(""), name="three"),
    )
    answer = "<p><strong>How much?</strong> This machine says 3 %.</p>"
    assert cells == [
        "Now.", [LINE],
        "measure()", f"{OPENS}<summary>Then open: what came out</summary>", ["a table"], CLOSES,
        "guess.reveal(3)", f"{OPENS}<summary>Then open: what it was</summary>", [answer], CLOSES,
    ]  # fmt: skip


def test_a_part_whose_heading_is_collapsed_is_a_fold_up_to_the_next_heading():
    collapsed = {"jp-MarkdownHeadingCollapsed": True}
    more = new_markdown_cell("### More & less\n\nWhy.", id="more", metadata=collapsed)
    cells = page_of(PROSE, more, showed("measure()", "a table", name="two"),
                    new_markdown_cell("## Sources", id="sources"))  # fmt: skip
    assert cells == ["Now.", f"{OPENS}<summary>More &amp; less</summary>", "\nWhy.", "measure()",
                     ["a table"], CLOSES, "## Sources"]  # fmt: skip
    assert page_of(more)[-1] == CLOSES


def test_a_quiz_is_there_and_its_code_is_not():
    asked = quiz("Which?", {"a": "no", "b": "yes"}, right="b")
    shown = asked._repr_html_()
    assert page_of(PROSE, showed('quiz("Which?", {…}, right="b")', shown))[1:] == [[shown]]


def test_a_link_to_a_cell_that_is_gone_is_refused():
    book = new_notebook(cells=[new_code_cell("1", id="one")])
    with pytest.raises(ValueError, match="cells that are not there: two"):
        website_lessons.name_cells(book, {"one", "two"})


def tables(html):
    return website_lessons.TABLE.sub(website_lessons.table, html)


def test_rows_where_nothing_was_measured_go_if_the_text_below_says_why():
    head = '<tr><th scope="col">version</th><th scope="col">1</th><th scope="col">threads</th></tr>'
    rows = [f"<tr><th>{name}</th><td>{time}</td><td></td></tr>"
            for name, time in (("NumPy", "3 ms"), ("CUDA", "–"), ("mine", "–"))]  # fmt: skip
    all_of_them = f"<table>{head}{''.join(rows)}</table>"
    kept = re.compile(r"<th>(\w+)</th>")
    assert kept.findall(tables(f"{all_of_them}<p>– CUDA: no GPU</p>")) == ["NumPy", "mine"]
    assert kept.findall(tables(all_of_them)) == ["NumPy", "CUDA", "mine"]
    later = f"<p></p><table>{head}<tr><th>CUDA</th><td>1 ms</td><td></td></tr></table>"
    assert kept.findall(tables(f"{all_of_them}{later}")) == ["NumPy", "CUDA", "mine", "CUDA"]
    nothing = f"<table>{head}{rows[1]}</table><p>– CUDA: no GPU</p>"
    assert kept.findall(tables(nothing)) == ["CUDA"]


