"""`gpulessons collect`: what a class handed in, as one table and one comparison.

A learner's folder holds notebooks and recordings. A notebook says itself which exercises are right:
`check` has left its verdict beside them. Nothing that a learner wrote is run, unless told to.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gpulessons
from gpulessons import exercises
from gpulessons.hardware import budget, files

from . import copies
from .pages import RULED, named_as, page
from .terminal import GET_LAB, Misspelled, Parser, say

if TYPE_CHECKING:
    from gpulessons.measure.recordings import Recording

VERDICT = re.compile(r"(?P<mark>[✓✗]) (?P<name>\w+): (?:right|not yet)\. ?(?P<words>.*)")
UNTOUCHED = ("The stub is as it was", "The answer is still", "There is nothing in it yet")
IMPORT = re.compile(r"^from gpulessons\.exercises import (\w+)", re.MULTILINE)
RIGHT, NOT_YET, NOT_TRIED = "right", "not yet", "not tried"
PATIENCE = 600  # seconds for one cell


@dataclass(frozen=True)
class Result:
    """One exercise of one learner."""

    learner: str
    notebook: str  # the number that the course gives it, such as "02"
    exercise: str
    state: str  # RIGHT, NOT_YET or NOT_TRIED
    words: str = ""  # what the check said of an attempt that is not yet right


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.add_argument("folder", metavar="DIR", help="a folder for each learner in it")
    parser.add_argument(
        "--again", action="store_true",
        help="run every notebook anew, instead of reading what was saved: it runs learners' code",
    )  # fmt: skip
    parser.add_argument("--csv", metavar="FILE", help="keep a row for each learner and exercise")
    parser.add_argument("--html", metavar="FILE", help="keep all of it as a page, with pictures")


def collect(options: Namespace) -> int:
    """gather a class's notebooks and recordings: who solved what, and all machines side by side"""
    folder = Path(options.folder)
    if not folder.is_dir():
        raise Misspelled(f"There is no folder {folder}. It should hold a folder for each learner.")
    kept = places(options)
    books, recorded = list(handed_in(folder, ".ipynb")), list(handed_in(folder, ".json"))
    results = results_of(folder, books, options.again)
    recordings = list(readable(folder, recorded))
    if not results and not recordings:
        raise ValueError(
            f"{folder} holds no notebook of the course and no recording. Each learner's files "
            "belong into a folder with the learner's name."
        )
    both = compared(recordings)
    print(*tables_of(results, aligned), *filter(None, [both]), sep="\n\n")
    for path in kept:
        with copies.writing(path.parent):
            html = path.suffix.lower() != ".csv"
            files.write(path, as_page(results, both) if html else as_csv(results))
        say(f"Kept in {path}")
    return 0


def places(options: Namespace) -> list[Path]:
    """The files to keep, which can be written: what takes long comes after."""
    if options.csv:
        named_as("--csv", options.csv, ".csv")
    if options.html:
        named_as("--html", options.html, ".html", ".htm")
    paths = [Path(name).absolute() for name in (options.csv, options.html) if name]
    for path in paths:
        copies.can_write(path.parent)
    return paths


def handed_in(folder: Path, ending: str) -> Iterator[Path]:
    """The files that end so, at any depth, but none that a program hid."""
    for path in sorted(folder.rglob(f"*{ending}")):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def learner_of(folder: Path, path: Path) -> str:
    """Who handed it in: the folder that it lies in, or the words before the notebook's own name."""
    inside = path.relative_to(folder).parts
    if len(inside) > 1:
        return inside[0]
    return re.sub(r"(^|[\W_]+)\d\d_.*", "", path.stem) or folder.resolve().name


# -- Notebooks.


def results_of(folder: Path, books: Iterable[Path], again: bool) -> list[Result]:
    """A result for each learner and each exercise of the notebooks handed in, in their order."""
    course = home_of()
    names = [path.name for path in copies.carried()]
    found: dict[tuple[str, str], Result] = {}
    for path in books:
        where = path.relative_to(folder)
        try:
            cells = cells_in(path)
            if not (handed := {course[name] for name in named_in(cells) if name in course}):
                if path.name not in names:
                    say(f"{where} was left out: no exercise of the course is in it.")
                continue
            cells = run_again(path, where) if again else cells
        except ValueError as trouble:
            say(f"{where} was left out: {trouble}")
            continue
        who, said = learner_of(folder, path), states_in(cells)
        for name, number in course.items():
            if number in handed:
                one = Result(who, number, name, *said.get(name, (NOT_TRIED, "")))
                keep_better(found, one)
    return sorted(found.values(), key=lambda one: (one.learner.lower(), one.notebook))


def home_of() -> dict[str, str]:
    """{exercise: the number of its notebook}, in the order of the course."""
    return {
        name: path.name[:2]
        for path in copies.carried() for name in named_in(cells_in(path))
        if name in exercises.NAMES
    }  # fmt: skip


def named_in(cells: Iterable[dict[str, Any]]) -> list[str]:
    """The exercises that a notebook's code imports, each once."""
    texts = ("".join(cell.get("source", "")) for cell in cells if cell.get("cell_type") == "code")
    return list(dict.fromkeys(name for text in texts for name in IMPORT.findall(text)))


def states_in(cells: Iterable[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """{exercise: (state, words)}: right where any check of it says so, else what the last says."""
    found: dict[str, tuple[str, str]] = {}
    for name, right, words in (said for cell in cells for said in said_in(cell)):
        if right:
            found[name] = RIGHT, ""
        elif found.get(name) != (RIGHT, ""):
            found[name] = (NOT_TRIED, "") if words.startswith(UNTOUCHED) else (NOT_YET, words)
    return found


def said_in(cell: dict[str, Any]) -> Iterator[tuple[str, bool, str]]:
    """(exercise, right or not, words) of each verdict; or the error at which its check stopped."""
    verdicts = verdicts_of(cell)
    yield from ((each["name"], each["mark"] == "✓", each["words"]) for each in verdicts)
    for output in cell.get("outputs", ()) if not verdicts else ():
        if output.get("output_type") == "error":
            first = (output.get("evalue") or "").strip().partition("\n")[0]
            error = f"{output.get('ename')}: {first}"
            yield from ((name, False, error) for name in named_in([cell]))


def verdicts_of(cell: dict[str, Any]) -> list[re.Match[str]]:
    """What check() said of exercises in the outputs of a cell: matches of VERDICT."""
    texts = [
        "".join(output.get("data", {}).get("text/plain", output.get("text", "")))
        for output in cell.get("outputs", ())
    ]
    found = (VERDICT.search(line) for text in texts for line in text.splitlines())
    return [verdict for verdict in found if verdict and verdict["name"] in exercises.NAMES]


def keep_better(found: dict[tuple[str, str], Result], one: Result) -> None:
    """Of two copies of a notebook the one in which an exercise came further counts."""
    order = (NOT_TRIED, NOT_YET, RIGHT)
    before = found.get((one.learner, one.exercise))
    if before is None or order.index(one.state) > order.index(before.state):
        found[one.learner, one.exercise] = one


def cells_in(path: Path) -> list[dict[str, Any]]:
    """A notebook's cells; ValueError where the file is no notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for cell in cells:  # whatever is odd in them comes to light here
            named_in([cell]), list(said_in(cell))
        return cells
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as trouble:
        raise ValueError("it cannot be read as a notebook.") from trouble


def run_again(path: Path, where: Path) -> list[dict[str, Any]]:
    """A notebook's cells after a run of its own, in an empty folder, measuring briefly."""
    try:
        import nbformat
        from nbclient import NotebookClient
        from nbclient.exceptions import CellTimeoutError, DeadKernelError
    except ImportError as missing:
        raise ValueError(f"to run it, {missing.name} is missing. Try: {GET_LAB}") from missing
    say(f"Running {where}: that can take minutes. Ctrl-C stops.")
    quiet = dict.fromkeys(("GPULESSONS_CEILINGS", "GPULESSONS_PREDICTIONS"), os.devnull)
    with tempfile.TemporaryDirectory() as empty:
        copy = Path(shutil.copy(path, empty))
        notebook = nbformat.read(copy, as_version=4)
        copy.unlink()
        client = NotebookClient(
            notebook, timeout=PATIENCE, startup_timeout=PATIENCE, allow_errors=True,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"], resources={"metadata": {"path": empty}},
        )  # fmt: skip
        try:
            client.execute(env={**os.environ, **quiet, budget.NAME: "0.02"})
        except (CellTimeoutError, DeadKernelError, RuntimeError) as trouble:
            raise ValueError(f"its run ended early ({type(trouble).__name__}).") from trouble
    return notebook.cells


# -- Recordings.


def readable(folder: Path, recorded: Iterable[Path]) -> Iterator[Recording]:
    """The recordings among these files, named as they lie in the folder."""
    for path in recorded:
        where = path.relative_to(folder)
        try:
            yield replace(gpulessons.recordings.load(path), file=str(where))
        except gpulessons.recordings.BadRecording as trouble:
            say(f"{where} was left out: {trouble}")


def compared(recordings: list[Recording]) -> Any:
    """All machines side by side; None, and a sentence, where there is nothing to compare."""
    if len(recordings) < 2:
        there = "there is one" if recordings else "there is none"
        say(f"It takes two recordings to lay machines side by side; {there}.")
        return None
    try:
        return gpulessons.recordings.side_by_side(*recordings)
    except ValueError as trouble:
        say(trouble)
        return None


# -- What is shown.


def by_learner(results: list[Result]) -> list[list[str]]:
    """A row for each learner: right of so many in each notebook, and in all."""
    numbers = sorted({one.notebook for one in results})
    rows = [["learner", *numbers, "all"]]
    for who in dict.fromkeys(one.learner for one in results):
        theirs = [one for one in results if one.learner == who]
        parts = [[one for one in theirs if one.notebook == number] for number in numbers]
        rows.append([who, *map(share, parts), share(theirs)])
    return rows


def share(some: list[Result]) -> str:
    """Such as 2/3; a dash for a notebook that was not handed in."""
    return f"{sum(one.state == RIGHT for one in some)}/{len(some)}" if some else "–"


def by_exercise(results: list[Result]) -> list[list[str]]:
    """A row for each exercise: how many were where, and what most were told."""
    rows = [["exercise", RIGHT, NOT_YET, NOT_TRIED, "told most often"]]
    places = dict.fromkeys((one.notebook, one.exercise) for one in results)
    for name in sorted(places, key=lambda place: place[0]):  # else in the order of the course
        some = [one for one in results if (one.notebook, one.exercise) == name]
        states = Counter(one.state for one in some)
        told = Counter(one.words for one in some if one.words).most_common(1)
        words = told[0][0] if told else ""
        rows.append([" ".join(name), *(str(states[s]) for s in (RIGHT, NOT_YET, NOT_TRIED)), words])
    return rows


def heading(results: list[Result]) -> str:
    """What the tables show."""
    learners = len({one.learner for one in results})
    return (
        f"{learners} learner{'s' * (learners != 1)}: exercises right, of those in the notebooks "
        "handed in"
    )


def tables_of(results: list[Result], drawn: Callable[[list[list[str]]], str]) -> list[str]:
    """A heading and both tables, each drawn as text or as HTML; one sentence without results."""
    if not results:
        return ["No notebook with exercises was handed in."]
    return [heading(results), drawn(by_learner(results)), drawn(by_exercise(results))]


def aligned(table: list[list[str]]) -> str:
    """A table as text, its last column as long as it is."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)
    return "\n".join(lines)


def as_csv(results: list[Result]) -> str:
    """A row for each learner and exercise."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["learner", "notebook", "exercise", "result", "words"])
    rows.writerows(
        [safe(one.learner), one.notebook, one.exercise, one.state, safe(one.words)]
        for one in results
    )
    return text.getvalue()


def safe(words: str) -> str:
    """A cell that no spreadsheet takes for a formula: learners choose these words."""
    return f"'{words}" if words.startswith(("=", "+", "-", "@")) else words


def as_page(results: list[Result], both: Any) -> str:
    """All of it as a web page."""
    head, *tables = tables_of(results, html_table)
    body = f"<h1>{escape(head)}</h1>" + "".join(tables)
    if both:
        pictures = (gpulessons.plots.side_by_side(both, op) for op in dict(both.shared))
        body += f"<h1>Their machines</h1>{both._repr_html_()}"
        body += "".join(picture._repr_html_() for picture in pictures)
    return page("What the class found", body, RULED)


def html_table(table: list[list[str]]) -> str:
    from gpulessons.measure.results import html_row

    head, *rows = table
    cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(map(html_row, rows))
    return (f'<div style="overflow-x: auto"><table><thead><tr>{cells}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")  # fmt: skip
