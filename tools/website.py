"""The course as a website: every page of the checkout, with what its cells showed when saved.

    python tools/website.py [folder]   build it in the folder's site/, by default build/site
    python tools/website.py --links    render nothing; list the addresses that its pages link to

Pages are gathered in build/pages in the form that Sphinx wants: links to cells and to folders
become links that it knows, the first cell and Mermaid go. A warning is an error, so no link leads
nowhere. No page asks another host for anything, and all but the search works without scripts.
"""

import argparse
import ast
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from html import escape
from itertools import chain
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

import flowchart
import published
import website_lessons

ROOT = Path(__file__).parents[1]
FRONT = "docs/index.md"
OPS = "gpulessons/ops/__init__.py"
# Code is passed over: what stands in it is no link.
CODE = r"^(?P<fence>```+)[\s\S]*?^(?P=fence)|(?P<tick>`+)(?!`)[\s\S]+?(?<!`)(?P=tick)(?!`)"
LINK = re.compile(rf"{CODE}|(?P<link>!?\[[^\]]*\]\()(?P<to>[^)\s]+)\)", re.MULTILINE)
MERMAID = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLACED = re.compile(r"^<!-- (output|part): (.*) -->$", re.MULTILINE)  # on the front page
SHOWN = re.compile(r"(?<=<p><small>)[^<]*(?=</small></p>)")  # where a piece of source comes from
FILE = re.compile(r"(\w+/\w+\.py), line \d+")
GITHUB = re.compile(r"git\+https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def sections() -> dict[str, list[str]]:
    """{caption: the files of its pages}: the site's table of contents."""
    lessons = listed("notebooks/[0-9]*.ipynb")
    docs = [name for name in listed("docs/*.md") if name != FRONT]
    return {
        "The course": lessons,
        "To look up": ["notebooks/glossary.ipynb", *docs],
        "In a class": sorted(listed("teaching/**/*.md"), key=lambda name: "README" not in name),
        "Its code": [OPS],
        "The project": ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md"],
    }


@cache
def listed(pattern: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


def ops() -> list[str]:
    """The files of the ops, in the order of reading that their room's docstring has."""
    words = re.findall(r"\w+", docstring(OPS))
    files = [f"{posixpath.dirname(OPS)}/{word}.py" for word in dict.fromkeys(words)]
    return [file for file in files if (ROOT / file).exists()]


def docstring(file: str) -> str:
    return ast.get_docstring(ast.parse(text_of(file))) or file


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


@cache
def notebook_of(file: str) -> NotebookNode:
    return nbformat.v4.reads(text_of(file))


def page_of(file: str) -> str:
    """Where the page of a file of the checkout is gathered."""
    if file == FRONT:
        return "index.md"
    return re.sub(r"\.py$", ".md", file)


def slug(heading: str) -> str:
    """The name of a heading in an address, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace(" ", "-"))


# Links


class Gathering:
    """What pages link to, found while they are gathered: pages to make, cells to name."""

    def __init__(self, folder: Path) -> None:
        self.pages, self.files = folder / "pages", folder / "files"  # for Sphinx; as they are
        files = [FRONT, *chain(*sections().values()), *ops()]
        self.waiting, self.known = list(files), set(files)
        self.cells: dict[str, set[str]] = {}  # {notebook: the cells that are linked to}
        self.elsewhere: dict[str, set[str]] = {}  # {address: the files that link to it}

    def relinked(self, text: str, file: str) -> str:
        """A file's text with its links as the site has them."""

        def changed(found: re.Match) -> str:
            to = found["to"] and self.link(found["to"], file)
            return f"{found['link']}{to})" if to else found[0]

        return LINK.sub(changed, text)

    def link(self, to: str, file: str) -> str:
        """One link of a file as the site has it; raises ValueError where it leads nowhere."""
        if re.match(r"\w+:", to):
            self.elsewhere.setdefault(to, set()).add(file)
            return to
        path, _, place = to.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
        if (ROOT / target).is_dir():
            target = next(
                (
                    page
                    for page in (f"{target}/README.md", f"{target}/__init__.py")
                    if (ROOT / page).exists()
                ),
                target,
            )
        if not (ROOT / target).is_file():
            raise ValueError(f"{file} links to {to}, which is no file of the checkout.")
        if place.startswith("cell-id="):
            cell = place.removeprefix("cell-id=")
            self.cells.setdefault(target, set()).add(cell)
            return f"#{cell}"
        if target.endswith((".md", ".ipynb", ".py")):
            if target not in self.known:
                self.known.add(target)
                self.waiting.append(target)
        else:  # a picture, or a file to take along
            copied(target, self.pages)
        here = posixpath.dirname(page_of(file)) or "."
        address = posixpath.relpath(page_of(target), here) if path else ""
        return address + (f"#{slug(place.replace('-', ' '))}" if place else "")

    def sourced(self, html: str, file: str) -> str:
        """What a cell showed, with links from each piece of source to its whole file."""

        def whole(place: re.Match) -> str:
            found = listed(f"gpulessons/**/{place[1]}")
            if len(found) != 1:
                raise ValueError(f"{file} shows source of {place[1]}: files of that name: {found}.")
            to = self.link(posixpath.relpath(found[0], posixpath.dirname(file)), file)
            return f'<a href="{to.replace(".md", ".html")}">{place[0]}</a>'

        return SHOWN.sub(lambda line: FILE.sub(whole, line[0]), html)


def copied(file: str, folder: Path) -> None:
    to = folder / file
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / file, to)


# Pages


def gather(folder: Path) -> Gathering:
    """Write every page and file of the site into a folder, ready for Sphinx."""
    gathering = Gathering(folder)
    for part in (gathering.pages, gathering.files):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
    texts: dict[str, str | NotebookNode] = {}
    while gathering.waiting:
        file = gathering.waiting.pop(0)
        make: Callable = {".ipynb": lesson, ".py": code}.get(Path(file).suffix, prose)
        texts[file] = make(file, gathering)
    for file, text in texts.items():
        if not isinstance(text, str):
            website_lessons.name_cells(text, gathering.cells.pop(file, set()))
            text = nbformat.v4.writes(text)
        to = gathering.pages / page_of(file)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")
    for file, cells in gathering.cells.items():
        raise ValueError(f"Links lead to {file}, cells {sorted(cells)}, and it is no notebook.")
    return gathering


def prose(file: str, gathering: Gathering) -> str:
    """A page of Markdown."""
    text = text_of(file)
    if file == FRONT:
        text = PLACED.sub(lambda found: placed(found[1], found[2]), text)
    text = gathering.relinked(text, file)
    text = MERMAID.sub(lambda found: raw(flowchart.picture(found[1])), text)
    return text + (contents() if file == FRONT else "")


def placed(kind: str, what: str) -> str:
    """What a comment on the front page stands for: a cell's output, or a part of another page."""
    if kind == "part":
        file, heading = what.split(", ")
        part = re.search(rf"^## {heading}\n(.*?)(?=^## )", text_of(file), re.MULTILINE | re.DOTALL)
        if not part:
            raise ValueError(f"{FRONT} wants the part {heading!r} of {file}, which has none.")
        return re.sub(r"\]\((?!\w+:)", "](../", part[1].strip())
    for file in listed("notebooks/*.ipynb"):
        for cell in notebook_of(file).cells:
            if cell.id == what:
                shown = [output.data for output in cell.outputs if "data" in output]
                return raw(next(data["text/html"] for data in shown if "text/html" in data))
    raise ValueError(f"{FRONT} wants what the cell {what} showed, and no notebook has it.")


def raw(html: str) -> str:
    return f"````{{raw}} html\n{html}\n````"


def contents() -> str:
    """The table of contents, of which Sphinx makes the sidebar and next and previous."""
    return "".join(tree(files, "", caption) for caption, files in sections().items() if files)


def tree(files: list[str], start: str, caption: str = "") -> str:
    """A branch of the table of contents; start: the folder of the page that it stands on."""
    lines = []
    for file in files:
        name = page_of(file).rpartition(".")[0]
        lines.append(f"{short_title(file)} <{posixpath.relpath(name, start or '.')}>")
    told = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{told}\n" + "\n".join(lines) + "\n```\n"


def short_title(file: str) -> str:
    """What the sidebar calls a page."""
    if file == OPS:
        return "The ops"
    if file.endswith(".py"):
        return Path(file).name
    text = notebook_of(file).cells[0].source if file.endswith(".ipynb") else text_of(file)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    if not title:
        raise ValueError(f"{file} has no title: begin it with a line '# …'.")
    return title[1].partition(":")[0]


def code(file: str, gathering: Gathering) -> str:
    """A file of the package as a page, below what it says first."""
    if file == OPS:
        return reading_order()
    copied(file, gathering.pages)
    orphan = "" if file in ops() else "---\norphan: true\n---\n\n"
    name = Path(file).name
    title = name if file in ops() else "/".join(file.split("/")[-2:])
    first = docstring(file).splitlines()[0]
    shown = f"```{{literalinclude}} {name}\n:language: python\n:linenos:\n```\n"
    return f"{orphan}# {plain(title)}\n\n{plain(first)}\n\n{shown}"


def reading_order() -> str:
    """The page of the ops: which notebook each belongs to, and its idea."""
    first, how, *_ = docstring(OPS).split("\n\n")
    numbers = {Path(name).name[:2]: name for name in listed("notebooks/[0-9]*.ipynb")}
    lines = re.findall(r"^ {4}(\d\d| {2})  (\w+) {2,}(.*)$", docstring(OPS), re.MULTILINE)
    ideas = {name: idea for _, name, idea in lines}
    starts = {name: number for number, name, _ in lines if number.strip()}
    rows = ["| notebook | file | its idea |", "| --- | --- | --- |"]
    for op in ops():
        name = Path(op).stem
        number = starts.get(name, "")
        book = f"[{number}](../../{numbers[number]})" if number else ""
        idea = ideas.get(name, docstring(op).splitlines()[0])
        rows.append(f"| {book} | [{name}.py]({name}.md) | {plain(idea)} |")
    text = f"# {plain(first.rstrip('.'))}\n\n{plain(how)}\n\n" + "\n".join(rows) + "\n"
    return text + tree(ops(), posixpath.dirname(OPS))


def plain(text: str) -> str:
    """A text whose signs mean nothing to Markdown."""
    return re.sub(r"([\\`*_\[\]<>{}#$])", r"\\\1", text)


def lesson(file: str, gathering: Gathering) -> NotebookNode:
    """A notebook as a page, with the ways to open it; the notebook itself comes along."""
    book = website_lessons.page(
        notebook_of(file),
        lambda text: gathering.relinked(text, file),
        lambda html: gathering.sourced(html, file),
    )
    copied(file, gathering.files)
    if any(cell.cell_type == "code" for cell in book.cells):
        book.cells.insert(1, new_markdown_cell(raw(ways_in(file)), id="ways-in"))
    return book


def ways_in(file: str) -> str:
    """The line that says how to open a notebook: as a file, and where hosts are known, there."""
    name = Path(file).name
    ways = [f'<a href="{escape(name)}" download>download it</a>']
    if found := GITHUB.fullmatch(published.address()):
        there = f"github/{found[1]}/blob/main/{file}"
        binder = f"gh/{found[1]}/main?urlpath=lab/tree/{file}"
        ways += [
            f'<a href="https://colab.research.google.com/{there}">open it in Colab</a>',
            f'<a href="https://mybinder.org/v2/{binder}">in Binder</a>',
        ]
    return (
        f'<p class="ways-in">This page is a notebook. To predict and measure yourself, '
        f"{', '.join(ways)}.</p>"
    )


# Building


def build(gathering: Gathering, site: Path) -> int:
    """Render the pages that were gathered, all anew; the status of Sphinx."""
    trees = gathering.pages.with_name("trees")
    for folder in (site, trees):
        shutil.rmtree(folder, ignore_errors=True)
    words = ["-b", "html", "-W", "--keep-going", "-q", "-c", ROOT / "docs", "-d", trees,
             "-D", f"html_extra_path={gathering.files}", gathering.pages, site]  # fmt: skip
    return subprocess.run([sys.executable, "-m", "sphinx", *map(str, words)]).returncode


def listing(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []


def main() -> None:
    """Gather and build, or list what pages link to elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--links", action="store_true", help="list the addresses elsewhere")
    args = parser.parse_args()
    others = set(listing(args.folder)) - {"pages", "files", "trees", "site"}
    if others and args.folder != ROOT / "build":
        sys.exit(f"{args.folder} has other things in it. Name an empty or a new folder.")
    try:
        gathering = gather(args.folder.resolve())
    except ValueError as trouble:
        sys.exit(str(trouble))
    if args.links:
        for address, files in sorted(gathering.elsewhere.items()):
            print(f"{address}  ({', '.join(sorted(files))})")
        return
    print("Rendering the pages takes half a minute or so.", flush=True)
    site = args.folder / "site"
    if status := build(gathering, site):
        sys.exit(status)
    print(f"The site is in {site}: open {site / 'index.html'} in a browser.")


if __name__ == "__main__":
    main()
