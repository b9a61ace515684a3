"""What was found about statements: a word for each, who found it, its figures, and the table."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import ClassVar

from . import judge
from .judge import DEPENDS, HOLDS, SAYS, SPEAKERS, WORDS, Figure, Statement, claims, reached, word
from .known import evidence


@dataclass(frozen=True)
class Finding:
    """A statement and its figures."""

    about: Statement
    figures: tuple[Figure, ...]

    @classmethod
    def of(cls, about: Statement, measured: Iterable[Figure]) -> "Finding":
        """What was measured, and beside it the evidence there is."""
        return cls(about, (*measured, *evidence(about.name)))

    @property
    def word(self) -> str:
        return word(self.figures, self.about.refuted, self.about.holds)

    @property
    def here(self) -> str:
        """The word of what this course measured, here or on a machine it names; "" for nothing."""
        return self.by(judge.HERE)

    @property
    def by_evidence(self) -> str:
        """The word of what was counted, published, modelled or bounded; "" for nothing."""
        return self.by(judge.EVIDENCE)

    def by(self, kinds: Iterable[str]) -> str:
        those = [each for each in self.figures if each.kind in kinds]
        return word(those, self.about.refuted, self.about.holds) if those else ""

    @property
    def authors(self) -> dict[str, str]:
        """{who found figures of it: the word of theirs alone}"""
        by: dict[str, list[Figure]] = {}
        for each in self.figures:
            by.setdefault(each.author, []).append(each)
        return {who: word(those, self.about.refuted, self.about.holds) for who, those in by.items()}

    @property
    def support(self) -> str:
        """ "1 author: this course", "2 authors: this course (holds), DeepBench (refuted)" """
        authors = self.authors
        if len(authors) < 2:
            return f"1 author: {next(iter(authors))}" if authors else "nobody yet"
        each = ", ".join(f"{who} ({said})" for who, said in authors.items())
        return f"{len(authors)} authors: {each}"

    @property
    def sources(self) -> list[str]:
        """Whose figures its word rests on: authors, and those whom they cite."""
        cited = (each for figure in self.figures for each in figure.sources)
        return [*dict.fromkeys([*self.authors, *cited])]

    @property
    def said(self) -> str:
        """ "holds", "depends (1 of 18 figures supports it)" """
        if self.word != DEPENDS:
            return self.word
        for_it = sum(self.reached(each) == {HOLDS} for each in self.figures)
        some = f"{for_it} of {len(self.figures)} figures support{'s' * (for_it == 1)} it"
        return f"{self.word} ({some})"

    def reached(self, figure: Figure) -> set[str]:
        return reached(figure, self.about.refuted, self.about.holds)

    def says(self, figure: Figure) -> str:
        """ "supports it", "lies between or contradicts it"; of all three "decides nothing" """
        said = [said for side, said in SAYS.items() if side in self.reached(figure)]
        return " or ".join(said) if len(said) < len(SAYS) else "decides nothing"

    @property
    def lines(self) -> list[str]:
        """Each figure with its kind, and what it says; whose figures these are made of."""
        cited = [f"from figures of {', '.join(self.sources)}"] * (self.sources != [*self.authors])
        return cited + [
            f"{figure.what}: {figure.amount(self.about.unit)} "
            f"({figure.kind}{f': {figure.where}' * bool(figure.where)}) → {self.says(figure)}"
            for figure in self.figures
        ]

    def __repr__(self) -> str:
        about = self.about
        figures = "".join(f"\n    {line}" for line in self.lines)
        words = f"measured here: {self.here or '–'}; by the evidence: {self.by_evidence or '–'}"
        return (f"{about.name}. {about.words}\n  {self.word.upper()} by {self.support}\n  {words}\n"
                f"  {about.test}{figures}\n  What would change it: {about.changes}")  # fmt: skip

    def _repr_html_(self) -> str:
        head = f"<b>{escape(self.about.words)}</b><br><b>{self.said}</b> by {escape(self.support)}"
        return f"<p>{head}</p>{details(self)}"


def details(finding: Finding) -> str:
    """The test, the figures and what would change the word, as HTML."""
    figures = "".join(f"<li>{escape(line)}</li>" for line in finding.lines)
    return (
        f"<p>{escape(finding.about.test)}</p><ul>{figures}</ul>"
        f"<p>What would change it: {escape(finding.about.changes)}</p>"
    )


LEFT = 'style="text-align: left; vertical-align: top"'


class Findings(tuple[Finding, ...]):
    """The findings about several statements, in their order."""

    yours: ClassVar[dict[str, str]] = {}  # {name: word} of a reader

    def __getitem__(self, name: str) -> Finding:  # type: ignore[override]
        found = {each.about.name: each for each in self}
        if name not in found:
            names = ", ".join(found) or "none"
            raise KeyError(f"Nothing was found about {name}; of these there is: {names}.")
        return found[name]

    def by_word(self) -> "dict[str, Findings]":
        """The findings of each word that there is, those of most authors first."""
        ranked = sorted(self, key=lambda each: -len(each.authors))
        words = {word: Findings(each for each in ranked if each.word == word) for word in WORDS}
        return {word: those for word, those in words.items() if those}

    @property
    def sentence(self) -> str:
        """ "Statements: 44, 40 found by one author alone. holds: 18 (1 by several); …" """
        said = [f"{w}: {len(f)} ({f.confirmed} by several)" for w, f in self.by_word().items()]
        alone = len(self) - self.confirmed
        return f"Statements: {len(self)}, {alone} found by one author alone. {'; '.join(said)}."

    @property
    def confirmed(self) -> int:
        """How many of them are by more than one author."""
        return sum(len(each.authors) > 1 for each in self)

    def beside(self, yours: dict[str, str]) -> "Findings":
        """Those of which a reader has a word, {name: word}, which then stands first."""
        chosen = Findings(self[name] for name in yours)
        chosen.yours = yours  # type: ignore[misc]
        return chosen

    def __repr__(self) -> str:
        yours = "".join(f"{name}: {said or '–'} by you\n" for name, said in self.yours.items())
        return "\n\n".join([*([yours] if yours else []), *map(repr, self), self.sentence])

    def _repr_html_(self) -> str:
        heads = ["statement: press it", *["you"] * bool(self.yours), "measured here",
                 "by the evidence", "found by"]  # fmt: skip
        head = "".join(f'<th scope="col" {LEFT}>{each}</th>' for each in heads)
        groups = "".join(
            f'<tbody><tr><th colspan="{len(heads)}" scope="rowgroup" {LEFT}>{word}: {len(those)} '
            f"<small>({WORDS[word]})</small></th></tr>"
            f"{''.join(row(each, self.yours) for each in those)}</tbody>"
            for word, those in self.by_word().items()
        )
        return (f'<div style="overflow-x: auto"><table><caption>{escape(self.sentence)}</caption>'
                f"<thead><tr>{head}</tr></thead>{groups}</table></div>")  # fmt: skip


def row(finding: Finding, yours: dict[str, str]) -> str:
    about = finding.about
    said_by = " and ".join(SPEAKERS[letter] for letter in claims()[about.claim].source)
    more = (f"<details><summary>{escape(about.words)}</summary>{details(finding)}</details>"
            f"<small>so says {escape(said_by)} · page {about.notebook}</small>")  # fmt: skip
    said = [yours[about.name]] if yours else []
    words = [escape(each) or "–" for each in (*said, finding.here, finding.by_evidence)]
    cells = [more, *words, escape(finding.support)]
    return f"<tr>{''.join(f'<td {LEFT}>{each}</td>' for each in cells)}</tr>"
