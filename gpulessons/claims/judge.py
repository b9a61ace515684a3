"""What a statement is, and the one judge: a quantity, two borders, figures that are ranges.

Each claim of the sources is split into its statements, and each of these says that some quantity is
large: a speed-up, a share, a number of cores. A figure from the upper border on supports it, one at
or below the lower contradicts it, and a range may reach several of these. Where every figure
supports a statement it holds, where some do it depends on the case, where none does and some
contradict it is refuted. A statement for which more than one word can come out so is undecided.
"""

import math
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from pathlib import Path

from gpulessons import units

HOLDS, DEPENDS, REFUTED, UNDECIDED = "holds", "depends", "refuted", "undecided"
WORDS = {
    HOLDS: "every figure supports it",
    DEPENDS: "some figures support it, others lie below the upper threshold: ask which case",
    REFUTED: "every figure lies below the upper threshold, and some contradict it",
    UNDECIDED: "more than one word can come out, all figures lie between, or there are none",
}
BETWEEN = "between"  # a figure's, between the borders: it neither supports nor contradicts
SAYS = {HOLDS: "supports it", BETWEEN: "lies between", REFUTED: "contradicts it"}
COURSE = "this course"
AUTHORS = {"DeepBench": "Baidu", "cnn-benchmarks": "Justin Johnson", "SGEMM_CUDA": "Simon Boehm",
           "ml-engineering": "Stas Bekman", "prices and rents": "price lists",
           "Lee et al. 2010": "Lee et al. of Intel, 2010", "TensorRT-LLM": "NVIDIA",
           "NVIDIA's blog": "NVIDIA", "SemiAnalysis InferenceX": "SemiAnalysis"}  # fmt: skip
SPEAKERS = {"A": "a blog article of about 2020", "B": "Goodfellow, Bengio & Courville 2016",
            "C": "answers on Stack Exchange", "D": "Erik Bernhardsson's blog",
            "E": "Tim Dettmers' blog"}  # fmt: skip
HERE = ("live", "recorded")  # measured by this package, on this machine or on a named one
EVIDENCE = ("counted", "published", "modelled", "bounded", "emulated")


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

    @property
    def author(self) -> str:
        """Whose finding it is: whatever this course measures, counts or computes is its own."""
        return self.sources[0] if self.kind == "published" else COURSE

    @property
    def sources(self) -> list[str]:
        """Whose figures it is made of: those that it cites, or this course's own."""
        cited = re.findall(r"\(([^()]+)\)(?:; |$)", self.where)
        own = self.where if self.kind == "published" else COURSE
        return [AUTHORS.get(title, title) for title in cited or [own]]

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
    if unit in ("×", "s"):
        return units.ratio(value) if unit == "×" else units.seconds(value)
    if unit == "%":
        return f"{units.three_digits(100 * value)} %"
    if unit in ("B/s", "FLOP/s"):
        return units.rate(value, unit)
    return f"{units.three_digits(value)} {unit}".strip()


def reached(figure: Figure, refuted: float, holds: float) -> set[str]:
    """What one figure's range reaches, of SAYS. Borders that are one have nothing between them."""
    there = {
        HOLDS: figure.high >= holds,
        BETWEEN: figure.high > refuted and figure.low < holds and refuted < holds,
        REFUTED: figure.low <= refuted and figure.low < holds,
    }
    return {side for side in SAYS if there[side]}


def together(one: str, other: str) -> str:
    """The word of two figures, or of two groups of them."""
    if one == other:
        return one
    return DEPENDS if {HOLDS, DEPENDS} & {one, other} else REFUTED


def word(figures: Iterable[Figure], refuted: float, holds: float) -> str:
    """What the figures say together: one of WORDS."""
    sides = [reached(each, refuted, holds) for each in figures]
    if not sides:
        return UNDECIDED
    words = reduce(lambda some, others: {together(*two) for two in product(some, others)}, sides)
    said = words.pop() if len(words) == 1 else UNDECIDED
    return UNDECIDED if said == BETWEEN else said


@dataclass(frozen=True)
class Measure:
    """A figure that a statement's notebook hands over."""

    what: str
    kind: str = "live"
    where: str = ""  # whose figures it is made of, where not this machine's


@dataclass(frozen=True)
class Statement:
    """One thing that a claim says, and the quantity that decides it."""

    name: str  # "4b"
    words: str  # as its author hedged it
    notebook: str  # "05", which tests it
    quantity: str
    unit: str
    refuted: float  # at this and below
    holds: float  # from this on
    thresholds: str  # why these two
    changes: str  # what would change the word
    figures: dict[str, Measure]  # what the notebook hands over
    by_definition: bool = False  # shown in its notebook, and not judged here

    @property
    def claim(self) -> int:
        return int(self.name[:-1])

    @property
    def test(self) -> str:
        low, high = written(self.refuted, self.unit), written(self.holds, self.unit)
        below = f"less than {low}" if self.all_or_nothing else f"{low} or less"
        return (
            f"{self.quantity[0].upper()}{self.quantity[1:]}: {below} contradicts the statement, "
            f"{high} or more supports it ({self.thresholds})."
        )

    @property
    def all_or_nothing(self) -> bool:
        """Whether its thresholds are one: "all", "cannot". A single counterexample refutes it."""
        return self.refuted == self.holds


@dataclass(frozen=True)
class Claim:
    """Something that one of the sources says about GPUs and deep learning."""

    number: int
    words: str
    source: str  # the letters of who says so, A to E
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
