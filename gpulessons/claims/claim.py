"""What a claim is, and what is found about it: plain values.

A claim about what a GPU does never holds on the word of a machine without one. A recording from a
GPU may decide it, and the finding then says so. A claim of several statements is as good as its
weakest: `weakest`.
"""

import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from gpulessons import units

HOLDS, LIMITS, REFUTED = "holds", "holds with limits", "refuted"
UNTESTED = "not testable here"
INTERRUPTED = "interrupted: what was found until then is here"  # a note of Findings
VERDICTS = (HOLDS, LIMITS, REFUTED, UNTESTED)
KINDS = ("live", "recorded", "published", "counted", "modelled")
# What may be missing where a claim could not be tested.
A_GPU, PRICES, A_SECOND_CORE, QUIET = "a GPU", "your prices", "a second core", "a quiet machine"

SOURCES = {
    "A": "“How GPUs accelerate deep learning”, a blog article of about 2020",
    "B": "Goodfellow, Bengio and Courville, Deep Learning (2016), 12.1.2 and 12.1.3",
    "C": "a question and its answers on Stack Exchange: how GPUs help a basic network and an LSTM",
    "D": "Erik Bernhardsson, “My issue with GPU-accelerated deep learning”",
    "E": "Tim Dettmers' blog",
}


@dataclass(frozen=True)
class Figure:
    """One number that a verdict stands on, with its kind; value is None where there is none."""

    what: str  # "every core against one"
    value: float | None
    unit: str = ""  # "×", "%" (of 1), "s", "B/s", "FLOP/s", "" for a count
    kind: str = "live"
    where: str = ""  # a recorded one's machine and date, a published one's citation
    spread: tuple[float, float] | None = None  # its middle half, or all of a few runs
    of_gpu: bool = False  # did a GPU make it?
    why: str = ""  # why there is no value
    lacks: str = ""  # what it would take, such as A_GPU; "" where that has no name

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"A figure is {', '.join(KINDS)}; not {self.kind!r}.")
        if self.kind in ("recorded", "published") and self.value is not None and not self.where:
            raise ValueError(f"{self.what}: a {self.kind} figure says where it is from.")
        if self.value is None and not self.why:
            raise ValueError(f"{self.what}: say why there is no figure.")

    @property
    def measured_on_gpu(self) -> bool:
        """May it decide a claim about GPUs? What is published or modelled may stand beside."""
        return self.of_gpu and self.value is not None and self.kind in ("live", "recorded")

    @property
    def words(self) -> str:
        if self.value is None:
            return f"{self.what}: – ({self.why})"
        between = f" ({' to '.join(self.write(v) for v in self.spread)})" if self.spread else ""
        return f"{self.what}: {self.write(self.value)}{between}, {self.provenance}"

    @property
    def provenance(self) -> str:
        return f"{self.kind}: {self.where}" if self.where else self.kind

    def write(self, value: float) -> str:
        """A number in this figure's unit."""
        if self.unit == "×":
            return units.ratio(value)
        if self.unit == "%":
            return f"{units.three_digits(100 * value)} %"
        if self.unit == "s":
            return units.seconds(value)
        if self.unit in ("B/s", "FLOP/s"):
            return units.rate(value, self.unit)
        number = units.count(value) if float(value).is_integer() else units.three_digits(value)
        return f"{number} {self.unit}".strip()


@dataclass(frozen=True)
class Verdict:
    """One of VERDICTS, and why, in a sentence."""

    word: str
    why: str
    lacks: tuple[str, ...] = ()  # what it would take to say more, such as A_GPU


def holds(why: str) -> Verdict:
    return Verdict(HOLDS, why)


def limits(why: str) -> Verdict:
    return Verdict(LIMITS, why)


def refuted(why: str) -> Verdict:
    return Verdict(REFUTED, why)


def untested(why: str, *lacks: str) -> Verdict:
    return Verdict(UNTESTED, why, lacks)


WEAKEST = (REFUTED, UNTESTED, LIMITS, HOLDS)
SEVERAL = ("A claim of several statements gets a word for each, and is as good as its weakest: "
           f"{REFUTED}, then {UNTESTED}, then {LIMITS}; it {HOLDS} if all do.")  # fmt: skip


def weakest(**statements: Verdict) -> Verdict:
    """The verdict about a claim that makes several statements: that of its weakest.

    A false one is false however right the others are, and one that was not tested leaves the whole
    untested. weakest(what_it_costs=holds("…"), on_a_GPU=refuted("…")): its why has all of them.
    """
    word = min((each.word for each in statements.values()), key=WEAKEST.index)
    texts = (f"{name[0].upper()}{name[1:].replace('_', ' ')}: {each.word}. {each.why}"
             for name, each in statements.items())  # fmt: skip
    return Verdict(word, " ".join(texts), tuple(n for s in statements.values() for n in s.lacks))


@dataclass(frozen=True)
class Claim:
    """A statement about GPUs and deep learning, and how it is put to the test."""

    number: int
    words: str
    source: str  # letters of SOURCES
    notebooks: tuple[str, ...]  # "02": those that test it at length
    measure: Callable[..., Mapping[str, Figure]]  # of a Given; its docstring says the test
    judge: Callable[..., Verdict]  # of the figures' values, by name
    changes: str  # what would change the verdict
    about_gpus: bool  # about what one does, which none but a GPU can tell

    @property
    def test(self) -> str:
        return " ".join((self.measure.__doc__ or "").split())

    @property
    def part(self) -> str:
        """The part of the course that it belongs to: "many devices"."""
        return self.judge.__module__.rpartition(".")[2].replace("_", " ")

    @property
    def needed(self) -> set[str]:
        """The figures without which there is no verdict: parameters that have no default."""
        parameters = inspect.signature(self.judge).parameters.values()
        return {p.name for p in parameters if p.default is p.empty}


CLAIMS: dict[int, Claim] = {}


def claim(
    number: int, words: str, *, source: str, notebooks: str, measure: Callable[..., Any],
    changes: str, about_gpus: bool = False,
) -> Callable[[Callable[..., Verdict]], Callable[..., Verdict]]:  # fmt: skip
    """Add a claim by its judge: a function of the values of the figures that `measure` gives.

    A parameter with a default may be missing; where another one is, nothing can be said. notebooks:
    "02 15". about_gpus: then a figure from a GPU, live or recorded, must be among them before it
    holds.
    """

    def register(judge: Callable[..., Verdict]) -> Callable[..., Verdict]:
        if number in CLAIMS and CLAIMS[number].words != words:
            raise ValueError(f"There are two claims {number}.")
        CLAIMS[number] = Claim(
            number, words, source, tuple(notebooks.split()), measure, judge, changes, about_gpus
        )
        return judge

    return register


@dataclass(frozen=True)
class Finding:
    """What was found about one claim: the verdict, why, and the figures behind it."""

    number: int
    claim: str
    source: str
    notebooks: tuple[str, ...]
    test: str
    verdict: str
    why: str
    figures: tuple[Figure, ...]
    changes: str
    lacks: tuple[str, ...] = ()  # what the verdict, or a figure that has no value, lacks

    def __repr__(self) -> str:
        figures = "".join(f"\n    {figure.words}" for figure in self.figures)
        return (
            f"{self.number}. {self.claim}\n  {self.verdict.upper()}: {self.why}\n"
            f"  test: {self.test}{figures}\n  what would change it: {self.changes}"
        )

    def _repr_html_(self) -> str:
        head = f"<b>{self.number}. {escape(self.claim)}</b><br><b>{self.verdict}</b>"
        return f"<p>{head}: {escape(self.why)}</p>{details(self)}"


def details(finding: Finding) -> str:
    """The test, the figures and what would change the verdict, as HTML."""
    figures = "".join(f"<li>{escape(figure.words)}</li>" for figure in finding.figures)
    return (
        f"<p>Test: {escape(finding.test)}</p><ul>{figures}</ul>"
        f"<p>What would change it: {escape(finding.changes)}</p>"
    )


@dataclass(frozen=True)
class Findings:
    """Verdicts of one machine on one day."""

    found: tuple[Finding, ...]
    machine: str
    date: str
    version: str  # of gpulessons
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, number: int) -> Finding:
        """The finding about a claim, by the claim's number."""
        for each in self.found:
            if each.number == number:
                return each
        raise KeyError(f"Claim {number} was not judged; these were: {self.numbers}.")

    @property
    def interrupted(self) -> bool:
        return INTERRUPTED in self.notes

    @property
    def numbers(self) -> str:
        return ", ".join(str(each.number) for each in self.found) or "none"

    @property
    def counts(self) -> dict[str, int]:
        """How many have each verdict, in the verdicts' order."""
        words = Counter(each.verdict for each in self.found)
        return {word: words[word] for word in VERDICTS}

    @property
    def lacking(self) -> dict[str, list[int]]:
        """{what there was none of: the claims that could not be tested for want of it}."""
        found: dict[str, list[int]] = {}
        for each in self.found:
            for what in each.lacks or ("something else",) if each.verdict == UNTESTED else ():
                found.setdefault(what, []).append(each.number)
        return found

    @property
    def sentence(self) -> str:
        """ "Of 27 claims 9 hold, 5 hold with limits, …": the message of the table."""
        many = {HOLDS: "hold", LIMITS: "hold with limits", REFUTED: "are refuted",
                UNTESTED: "could not be tested"}  # fmt: skip
        one = {HOLDS: "holds", LIMITS: "holds with limits", REFUTED: "is refuted",
               UNTESTED: "could not be tested"}  # fmt: skip
        parts = [f"{n} {(one if n == 1 else many)[word]}" for word, n in self.counts.items() if n]
        claims = f"{len(self)} claim{'s' * (len(self) != 1)}"
        return f"Of {claims} {', '.join(parts)}." if parts else "No claim was judged."

    def __repr__(self) -> str:
        body = "\n\n".join(map(repr, self.found))
        return "\n".join([body, "", *self.notes, self.sentence, f"({self.label})"]).lstrip("\n")

    @property
    def label(self) -> str:
        return f"{self.machine}, {self.date}, gpulessons {self.version}"

    def _repr_html_(self) -> str:
        letters = sorted({letter for each in self.found for letter in each.source})
        sources = " ".join(f"{letter}: {SOURCES[letter]}." for letter in letters)
        return table(self.found, f"{self.sentence} {self.label}.",
                     [*self.notes, SEVERAL, sources])  # fmt: skip

    def to_json(self) -> str:
        return json.dumps({"format": 1, **asdict(self)}, indent=1, ensure_ascii=False)


def table(found: Iterable[Finding], caption: str, notes: Iterable[str] = ()) -> str:
    """Findings as an HTML table: a row opens to the test, the figures and what would change it."""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("", "claim", "verdict", "why"))
    rows = "".join(map(row, found))
    return (
        '<div style="overflow-x: auto"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>" + "".join(f"<p>{escape(note)}</p>" for note in notes)
    )


def row(finding: Finding) -> str:
    left = 'style="text-align: left; vertical-align: top"'
    more = f"<details><summary>{escape(finding.why)}</summary>{details(finding)}</details>"
    where = f"{finding.source} · notebook {', '.join(finding.notebooks)}"
    return (
        f'<tr><th scope="row" {left}>{finding.number}</th>'
        f"<td {left}>{escape(finding.claim)}<br><small>{escape(where)}</small></td>"
        f"<td {left}><b>{finding.verdict}</b></td><td {left}>{more}</td></tr>"
    )
