"""`gpulessons claims`: the statements of the course's claims, each with its word and figures."""

from argparse import Namespace
from pathlib import Path

from gpulessons.hardware import files

from .copies import can_write
from .terminal import Misspelled, Parser, say


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    every = "a claim's number; all, unless named"
    parser.add_argument("number", metavar="N", nargs="*", type=int, help=every)
    parser.add_argument("--json", metavar="FILE", help="keep the findings as data, in a new file")


def claims(options: Namespace) -> int:
    """what sources say, statement by statement: its word, who found it, and the figures"""
    from gpulessons import claims

    known = claims.claims()
    for number in options.number:
        if number not in known:
            raise Misspelled(f"There is no claim {number}: they are 1 to {len(known)}.")
    path = Path(options.json).absolute() if options.json else None
    if path:
        if path.exists():
            raise ValueError(f"{path} is there already, and stays as it is. Name another file.")
        can_write(path.parent)
    found = claims.judged(*options.number)
    untested = [known[each].untested for each in options.number or known if known[each].untested]
    print(*([found] if len(found) else []), *untested, sep="\n\n")
    if path:
        files.write(path, f"{found.to_json()}\n")
        say(f"Kept in {path}")
    return 0
