"""`gpulessons collect`: what a class handed in, as one table and one comparison."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import gpulessons
from gpulessons.hardware import files

from . import class_tables, copies, handed_in, rerunning
from .pages import named_as
from .terminal import Misspelled, Parser, say


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
    folder = the_folder(options.folder)
    kept = places(options)
    found = handed_in.read(folder, running(folder) if options.again else None)
    if not found.results and not found.recordings:
        for each in found.left_out:
            say(each)
        raise ValueError(
            f"{folder} holds no notebook of the course and no recording. Each learner's files "
            "belong into a folder with the learner's name."
        )
    both = compared(found)
    print(class_tables.as_text(found, both))
    for path in kept:
        with copies.writing(path.parent):
            csv = path.suffix.lower() == ".csv"
            files.write(path, (class_tables.as_csv if csv else class_tables.as_page)(found, both))
        say(f"Kept in {path}")
    return 0


def the_folder(name: str) -> Path:
    """The folder to collect; Misspelled where there is none."""
    folder = Path(name)
    if folder.is_file():
        raise Misspelled(
            f"{folder} is a file. Name the folder that holds a folder for each learner; a single "
            "notebook belongs into a folder, too."
        )
    if not folder.is_dir():
        raise Misspelled(f"There is no folder {folder}. It should hold a folder for each learner.")
    return folder


def places(options: Namespace) -> list[Path]:
    """The files to keep, which can be written: what takes long comes after."""
    if options.csv:
        named_as("--csv", options.csv, ".csv")
    if options.html:
        named_as("--html", options.html, ".html", ".htm")
    paths = [Path(name).absolute() for name in (options.csv, options.html) if name]
    for folder in dict.fromkeys(path.parent for path in paths):
        copies.can_write(folder)
    return paths


def running(folder: Path) -> Any:
    """A function that runs a notebook of the folder anew, and says so."""
    rerunning.can_run()
    count = len(list(handed_in.seen(folder, "*.ipynb")))
    what = f"{count} notebook{'s' * (count != 1)}"
    say(f"Running {what} anew: that takes up to a minute or two for each. Ctrl-C stops.")

    def cells_of(path: Path) -> handed_in.Cells:
        say(f"Running {path.relative_to(folder)} …")
        return rerunning.cells_of(path)

    return cells_of


def compared(found: handed_in.Class) -> Any:
    """All machines side by side; None, and a sentence, where there is nothing to compare."""
    if len(found.recordings) < 2:
        there = "there is one" if found.recordings else "there is none"
        say(f"It takes two recordings to lay machines side by side; {there}.")
        return None
    names: dict[str, str] = {}  # a file -> its learner, the second one's with a number
    for who, recording in found.recordings:
        before = sum(who == other for other, _ in found.recordings[: len(names)])
        names[recording.file] = f"{who} {before + 1}" if before else who
    recordings = [recording for _, recording in found.recordings]
    try:
        return gpulessons.recordings.side_by_side(*recordings, names=names)
    except ValueError as trouble:
        say(trouble)
        return None
