"""`gpulessons claims`: the statements of the course's claims, each with its word and figures."""

from argparse import Namespace

from .terminal import Misspelled, Parser


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    every = "a claim's number; all, unless named"
    parser.add_argument("number", metavar="N", nargs="*", type=int, help=every)


def claims(options: Namespace) -> None:
    """what sources say, statement by statement: its word, who found it, and the figures"""
    from gpulessons import claims

    known = claims.claims()
    for number in options.number:
        if number not in known:
            raise Misspelled(f"There is no claim {number}: they are 1 to {len(known)}.")
    found = claims.judged(*options.number)
    untested = [known[each].untested for each in options.number or known if known[each].untested]
    print(*([found] if len(found) else []), *untested, sep="\n\n")
