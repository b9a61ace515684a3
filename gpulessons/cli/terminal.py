"""What is typed and what is said: names with their nearest kin, numbers within reason."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Collection
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

import gpulessons

if TYPE_CHECKING:
    from gpulessons.operation import Op

# Of the course that is installed: pip reads what it asks for from there, and fetches only that.
GET_LAB = f"{sys.executable} -m pip install 'gpulessons[lab]'"


class Misspelled(ValueError):
    """A name, a number or an option that cannot be meant."""


class Parser(argparse.ArgumentParser):
    """argparse, with its troubles raised as sentences."""

    def error(self, message: str) -> NoReturn:
        raise Misspelled(f"{message.rstrip('.')}. Try: {self.prog} --help")


def say(words: object, status: int = 0) -> int:
    """One line on stderr; returns the exit status that goes with it."""
    print(f"gpulessons: {words}", file=sys.stderr, flush=True)
    return status


def size(text: str) -> int:
    """A problem size: 1000, 1_000, 1,000 and 1e3 alike."""
    number = number_in(text.replace(",", ""))
    if not (1 <= number < 2**63 and number == int(number)):  # so written that NaN is refused
        raise argparse.ArgumentTypeError(f"a size is a whole number of at least 1, not {text!r}")
    return int(number)


def seconds(text: str) -> float:
    number = number_in(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"a time is a number of seconds above 0, not {text!r}")
    return number


def number_in(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def known(name: str, names: Collection[str], otherwise: str) -> str:
    """The name, when it is one of the names; Misspelled, with the nearest of them, when not."""
    if name in names:
        return name
    typed, lowered = name.lower(), {each.lower(): each for each in names}
    holding = [each for each in lowered if typed in each]
    near = dict.fromkeys([*get_close_matches(typed, lowered), *holding])
    listed = ", ".join(repr(lowered[each]) for each in near or lowered)
    offer = f"Did you mean {listed}?" if near else f"Choose from {listed}."
    raise Misspelled(f"{otherwise} {name!r}. {offer}")


def op_names() -> list[str]:
    homes = gpulessons.HOMES.items()
    return [name for home, names in homes if home.startswith("ops.") for name in names.split()]


def find_op(name: str) -> Op:
    """The op of this name; only now is its file imported."""
    return getattr(gpulessons, known(name, op_names(), "There is no op"))
