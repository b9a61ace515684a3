"""What a notebook becomes as a page of the website: functions from cells to cells.

Nobody runs a page. So what waits for its reader there is folded: the answer to a prediction, the
code above the first sentence. What only a kernel can show goes: controls, the verdict on a stub.
tools/website.py gathers the pages and calls `page` for every notebook.
"""

import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

import first_cell

Text = Callable[[str], str]
EXERCISES = {path.stem for path in Path(__file__).parents[1].glob("gpulessons/exercises/*.py")}
LESSON_LINK = re.compile(r'href="(\d\d_\w+|glossary)\.ipynb')  # what a cell showed, to a page
QUESTION = re.compile(r"<p>Prediction: (.*) \((.*?)(?:, log scale)?\)</p>")
ASKED = re.compile(r'<p class="guess"><strong>(.*?)</strong>')  # the same on a page
ANSWER = re.compile(r"<p><strong>(.*?)</strong> ")
VERDICT = re.compile(r"<p><strong>✗ (\w+): not yet")
CONTROLS = re.compile(r"<p>Run this cell for its controls: (.*)\.</p>")
CONTROL = re.compile(r"(.*) from .*, here (.*)")
TURN = re.compile(r"^#+ Your turn\b.*$", re.MULTILINE)
HINT = re.compile(r"\bhint\(")
TABLE = re.compile(r"<table[^>]*>.*?</table>", re.DOTALL)
ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
CELL = re.compile(r"<(t[hd])([^>]*)>(.*?)</\1>", re.DOTALL)
INSTALLS = "the first cell installs"  # which no page has
# Code that only asks: a quiz's has its answers in it, and what the others show says all of it.
SAVED = "application/vnd.gpulessons.verdict+json"  # a check's, which collecting reads
ASKS = re.compile(r"(from gpulessons import \w+\s+)?((quiz|hint|solution)\(|\w+ = predict\()")
# What an output says to whoever ran it, and what it says to a reader.
SAID = {
    r"(<br>)?You made no prediction\. [^.]*\.(?=</p>)": "",
    r"You made no prediction\. [^.]*\. ": "",
    r"<p>No predictions yet: [^<]*</p>": "<p>In the notebook your own predictions stand here.</p>",
    "Run this cell to turn also:": "In the notebook you can also turn:",
    r'(?=<script type="text/plain">)': "<noscript><p>Without scripts there is nothing to move "
    "here: this is one of the pictures.</p></noscript>",
}

COLLAPSED = "jp-MarkdownHeadingCollapsed"


def page(book: NotebookNode, relinked: Text, sourced: Text) -> NotebookNode:
    """A notebook as a page: without the cell that installs it, links as the site has them."""
    book = nbformat.from_dict(book)
    cells = [cell for cell in book.cells if cell.id != first_cell.ID]
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = relinked(cell.source.replace(INSTALLS, f"the notebook's {INSTALLS[4:]}"))
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(SAVED, None)
            if html := html_of(output):
                html = LESSON_LINK.sub(r'href="\1.html', html)
                output.data["text/html"] = TABLE.sub(table, told(sourced(html)))
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not untried(html_of(output))]
    early, answers = opening(cells), answering(cells)
    answers = {name: said for name, said in answers.items() if name not in in_folds(cells)}
    book.cells = [part for cell in further(cells) for part in parts(cell, early, answers)]
    invite(book.cells)
    return book


def html_of(output: NotebookNode) -> str:
    return output.get("data", {}).get("text/html", "")


# In the words of a page


def told(html: str) -> str:
    """What a cell showed, said to a reader who runs nothing."""
    for said, instead in SAID.items():
        html = re.sub(said, instead, html)
    html = QUESTION.sub(lambda found: guess_first(*found.groups()), html)
    return CONTROLS.sub(lambda found: f"<p>{without_controls(found[1])}</p>", html)


def guess_first(question: str, scale: str) -> str:
    """A prediction's question as a line to read."""
    low, high = (end.partition(" ") for end in scale.split(" … "))
    shared = low[2] and low[2] == high[2]
    ends = f"{low[0] if shared else ''.join(low)} and {''.join(high)}"
    return f'<p class="guess"><strong>{question}</strong> Guess first: between {ends}.</p>'


def without_controls(said: str) -> str:
    """What a control that measures is set to, of `name from these, here this; …`."""
    found = [CONTROL.fullmatch(each) for each in said.split("; ")]
    here = [f"{each[1]}: {each[2]}" if len(found) > 1 else each[2] for each in found if each]
    return f"Shown: {'; '.join(here)}. In the notebook you choose."


def untried(html: str) -> bool:
    """Whether it is a verdict on an exercise, which nobody has tried on a page."""
    return bool((found := VERDICT.match(html)) and found[1] in EXERCISES)


def invite(cells: list[NotebookNode]) -> None:
    """Say below the heading of the exercises, in place, what a page can do for them."""
    here = "Hints and solutions" if any(HINT.search(cell.source) for cell in cells) else "Solutions"
    line = f"To try these, open the notebook. {here} open here."
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = TURN.sub(lambda found: f"{found[0]}\n\n{line}\n", cell.source)


# Tables

Cell = tuple[str, str, str]  # the kind, its attributes, what stands in it


def table(found: re.Match) -> str:
    """A table whose columns of words say so: they need room, and stand left. Rows with nothing
    measured go where the text below names them. On a small screen a table with two columns of
    many words has its rows as blocks: so its cells know what they are called.
    """
    rows = [CELL.findall(row) for row in ROW.findall(found[0])]
    headed = 'scope="col"' in found[0]
    body = rows[headed:]
    looks = looks_of(body)
    below = found.string[found.end() :].partition("<table")[0] if headed else ""

    def row(found: re.Match) -> str:
        cells = CELL.findall(found[1])
        if empty(cells) and cells[0][2] in below and not all(map(empty, body)):
            return ""
        return f"<tr>{''.join(cell(at, *each) for at, each in enumerate(cells))}</tr>"

    def cell(at: int, kind: str, attributes: str, words: str) -> str:
        if looks.get(at) and "class=" not in attributes:
            attributes += f' class="{looks[at]}"'
        if headed and kind == "td":
            attributes += f' data-head="{rows[0][at][2]}"'
        return f"<{kind}{attributes}>{words}</{kind}>"

    blocks = headed and list(looks.values()).count("words") > 1
    start = '<table class="blocks"' if blocks else "<table"
    return ROW.sub(row, found[0]).replace("<table", start, 1)


def looks_of(body: list[list[Cell]]) -> dict[int, str]:
    """{column: "words" where a cell has many, "left" where one stands left}."""
    looks: dict[int, str] = {}
    for row in body:
        for at, (kind, attributes, words) in enumerate(row):
            if kind == "td" and len(re.sub("<[^>]*>", "", words)) > 40:
                looks[at] = "words"
            elif kind == "td" and "left" in attributes:
                looks.setdefault(at, "left")
    return looks


def empty(cells: list[Cell]) -> bool:
    """Whether nothing was measured in a row."""
    return all(words in ("", "–") for _, _, words in cells[1:])


# What is folded, what goes


def opening(cells: list[NotebookNode]) -> set[str]:
    """The cells of code that stand before the first sentence after the title's."""
    prose = (at for at, cell in enumerate(cells) if at and cell.cell_type == "markdown")
    return {cell.id for cell in cells[1 : next(prose, 1)]}


def answering(cells: list[NotebookNode]) -> dict[str, str]:
    """{cell: the words to open what it showed} of those that answer a question, and of those that
    stand between them with no prose to tell of something else.
    """
    asked: set[str] = set()
    found: dict[str, str] = {}
    since: list[str] | None = None  # cells since a question; None after prose
    for cell in cells:
        if cell.cell_type == "markdown":
            since = None
        elif question := beginning(ASKED, cell):
            asked.add(question)
            since = []
        elif (question := beginning(ANSWER, cell)) in asked:
            far = f"What it was: <strong>{question}</strong>"
            found |= dict.fromkeys(since or [], "Then open: what came out")
            found[cell.id] = far if since is None else "Then open: what it was"
            since = None
        elif since is not None and cell.outputs:
            since.append(cell.id)
    return found


def beginning(pattern: re.Pattern, cell: NotebookNode) -> str:
    """What a pattern finds at the beginning of an output of a cell; "" where it does not."""
    found = filter(None, (pattern.match(html_of(output)) for output in cell.outputs))
    return next((each[1] for each in found), "")


def parts(cell: NotebookNode, early: set[str], answers: dict[str, str]) -> list[NotebookNode]:
    """What a cell becomes on a page: its code and what it showed, both, one of them, or folded."""
    if cell.cell_type == "markdown":
        return [cell]
    if not shows_code(cell):
        return [shown(cell, cell.id)]
    lines = f"{(count := len(cell.source.splitlines()))} line{'s' * (count > 1)}"
    if cell.id in early and cell.outputs:
        figure = shown(cell, cell.id)
        return [figure, *folded(f"Its code, {lines}", code(cell, f"{cell.id}-code"))]
    if cell.id in early:
        return list(folded(f"Set-up, {lines}", cell))
    if cell.id in answers:
        return [code(cell, cell.id), *folded(answers[cell.id], shown(cell, f"{cell.id}-shown"))]
    return [cell]


def further(cells: list[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells, and a fold around each part whose heading JupyterLab shows collapsed: up to the
    next heading. The fold's line is the heading."""
    opened = ""
    for cell in [*cells, new_markdown_cell("#", id="end")]:
        if opened and cell.cell_type == "markdown" and cell.source.startswith("#"):
            yield new_markdown_cell(raw("</details>"), id=f"{opened}-ends")
            opened = ""
        if cell.id == "end":
            return
        if COLLAPSED in cell.metadata:
            heading, _, cell.source = cell.source.partition("\n")
            start = f'<details class="fold"><summary>{escape(heading.lstrip("# "))}</summary>'
            yield new_markdown_cell(raw(start), id=f"{cell.id}-begins")
            opened = cell.id
        yield cell


def in_folds(cells: list[NotebookNode]) -> set[str]:
    """The cells that lie in such a fold: nothing in it is folded once more."""
    found, inside = set[str](), False
    for cell in cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            inside = COLLAPSED in cell.metadata
        found |= {cell.id} if inside else set()
    return found


def shows_code(cell: NotebookNode) -> bool:
    """Whether a page has the code of a cell, folded or not."""
    return not ASKS.match(cell.source)


def code(cell: NotebookNode, name: str) -> NotebookNode:
    return nbformat.from_dict({**cell, "id": name, "outputs": []})


def shown(cell: NotebookNode, name: str) -> NotebookNode:
    """What a cell showed, under a name of its own."""
    tags = [*cell.metadata.get("tags", []), "remove-input"]
    return nbformat.from_dict({**cell, "id": name, "metadata": {**cell.metadata, "tags": tags}})


def folded(summary: str, cell: NotebookNode) -> Iterator[NotebookNode]:
    """A cell that a reader opens, with a line that says what it is."""
    start = f'<details class="fold"><summary>{summary}</summary>'
    yield new_markdown_cell(raw(start), id=f"{cell.id}-opens")
    yield cell
    yield new_markdown_cell(raw("</details>"), id=f"{cell.id}-closes")


def raw(html: str) -> str:
    """Markup as it is, in Markdown."""
    return f"````{{raw}} html\n{html}\n````"


def name_cells(book: NotebookNode, linked: set[str]) -> None:
    """Give the cells that links lead to a name, in place. A link to none is an error."""
    if missing := linked - {cell.id for cell in book.cells}:
        raise ValueError(f"Links lead to cells that are not there: {', '.join(sorted(missing))}.")
    for cell in [cell for cell in book.cells if cell.id in linked]:
        if cell.cell_type == "markdown":
            cell.source = f"({cell.id})=\n{cell.source}"
        else:
            book.cells.insert(book.cells.index(cell), new_markdown_cell(f"({cell.id})=\n"))
