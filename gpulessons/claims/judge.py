"""What a statement is, and the one judge: a quantity, two borders, figures that are ranges.

Each claim of the sources is split into its statements, and each of these says that some quantity is
large: a speed-up, a share, a number of cores. A figure from the upper border on speaks for it, one
below the lower border against it, and one between them for it with limits. A figure whose range
reaches over a border is too uncertain to speak. Where all figures that speak agree, that is the
word; where they do not, the statement holds with limits.
"""

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpulessons import units

HOLDS, LIMITS, REFUTED, OPEN = "holds", "holds with limits", "refuted", "open"
WORDS = (HOLDS, LIMITS, REFUTED, OPEN)
HERE = ("live", "recorded")  # measured by this package, on this machine or on a named one
EVIDENCE = ("counted", "published", "modelled", "bounded", "emulated")
SOURCES = ("A", "B", "C", "D", "E")


@dataclass(frozen=True)
class Figure:
    """How large a quantity was found to be: at least low, at most high; inf where nobody knows."""

    what: str  # "a sigmoid over numbers in a cache"
    kind: str  # one of HERE or EVIDENCE
    low: float
    high: float
    where: str = ""  # a recorded one's machine and date, a published one's citation

    def __post_init__(self) -> None:
        if self.kind not in HERE + EVIDENCE:
            raise ValueError(f"A figure is {', '.join(HERE + EVIDENCE)}; not {self.kind!r}.")
        if not self.low <= self.high:  # so written that NaN is refused
            raise ValueError(f"{self.what}: {self.low} to {self.high} is no range.")
        if self.kind in ("recorded", "published") and not self.where:
            raise ValueError(f"{self.what}: a {self.kind} figure says where it is from.")

    def amount(self, unit: str) -> str:
        """ "at most 24×", "2.1 to 3×", "5.2×" """
        low, high = (written(end, unit) for end in (self.low, self.high))
        if self.high == math.inf:
            return f"at least {low}"
        if self.low == -math.inf:
            return f"at most {high}"
        return low if low == high else f"{low} to {high}"


def written(value: float, unit: str) -> str:
    """A number in a statement's unit: "×", "%" of 1, "s", "B/s", "FLOP/s", or a noun."""
    if unit == "×":
        return units.ratio(value)
    if unit == "%":
        return f"{units.three_digits(100 * value)} %"
    if unit == "s":
        return units.seconds(value)
    if unit in ("B/s", "FLOP/s"):
        return units.rate(value, unit)
    return f"{units.three_digits(value)} {unit}".strip()


def zone(figure: Figure, refuted: float, holds: float) -> str:
    """The word of one figure: OPEN where its range reaches over a border."""
    if figure.low >= holds:
        return HOLDS
    if figure.high < refuted:
        return REFUTED
    return LIMITS if refuted <= figure.low and figure.high < holds else OPEN


def word(figures: Iterable[Figure], refuted: float, holds: float) -> str:
    """The word of several figures: theirs, where those that are not OPEN agree, else LIMITS."""
    said = {zone(figure, refuted, holds) for figure in figures} - {OPEN}
    if len(said) > 1:
        return LIMITS
    return said.pop() if said else OPEN


@dataclass(frozen=True)
class Measure:
    """A figure that a statement's notebook hands over."""

    what: str
    kind: str = "live"


@dataclass(frozen=True)
class Statement:
    """One thing that a claim says, and the quantity that decides it."""

    name: str  # "4b"
    words: str  # as its author hedged it
    notebook: str  # "05", which tests it
    quantity: str
    unit: str
    refuted: float  # below this
    holds: float  # from this on
    borders: str  # why these two
    changes: str  # what would change the word
    figures: dict[str, Measure]  # what the notebook hands over

    @property
    def claim(self) -> int:
        return int(self.name[:-1])

    @property
    def test(self) -> str:
        low, high = written(self.refuted, self.unit), written(self.holds, self.unit)
        return (
            f"{self.quantity[0].upper()}{self.quantity[1:]}: less than {low} contradicts the "
            f"statement, {high} or more supports it ({self.borders})."
        )


@dataclass(frozen=True)
class Claim:
    """Something that one of the sources says about GPUs and deep learning."""

    number: int
    words: str
    source: str  # letters of SOURCES
    statements: tuple[Statement, ...]
    untested: str = ""  # what of it no figure could decide, and why


@cache
def claims() -> dict[int, Claim]:
    """The claims by number, each with its statements: what statements.toml holds."""
    text = Path(__file__).with_name("statements.toml").read_text(encoding="utf-8")
    return {int(number): claim(int(number), table) for number, table in tomllib.loads(text).items()}


def claim(number: int, table: dict) -> Claim:
    lettered = {letter: fields for letter, fields in table.items() if isinstance(fields, dict)}
    statements = tuple(
        Statement(f"{number}{letter}", **{**fields, "figures": measures(fields.get("figures", {}))})
        for letter, fields in lettered.items()
    )
    return Claim(number, table["words"], table["source"], statements, table.get("untested", ""))


def measures(table: dict) -> dict[str, Measure]:
    """A text is a live figure's; a table has its kind, too."""
    return {name: Measure(**each) if isinstance(each, dict) else Measure(each)
            for name, each in table.items()}  # fmt: skip


def statements() -> dict[str, Statement]:
    """Every statement by its name, "1a"."""
    return {each.name: each for claim in claims().values() for each in claim.statements}


def statement(name: str) -> Statement:
    """The statement of this name; ValueError, with all names, where there is none."""
    if name not in statements():
        raise ValueError(f"There is no statement {name!r}: they are {', '.join(statements())}.")
    return statements()[name]
