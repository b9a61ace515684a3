"""The glossary: its notebook, and a link to it from where each term first appears.

    python tools/glossary.py            write notebooks/glossary.ipynb, and put the links anew
    python tools/glossary.py --check    change nothing; say what is amiss

The terms stand in glossary.toml. A term first appears where prose uses its word for the first time,
read from notebook 00 on. Headings, claims, tables, code, sources and what is a link already are
passed over. A second run changes nothing.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

import save_notebooks
from gpulessons.hardware import files

SOURCE = Path(__file__).with_suffix(".toml")
NAME = "glossary"  # of the notebook; a lesson's begins with its number
INTRODUCTION = """\
# Glossary

The words of the field as this course uses them, and the course's own. Each entry leads to the cell
that shows it. Where the course first uses a word, a link leads here.
"""
LINK = re.compile(rf"\[([^\]]*)\]\({NAME}\.ipynb#[^)]*\)")
PASSED_OVER = re.compile(
    "|".join([
        r"^```[\s\S]*?^```", r"(`+)(?!`)[\s\S]+?(?<!`)\1(?!`)",  # code
        r"!?\[[^\]]*\]\([^)]*\)", r"</?[a-z][^>]*>",  # links, pictures, HTML
        r"^## Sources[\s\S]*", r"^#+ .*", r"^ *>.*(?:\n.+)*",  # to the end, a line, a paragraph
        r"^ *\|.*", r"^\*\*Next:\*\*.*(?:\n.+)*",
    ]), re.MULTILINE,
)  # fmt: skip


@dataclass(frozen=True)
class Term:
    name: str
    means: str
    shown: str  # the cell that shows it
    words: str = ""  # a regular expression of what prose calls it, if not by its name
    since: str = ""  # the cell from which on they mean it
    also: str = ""  # its other names, by commas; the website's search finds it by them

    @property
    def pattern(self) -> re.Pattern[str]:
        words = self.words or r"\s+".join(map(re.escape, self.name.split())) + "(?:s|es)?"
        return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)

    @property
    def address(self) -> str:
        """Of its entry: Jupyter names a heading by its words, joined by hyphens."""
        return f"{NAME}.ipynb#{self.name.replace(' ', '-')}"


def terms() -> list[Term]:
    """The terms of the glossary, as its source has them."""
    entries = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    return [Term(name, **entry) for name, entry in entries.items()]


def lessons() -> dict[str, NotebookNode]:
    """The notebooks of the course but the glossary, by name, in the order of reading."""
    return {path.stem: save_notebooks.read(path) for path in save_notebooks.lessons()}


def prose(source: str) -> str:
    """A cell's text, as long as before, with blanks for all that is passed over."""
    return PASSED_OVER.sub(lambda found: "\0" * len(found[0]), source)


def first_appearances(
    books: dict[str, NotebookNode], wanted: list[Term]
) -> Iterator[tuple[NotebookNode, re.Match[str], Term]]:
    """Each term with the cell and the place where it first appears; longer words before shorter."""
    pending = list(wanted)
    closed = {term.since for term in wanted} - {""}
    for cell in (cell for book in books.values() for cell in book.cells):
        closed.discard(cell.id)
        text = prose(cell.source) if cell.cell_type == "markdown" else ""
        while True:
            hits = [
                (found.start(), -found.end(), term.name, found, term)
                for term in pending
                if term.since not in closed and (found := term.pattern.search(text))
            ]
            if not hits:
                break
            *_, found, term = min(hits, key=lambda hit: hit[:3])
            pending.remove(term)
            yield cell, found, term
            blank = "\0" * len(found[0])
            text = text[: found.start()] + blank + text[found.end() :]


def linked(books: dict[str, NotebookNode], wanted: list[Term]) -> dict[str, NotebookNode]:
    """A copy of the lessons with a link to the glossary for each of these terms, and no other."""
    books = {name: nbformat.from_dict(book) for name, book in books.items()}
    for cell in (cell for book in books.values() for cell in book.cells):
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1", cell.source)
    places = list(first_appearances(books, wanted))
    for cell, found, term in sorted(places, key=lambda place: -place[1].start()):
        source, (start, end) = cell.source, found.span()
        cell.source = f"{source[:start]}[{source[start:end]}]({term.address}){source[end:]}"
    return books


def page(books: dict[str, NotebookNode], wanted: list[Term]) -> NotebookNode:
    """The glossary as a notebook: an introduction, and a cell for each letter."""
    letters = {
        letter: list(entries)
        for letter, entries in groupby(wanted, key=lambda term: term.name[0].upper())
    }
    index = " · ".join(f"[{letter}](#{letter})" for letter in letters)
    cells = [new_markdown_cell(f"{INTRODUCTION}\n{index}", id=NAME)]
    for letter, entries in letters.items():
        text = "\n\n".join([f"## {letter}", *(entry(term, books) for term in entries)])
        cells.append(new_markdown_cell(text, id=f"{NAME}-{letter.lower()}"))
    return save_notebooks.canonical(new_notebook(cells=cells), NAME)


def entry(term: Term, books: dict[str, NotebookNode]) -> str:
    """A term's heading, what it means, its other names, and the way to the cell that shows it."""
    name, title, section = place(term, books)
    where = f"{title}: {section}" if section else title
    also = f" *Also: {term.also}.*" if term.also else ""
    return f"### {term.name}\n\n{term.means}{also} → [{where}]({name}.ipynb#cell-id={term.shown})"


def place(term: Term, books: dict[str, NotebookNode]) -> tuple[str, str, str]:
    """The notebook that shows a term, its title, and the heading above what is said of it."""
    for name, book in books.items():
        text = ""
        for cell in book.cells:
            if cell.id == term.shown and (said := term.pattern.search(cell.source)):
                text += cell.source[: said.end()] + cell.source[said.end() :].partition("\n")[0]
                headings = re.findall(r"^#+ (.*?)(?: \*\(optional\)\*)?$", text, re.MULTILINE)
                title = headings[0].partition(":")[0]
                return name, title, headings[-1] if headings[1:] else ""
            text += cell.source + "\n" if cell.cell_type == "markdown" else ""
    raise ValueError(f"No cell {term.shown} shows {term.name}.")


def faults(books: dict[str, NotebookNode], wanted: list[Term]) -> list[str]:
    """What is wrong with the terms, for lessons without their links; a line for each."""
    cells = {cell.id: cell.source for book in books.values() for cell in book.cells}
    appear = {term.name for _, _, term in first_appearances(books, wanted)}
    found = []
    for term in wanted:
        unknown = {term.shown, term.since} - {"", *cells}
        found += [f"{term.name}: no notebook has the cell {cell}" for cell in unknown]
        if term.shown in cells and not term.pattern.search(cells[term.shown]):
            found.append(f"{term.name}: the cell {term.shown} does not say it")
        if term.name not in appear:
            found.append(f"{term.name}: it appears nowhere")
    return found


def outdated(books: dict[str, NotebookNode], wanted: list[Term]) -> dict[Path, str]:
    """The files of the lessons and the glossary that are not as they should be, and their text."""
    should = linked(books, wanted) | {NAME: page(linked(books, []), wanted)}
    texts = {
        save_notebooks.NOTEBOOKS / f"{name}.ipynb": save_notebooks.text(book)
        for name, book in should.items()
    }
    return {
        path: text
        for path, text in texts.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main() -> None:
    """Write the glossary and its links, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; name what is amiss")
    check = parser.parse_args().check
    books, wanted = lessons(), terms()
    if said := faults(linked(books, []), wanted):
        sys.exit("\n".join(said))
    found = outdated(books, wanted)
    for path, text in found.items():
        if check:
            print(f"{path.name} is not today's: python tools/glossary.py")
        else:
            files.write(path, text)
            print(f"wrote {path.name}")
    sys.exit(bool(check and found))


if __name__ == "__main__":
    main()
