"""The command `gpulessons`: the course from a terminal.

Every trouble that can be foreseen is one sentence on stderr. The exit status is 0 when done, 1 when
not, 2 when something was misspelled, 130 after Ctrl-C.
"""

import os
import sys
import warnings
from io import TextIOWrapper

import gpulessons

from . import health, measure, opening, verdicts
from .health import doctor
from .measure import compare, record
from .opening import lab, notebooks
from .terminal import Misspelled, Parser, known, say
from .verdicts import claims

COMMANDS = {
    command.__name__: command
    for command in (doctor, lab, notebooks, compare, record, claims)
}


def warn(message: object, *_: object, **__: object) -> None:
    """A warning, as one line: what `warnings.showwarning` is while a command runs."""
    say(message)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # × must not cost a measurement
    with warnings.catch_warnings():
        warnings.showwarning = warn
        try:
            return run(sys.argv[1:] if arguments is None else arguments)
        except KeyboardInterrupt:
            return say("Interrupted.", 130)
        except BrokenPipeError:  # `gpulessons claims | head` has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except ImportError as trouble:
            return say(f"{trouble}. What is missing, and what to do, says: gpulessons doctor", 1)
        except Misspelled as trouble:
            return say(trouble, 2)
        except (ValueError, OSError) as trouble:
            return say(trouble, 1)


def run(arguments: list[str]) -> int:
    """Read the command line and run what it names; the exit status."""
    try:
        if arguments and not arguments[0].startswith("-"):
            known(arguments[0], COMMANDS, "There is no command")
        options = parser().parse_args(arguments or ["--help"])
        return COMMANDS[options.command](options) or 0
    finally:
        sys.stdout.flush()  # a closed pipe shows here, while it can still be caught


def parser() -> Parser:
    top = Parser(prog="gpulessons", description="The course from a terminal.")
    version = f"gpulessons {gpulessons.__version__}"
    top.add_argument("--version", action="version", version=version)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    made = {
        name: commands.add_parser(name, help=command.__doc__, description=command.__doc__)
        for name, command in COMMANDS.items()
    }
    health.describe(made["doctor"])
    opening.describe(made["lab"], made["notebooks"])
    measure.describe(made["compare"], made["record"])
    verdicts.describe(made["claims"])
    return top
