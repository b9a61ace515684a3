"""`gpulessons claims`: the course's claims, put to the test on this machine."""

from argparse import Namespace
from pathlib import Path

import gpulessons
from gpulessons.hardware import files

from .copies import can_write
from .terminal import Misspelled, Parser, say


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    every = "a claim's number; all, unless named"
    parser.add_argument("number", metavar="N", nargs="*", type=int, help=every)
    deciding = "recordings that may decide what this machine cannot"
    parser.add_argument("--with", dest="files", metavar="FILE", nargs="+", default=(),
                        help=deciding)  # fmt: skip
    parser.add_argument("--devices", metavar="FILE", help="devices with your prices")
    parser.add_argument("--json", metavar="FILE", help="keep the findings as data")


def claims(options: Namespace) -> int:
    """put the course's claims to the test here: the verdicts, and the figures behind them"""
    from gpulessons import claims

    for number in options.number:
        if number not in claims.CLAIMS:
            raise Misspelled(f"There is no claim {number}: they are 1 to {len(claims.CLAIMS)}.")
    given = claims.Given(
        tuple(map(gpulessons.recordings.load, options.files)),
        tuple(gpulessons.money.load(options.devices) if options.devices else ()),
    )
    path = Path(options.json).absolute() if options.json else None
    if path:
        held(path)
        can_write(path.parent)
    gpulessons.wide_vectors()
    if not options.number:
        say("Some three minutes. Ctrl-C stops and keeps what there is.")
    found = claims.judge(*options.number, given=given, told=lambda one: print(one, end="\n\n"))
    print(*found.notes, found.sentence, f"({found.label})", sep="\n")
    if path and held(path) > len(found):
        say(f"{path} holds more claims; it is as it was. Name another file.")
    elif path:
        files.write(path, f"{found.to_json()}\n")
        say(f"Kept in {path}")
    return 130 if found.interrupted else 0


def held(path: Path) -> int:
    """How many claims a file holds findings about. ValueError where it holds anything else."""
    return len(gpulessons.claims.load(path)) if path.exists() else 0
