"""What a file of the package becomes as a page of the website: its lines, each with a name.

tools/website.py gathers the pages and calls `page` for every file of code, `reading_order` for the
ops' own room. The lines are no text of Sphinx': the search finds a file by its functions alone.
"""

import ast
import json
import posixpath
import re
from functools import cache
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

ROOT = Path(__file__).parents[1]
OPS = "gpulessons/ops/__init__.py"
LINES = HtmlFormatter(linespans="line", linenos="inline", cssclass="highlight whole-file")


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def docstring(file: str) -> str:
    return ast.get_docstring(ast.parse(text_of(file))) or file


def ops() -> list[str]:
    """The files of the ops, in the order of reading that their room's docstring has."""
    words = re.findall(r"\w+", docstring(OPS))
    files = [f"{posixpath.dirname(OPS)}/{word}.py" for word in dict.fromkeys(words)]
    return [file for file in files if (ROOT / file).exists()]


def order() -> tuple[dict[str, str], dict[str, str]]:
    """{op: the number of its notebook} and {op: its idea}, by the room's docstring."""
    numbers, ideas, number = {}, {}, ""
    rows = re.findall(r"^ {4}(\d\d| {2})  (\w+) {2,}(.*)$", docstring(OPS), re.MULTILINE)
    for begins, name, idea in rows:
        number = begins.strip() or number
        numbers[name], ideas[name] = number, idea
    return numbers, ideas


def page(file: str, lessons: dict[str, str]) -> str:
    """A file of the package; lessons: {title: link} of the pages to read it with."""
    name = Path(file).name
    title = name if file in ops() else "/".join(file.split("/")[-2:])
    about = f"description: {json.dumps(docstring(file).splitlines()[0])}\n"
    orphan = "" if file in ops() else "orphan: true\n"
    read = ", ".join(f"[{title}]({link})" for title, link in lessons.items())
    top = f"---\n{orphan}{about}---\n\n# {plain(title)}\n\nRead it with {read}.\n\n"
    return f"{top}{contents(file)}{raw(lines(file))}\n"


def contents(file: str) -> str:
    """What a file defines, each a link to its line."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = [node for node in ast.parse(text_of(file)).body if isinstance(node, kinds)]
    links = [f'<a href="#line-{node.lineno}"><code>{node.name}</code></a>' for node in defined]
    return f"{raw('<p class=defined>' + ' · '.join(links) + '</p>')}\n\n" if links else ""


def lines(file: str) -> str:
    """The file's lines in HTML: line 88 is the place #line-88."""
    return highlight(text_of(file), PythonLexer(), LINES)


def reading_order(numbered: dict[str, str]) -> str:
    """The page of the ops: the notebook that each belongs to, and its idea.

    numbered: {the number of a notebook: the link to it}.
    """
    first, how, *_ = docstring(OPS).split("\n\n")
    numbers, ideas = order()
    rows, before = ["| notebook | file | its idea |", "| --- | --- | --- |"], ""
    for op in ops():
        name = Path(op).stem
        number = numbers.get(name, "")
        book = f"[{number}]({numbered[number]})" if number and number != before else ""
        before = number
        idea = ideas.get(name, docstring(op).splitlines()[0])
        rows.append(f"| {book} | [{name}.py]({name}.md) | {plain(idea)} |")
    return f"# {plain(first.rstrip('.'))}\n\n{plain(how)}\n\n" + "\n".join(rows) + "\n"


def plain(text: str) -> str:
    """A text whose signs mean nothing to Markdown."""
    return re.sub(r"([\\`*_\[\]<>{}#$])", r"\\\1", text)


def raw(html: str) -> str:
    """HTML as it is, in Markdown."""
    return f"````{{raw}} html\n{html}\n````"
