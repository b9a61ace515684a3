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
from gpulessons import live, predict, quiz
from gpulessons.plots.frames import moving

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
def test_the_names_of_cells_stay_and_each_is_there_once(path):
    names = [cell.id for cell in rendered(path).cells]
    assert len(names) == len(set(names))
    assert {cell.id for cell in saved(path).cells} - {first_cell.ID} <= set(names)


@every_notebook
def test_what_is_opened_is_closed(path):
    folds = re.findall(f"{OPENS}|{CLOSES}", "".join(
        cell.source for cell in rendered(path).cells if cell.cell_type == "markdown"
    ))  # fmt: skip
    assert folds == [OPENS, CLOSES] * (len(folds) // 2)


# One cell


def test_what_a_prediction_and_its_answer_say_is_known_here():
    guess = predict("How much faster?", 0.5, 100)
    line = "<strong>How much faster?</strong> Guess first: between 0.5× and 100×."
    assert website_lessons.told(guess._repr_mimebundle_()["text/html"]) == (
        f'<p class="guess">{line}</p>'
    )
    shown = website_lessons.told(guess.reveal(3)._repr_html_())
    assert shown == "<p><strong>How much faster?</strong> This machine says 3×.</p>"
    nothing = website_lessons.told(guess.reveal(None)._repr_html_())
    assert nothing == "<p><strong>How much faster?</strong> Not measured here: no GPU.</p>"


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


def test_an_answer_far_from_its_question_names_it_and_keeps_its_reasons():
    cells = page_of(
        PROSE,
        showed('def f(): ...\nguess = predict("How much?")\nguess', ASKED),
        new_markdown_cell("Why?", id="why"),
        showed("measure()", "a table", name="two"),
        showed("guess.reveal(3)", FOUND.format(" The model expects 4 %."), name="three"),
    )
    assert cells[1:3] == ['def f(): ...\nguess = predict("How much?")\nguess', [LINE]]
    assert cells[4:6] == ["measure()", ["a table"]]
    assert cells[7] == f"{OPENS}<summary>What it was: <strong>How much?</strong></summary>"
    assert cells[8][0].endswith("says 3 %.<br>The model expects 4 %.</p>")


def test_what_stands_before_the_first_sentence_is_folded():
    assert page_of(
        showed("import this\nimport that"), showed("draw()", "a figure", name="two"), PROSE,
        showed("import other", name="three"),
    ) == [
        f"{OPENS}<summary>Set-up, 2 lines</summary>", "import this\nimport that", CLOSES,
        ["a figure"], f"{OPENS}<summary>Its code, 1 line</summary>", "draw()", CLOSES,
        "Now.", "import other",
    ]  # fmt: skip


def test_an_untouched_stub_has_no_verdict_and_a_wrong_version_of_an_op_has():
    wrong = "<p><strong>✗ {}: not yet. Wrong.</strong></p>"
    assert page_of(
        PROSE, showed("check(typical_time, mine)", wrong.format("typical_time")),
        showed("check(relu, mine)", wrong.format("relu"), name="two"),
    )[1:] == ["check(typical_time, mine)", "check(relu, mine)", [wrong.format("relu")]]  # fmt: skip


def test_the_heading_of_the_exercises_says_what_opens_on_a_page():
    heading = new_markdown_cell("So.\n\n## Your turn\n\n**First**", id="turn")
    line = "To try these, open the notebook. {} open here."
    said = "So.\n\n## Your turn\n\n" + line + "\n\n\n**First**"
    assert page_of(heading) == [said.format("Solutions")]
    found = page_of(heading, showed("from gpulessons import hint\n\nhint(relu)", "folded"))
    assert found == [said.format("Hints and solutions"), ["folded"]]


def test_a_quiz_is_there_and_its_code_is_not():
    asked = quiz("Which?", {"a": "no", "b": "yes"}, right="b")
    shown = asked._repr_html_()
    assert page_of(PROSE, showed('quiz("Which?", {…}, right="b")', shown))[1:] == [[shown]]


def test_where_nothing_moves_without_scripts_the_page_says_so():
    (shown,) = page_of(PROSE, showed("live(f)", moving([], [("<svg/>", "x")], "<img>")))[-1]
    places = [shown.index(each) for each in ("<img>", "<noscript><p>Without scripts", "(async")]
    assert places == sorted(places)


def test_a_control_that_measures_says_what_it_is_set_to():
    several = {"part": ["trees", "money"], "n": [3, 5]}
    for count, shown in ((1, "trees"), (2, "claims about: trees; n: 3")):
        controls = dict(list(several.items())[:count])
        control = live(lambda **_: "", run="Measure", labels={"part": "claims about"}, **controls)
        invitation = f"<p>Run this cell for its controls: {control.in_words()}.</p>"
        said = f"<p>Shown: {shown}. In the notebook you choose.</p>"
        assert website_lessons.told(invitation) == said


def test_the_first_cell_is_the_notebooks_own():
    cell = new_markdown_cell("You need the course, which the first cell installs.", id="two")
    assert page_of(cell) == ["You need the course, which the notebook's first cell installs."]


def test_a_link_to_a_cell_that_is_gone_is_refused():
    book = new_notebook(cells=[new_code_cell("1", id="one")])
    with pytest.raises(ValueError, match="cells that are not there: two"):
        website_lessons.name_cells(book, {"one", "two"})


def tables(html):
    return website_lessons.TABLE.sub(website_lessons.table, html)


def test_columns_of_words_are_told_from_numbers():
    words = "<b>Embarrassingly parallel: holds.</b> No thread needs another."
    row = "<tr><th>a</th><td{}>{}</td><td{}>3 ms</td></tr>"
    named = ' class="words"'
    marked = f"<table><tbody>{row.format(named, words, '')}</tbody></table>"
    assert tables(f"<table><tbody>{row.format('', words, '')}</tbody></table>") == marked
    head = '<tr><th scope="col">{}</th><th scope="col"{}>why</th></tr>'
    found = tables(f"<table>{head.format('', '')}<tr><th>a</th><td>{words}</td></tr></table>")
    assert found.startswith(f"<table>{head.format('', named)}")
    assert f'<td class="words" data-head="why">{words}</td>' in found


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


def test_verdicts_are_blocks_on_a_small_screen():
    found = [said(cell) for cell in rendered(ROOT / "notebooks" / "16_verdicts.ipynb").cells]
    verdicts = [html for html in found if 'data-head="verdict"' in html]
    assert verdicts and all('<table class="blocks"' in html for html in verdicts)
