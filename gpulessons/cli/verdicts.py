"""`gpulessons claims`: the statements of the course's claims, by what the pages found here and by
the evidence."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from gpulessons.hardware import files

from .copies import can_write, writing
from .pages import named_as
from .terminal import Misspelled, Parser, say, whole


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    every = "a claim's number; all, unless named"
    parser.add_argument("number", metavar="N", nargs="*", type=whole, help=every)
    parser.add_argument("--json", metavar="FILE", help="keep the findings as data")


def claims(options: Namespace) -> int:
    """what the course's sources say, statement by statement: two words each, and their figures"""
    from gpulessons import claims

    known = claims.claims()
    for number in options.number:
        if number not in known:
            raise Misspelled(f"There is no claim {number}: they are 1 to {len(known)}.")
    if options.json:
        named_as("--json", options.json, ".json")
        can_write(Path(options.json).absolute().parent)
    found = claims.judged(*options.number)
    print(found)
    if options.json:
        path = Path(options.json).absolute()
        with writing(path.parent):
            say(f"Kept in {files.write(path, found.to_json() + chr(10))}")
    return 0
