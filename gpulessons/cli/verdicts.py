"""`gpulessons claims`: the course's claims, put to the test on this machine."""

from __future__ import annotations

from argparse import Namespace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import gpulessons
from gpulessons.hardware import files

from .copies import can_write, writing
from .pages import RULED, named_as, page
from .terminal import Misspelled, Parser, say, whole

if TYPE_CHECKING:
    from gpulessons.claims import Findings
    from gpulessons.measure.recordings import Recording


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    every = "a claim's number; all, unless named"
    parser.add_argument("number", metavar="N", nargs="*", type=whole, help=every)
    parser.add_argument(
        "--with", dest="files", metavar="FILE", nargs="+", default=(),
        help="recordings that may decide what this machine cannot",
    )  # fmt: skip
    parser.add_argument("--devices", metavar="FILE", help="devices with your prices")
    parser.add_argument("--json", metavar="FILE", help="keep the findings as data")
    parser.add_argument("--html", metavar="FILE", help="keep them as a page")


def claims(options: Namespace) -> int:
    """put the course's claims to the test here: the verdicts, and the figures behind them"""
    from gpulessons import claims

    for number in options.number:
        if number not in claims.CLAIMS:
            raise Misspelled(f"There is no claim {number}: they are 1 to {len(claims.CLAIMS)}.")
    to_keep = places(options)
    given = claims.Given(
        tuple(map(recording, options.files)),
        tuple(gpulessons.money.load(options.devices) if options.devices else ()),
    )
    for path in to_keep:
        can_write(path.parent)
    gpulessons.wide_vectors()
    if not options.number:
        say("Some three minutes. Ctrl-C stops and keeps what there is.")
    found = claims.judge(*options.number, given=given, told=lambda one: print(one, end="\n\n"))
    print(*found.notes, found.sentence, f"({found.label})", sep="\n")
    for path in to_keep:
        keep(found, path)
    return 130 if found.interrupted else 0


def places(options: Namespace) -> list[Path]:
    """The files to keep findings in. Raises ValueError where one is, or names, something else."""
    if options.json:
        named_as("--json", options.json, ".json")
    if options.html:
        named_as("--html", options.html, ".html", ".htm")
    paths = [Path(name).absolute() for name in (options.json, options.html) if name]
    for path in paths:
        try:
            held(path)
        except (ValueError, OSError) as trouble:
            raise ValueError(f"{trouble} It stays as it is; name another file.") from trouble
    return paths


def held(path: Path) -> int:
    """How many claims a file holds findings about. Raises ValueError for data that is no such."""
    if not path.exists():
        return 0
    if is_data(path):
        return len(gpulessons.claims.load(path))
    return path.read_text(encoding="utf-8", errors="replace").count('<th scope="row"')


def recording(file: str) -> Recording:
    """The recording in a file; ValueError, in a sentence, where there is none."""
    try:
        return gpulessons.recordings.load(file)
    except gpulessons.recordings.BadRecording as trouble:
        try:
            gpulessons.claims.load(file)
        except ValueError:
            raise trouble from None
        raise ValueError(f"{file} holds findings, not a recording.") from trouble


def keep(found: Findings, path: Path) -> None:
    """Write findings; fewer, of an interrupted run or of some claims, never replace more."""
    with writing(path.parent):
        if held(path) > len(found):
            say(f"{path} holds more claims; it is as it was. Name another file.")
        else:
            written = f"{found.to_json()}\n" if is_data(path) else page_of(found)
            say(f"Kept in {files.write(path, written)}")


def is_data(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def page_of(found: Findings) -> str:
    """The findings as a web page."""
    title = f"The claims of gpulessons, {gpulessons.__version__}"
    return page(title, f"<h1>{escape(title)}</h1>{found._repr_html_()}", RULED)
