"""The command `gpulessons`: the course from a terminal.

Every trouble that can be foreseen is one sentence on stderr. The exit status is 0 when done, 1 when
not, 2 when something was misspelled, 130 after Ctrl-C.
"""

import os
import sys
import warnings
from argparse import Namespace

import gpulessons

from . import measure, opening, running, verdicts
from .health import doctor, ops
from .kernels import asm
from .measure import compare, record
from .opening import lab, notebooks
from .running import workers
from .terminal import Misspelled, Parser, capability, known, say
from .verdicts import claims

COMMANDS = {
    command.__name__: command
    for command in (doctor, lab, notebooks, compare, record, claims, ops, asm, workers)
}


def warn(message: object, *_: object, **__: object) -> None:
    """A warning, as one line: what `warnings.showwarning` is while a command runs."""
    say(message)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # `gpulessons doctor >&-`: nobody wants to read it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        getattr(sys, name).reconfigure(errors="replace")  # × must not cost a measurement
    with warnings.catch_warnings():
        warnings.showwarning = warn
        try:
            return run(sys.argv[1:] if arguments is None else arguments)
        except KeyboardInterrupt:
            return say("Interrupted.", 130)
        except BrokenPipeError:  # `gpulessons ops | head` has read enough
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
        options = read(arguments or ["--help"])
        return COMMANDS[options.command](options) or 0
    finally:
        sys.stdout.flush()  # a closed pipe shows here, while it can still be caught


def read(arguments: list[str]) -> Namespace:
    """The command line's options. name=value may stand anywhere: argparse allows one place only."""
    options, more = parser().parse_known_args(arguments)
    if options.command == "workers":
        pairs = [word for word in more if "=" in word and not word.startswith("-")]
        options.pairs = [*options.pairs, *pairs]
        more = [word for word in more if word not in pairs]
    if more:
        raise Misspelled(
            f"unrecognized arguments: {' '.join(more)}. Try: gpulessons {options.command} --help"
        )
    return options


def parser() -> Parser:
    top = Parser(prog="gpulessons", description="The course from a terminal.")
    version = f"gpulessons {gpulessons.__version__}"
    top.add_argument("--version", action="version", version=version)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    made = {
        name: commands.add_parser(name, help=command.__doc__, description=command.__doc__)
        for name, command in COMMANDS.items()
    }
    again = "measure its ceilings again, instead of those that are kept"
    made["doctor"].add_argument("--again", action="store_true", help=again)
    made["lab"].add_argument("folder", metavar="DIR", nargs="?", help=opening.WHERE)
    opening.describe(made["notebooks"])

    made["asm"].add_argument("op", metavar="OP", help="see: gpulessons ops")
    made["asm"].add_argument("--version", metavar="NAME", nargs="+", help="only these versions")
    made["asm"].add_argument(
        "--sass", action="store_true", help="print every instruction of the machine code"
    )
    made["asm"].add_argument("--ptx", action="store_true", help="print the PTX, too")
    made["asm"].add_argument(
        "--capability", metavar="M.N", type=capability, help="default: this machine's GPU's, or 9.0"
    )
    measure.describe(made["compare"], made["record"])
    verdicts.describe(made["claims"])
    running.describe(made["workers"])
    return top
