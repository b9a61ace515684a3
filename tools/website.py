"""The course as a website: every page of the checkout, with what its cells showed when saved.

    python tools/website.py [folder]   build it in the folder's site/, by default build/site
    python tools/website.py --links    render nothing; list the addresses that its pages link to

Pages are gathered in build/pages in the form that Sphinx wants: links to cells and to folders
become links that it knows, the first cell and Mermaid go. A warning is an error, so no link leads
nowhere. No page asks another host for anything, and without scripts all can be read. The course
comes along: its wheel, all notebooks in a zip, and build/lite where `make lite` has built it.
"""

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

import flowchart
import website_code
import website_lessons
import website_ways
from website_code import OPS, ROOT, ops, raw, text_of

FRONT, SET_UP, BINDER = "docs/index.md", "docs/set-up.md", "docs/binder.md"
GLOSSARY, NAMES = "notebooks/glossary.ipynb", {OPS: "The ops", "README.md": "README"}
# Code is passed over: what stands in it is no link.
CODE = r"^(?P<fence>```+)[\s\S]*?^(?P=fence)|(?P<tick>`+)(?!`)[\s\S]+?(?<!`)(?P=tick)(?!`)"
LINK = re.compile(rf"{CODE}|(?P<link>!?\[[^\]]*\]\()(?P<to>[^)\s]+)\)", re.MULTILINE)
MERMAID = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(
    r'<picture>\s*<source .*srcset="(.*)">\s*<img src="(.*)" (alt=".*")>\s*</picture>'
)
PLACED = re.compile(r"^<!-- (output|said|part|ways): (.*) -->$", re.MULTILINE)  # see `placed`
SHOWN = re.compile(r"(?<=<p><small>)[^<]*(?=</small></p>)")  # where a piece of source comes from
FILE = re.compile(r"(\w+/\w+\.py), line (\d+)")


def sections() -> dict[str, list[str]]:
    """{caption: the files of its pages}: the site's table of contents."""
    lessons = listed("notebooks/[0-9]*.ipynb")
    docs = [name for name in listed("docs/*.md") if name not in (FRONT, SET_UP, BINDER)]
    return {
        "The course": [SET_UP, *lessons],
        "To look up": [GLOSSARY, *docs, "warplens/README.md"],
        "In a class": ["teaching/README.md", *of_class()],
        "Its code": [OPS],
        "The project": ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", BINDER],
    }


def of_class() -> list[str]:
    """The pages for teachers, as the first of them lists them."""
    links = re.findall(r"\]\((\w+\.md)\)", text_of("teaching/README.md"))
    return [f"teaching/{name}" for name in dict.fromkeys(links)]


@cache
def listed(pattern: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


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
        self.lite = (folder / "lite" / "lab" / "index.html").exists()
        files = [FRONT, *chain(*sections().values()), *ops()]
        self.waiting, self.known = list(files), set(files)
        self.cells: dict[str, set[str]] = {}  # {notebook: the cells that are linked to}
        self.linked: dict[str, set[str]] = {}  # {page: the files that link to it}
        self.elsewhere: dict[str, set[str]] = {}  # {address: the same}

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
            self.linked.setdefault(target, set()).add(file)
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
            return f'<a href="{to.replace(".md", ".html")}#line-{place[2]}">{place[0]}</a>'

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
    if posixpath.dirname(file) == "docs":
        text = PLACED.sub(lambda found: placed(found[1], found[2], gathering), text)
    text = gathering.relinked(text, file)
    text = PICTURE.sub(lambda found: themed(found[2], found[1], found[3], gathering), text)
    text = MERMAID.sub(lambda found: raw(flowchart.picture(found[1])), text)
    return text + (contents() if file == FRONT else "")


def themed(light: str, dark: str, alt: str, gathering: Gathering) -> str:
    """A picture of a page at the top of the checkout, so that it follows the theme's switch."""
    for file in (light, dark):
        copied(file, gathering.files)
    return raw(
        f'<img class="only-light" src="{light}" {alt}>\n<img class="only-dark" src="{dark}" {alt}>'
    )


def placed(kind: str, what: str, gathering: Gathering) -> str:
    """What a comment on a page of docs/ stands for.

    A cell's output, or what it said with where; a part of another page; what the site offers.
    """
    if kind == "ways":
        return raw(website_ways.placed(what, gathering.lite))
    if kind == "part":
        file, heading = what.split(", ")
        part = re.search(rf"^## {heading}\n.*?(?=^## )", text_of(file), re.MULTILINE | re.DOTALL)
        if not part:
            raise ValueError(f"A page wants the part {heading!r} of {file}, which has none.")
        return re.sub(r"\]\((?!\w+:)", "](../", part[0].strip())
    for file in listed("notebooks/*.ipynb"):
        for cell in notebook_of(file).cells:
            if cell.id == what and kind == "said":
                words = " ".join("".join(output.get("text", "") for output in cell.outputs).split())
                return f"> {words} ([{short_title(file)}](../{file}#cell-id={what}))"
            if cell.id == what:
                shown = [output.data for output in cell.outputs if "data" in output]
                return raw(next(data["text/html"] for data in shown if "text/html" in data))
    raise ValueError(f"A page wants what the cell {what} showed, and no notebook has it.")


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
    if file in NAMES:
        return NAMES[file]
    if file.endswith(".py"):
        return Path(file).name
    text = notebook_of(file).cells[0].source if file.endswith(".ipynb") else text_of(file)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    if not title:
        raise ValueError(f"{file} has no title: begin it with a line '# …'.")
    return title[1].partition(":")[0]


def code(file: str, gathering: Gathering) -> str:
    """A file of the package as a page, with the way back to the pages that read it."""
    start = posixpath.dirname(file)
    lessons = {Path(name).name[:2]: name for name in listed("notebooks/[0-9]*.ipynb")}
    numbered = {number: posixpath.relpath(name, start) for number, name in lessons.items()}
    if file == OPS:
        return website_code.reading_order(numbered) + tree(ops(), start)
    number = website_code.order()[0].get(Path(file).stem, "")
    read = [lessons[number]] if number else sorted(gathering.linked.get(file, [OPS]))
    return website_code.page(
        file, {short_title(name): posixpath.relpath(page_of(name), start) for name in read}
    )


def lesson(file: str, gathering: Gathering) -> NotebookNode:
    """A notebook as a page, with the ways to open it; the notebook itself comes along."""
    book = website_lessons.page(
        notebook_of(file),
        lambda text: gathering.relinked(text, file),
        lambda html: gathering.sourced(html, file),
    )
    copied(file, gathering.files)
    if file == GLOSSARY:
        for cell in book.cells:
            cell.source = also_called(cell.source)
    if any(cell.cell_type == "code" for cell in book.cells):
        set_up = posixpath.relpath(SET_UP, posixpath.dirname(file)).replace(".md", ".html")
        ways = website_ways.of_notebook(file, set_up, gathering.lite)
        book.cells.insert(1, new_markdown_cell(raw(ways), id="ways-in"))
    return book


def also_called(text: str) -> str:
    """Entries of the glossary, with the other words by which the search shall find them."""
    for term, entry in tomllib.loads(text_of("tools/glossary.toml")).items():
        if also := entry.get("also"):
            words = ", ".join(f"! {word.strip()}" for word in also.split(","))  # !: found first
            text = text.replace(f"### {term}\n", f"### {term}\n\n```{{index}} {words}\n```\n")
    return text


# Building


def build(gathering: Gathering, site: Path) -> int:
    """Render the pages that were gathered, all anew; the status of Sphinx."""
    website_ways.take_along(gathering.files)
    trees = gathering.pages.with_name("trees")
    for folder in (site, trees):
        shutil.rmtree(folder, ignore_errors=True)
    words = ["-b", "html", "-W", "--keep-going", "-q", "-c", ROOT / "docs", "-d", trees,
             "-D", f"html_extra_path={gathering.files}", gathering.pages, site]  # fmt: skip
    status = subprocess.run([sys.executable, "-m", "sphinx", *map(str, words)]).returncode
    if gathering.lite and not status:
        shutil.copytree(site.with_name("lite"), site / "lite")
    return status


def listing(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []


def main() -> None:
    """Gather and build, or list what pages link to elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--links", action="store_true", help="list the addresses elsewhere")
    args = parser.parse_args()
    others = set(listing(args.folder)) - {"pages", "files", "trees", "site", "lite"}
    if others and args.folder != ROOT / "build":
        sys.exit(f"{args.folder} has other things in it. Name an empty or a new folder.")
    try:
        gathering = gather(args.folder.resolve())
        if args.links:
            for address, files in sorted(gathering.elsewhere.items()):
                print(f"{address}  ({', '.join(sorted(files))})")
            return
        print("Rendering the pages takes half a minute or so.", flush=True)
        site = args.folder / "site"
        if status := build(gathering, site):
            sys.exit(status)
    except ValueError as trouble:
        sys.exit(str(trouble))
    print(f"The site is in {site}: open {site / 'index.html'} in a browser.")


if __name__ == "__main__":
    main()
