"""What a notebook becomes as a page of the website: functions from cells to cells.

tools/website.py gathers the pages and calls `page` for every notebook.
"""

import re
from collections.abc import Callable

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

import first_cell

Text = Callable[[str], str]
LESSON_LINK = re.compile(r'href="(\d\d_\w+|glossary)\.ipynb')  # what a cell showed, to a page


def page(book: NotebookNode, relinked: Text, sourced: Text) -> NotebookNode:
    """A notebook as a page: without the cell that installs it, links as the site has them."""
    book = nbformat.from_dict(book)
    book.cells = [cell for cell in book.cells if cell.id != first_cell.ID]
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = relinked(cell.source)
        for output in cell.get("outputs", []):
            if html := output.get("data", {}).get("text/html"):
                html = LESSON_LINK.sub(r'href="\1.html', html)
                output.data["text/html"] = wordy(sourced(html))
    return book


def wordy(html: str) -> str:
    """The same with its tables' cells of many words marked, so that they get the room they need."""

    def marked(found: re.Match) -> str:
        long = len(re.sub("<[^>]*>", "", found[2])) > 40
        return f'<td{found[1]} class="words">{found[2]}</td>' if long else found[0]

    return re.sub(r"<td([^>]*)>(.*?)</td>", marked, html, flags=re.DOTALL)


def name_cells(book: NotebookNode, linked: set[str]) -> None:
    """Give the cells that links lead to a name, in place. A link to none is an error."""
    if missing := linked - {cell.id for cell in book.cells}:
        raise ValueError(f"Links lead to cells that are not there: {', '.join(sorted(missing))}.")
    for cell in [cell for cell in book.cells if cell.id in linked]:
        if cell.cell_type == "markdown":
            cell.source = f"({cell.id})=\n{cell.source}"
        else:
            book.cells.insert(book.cells.index(cell), new_markdown_cell(f"({cell.id})=\n"))
