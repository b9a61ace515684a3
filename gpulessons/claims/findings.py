"""What was found about statements: two words for each, the figures behind them, and the table."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from html import escape

from .judge import EVIDENCE, HERE, OPEN, SAID, Figure, Statement, claims, word
from .known import evidence

NONE = "no figure"  # in place of a word


@dataclass(frozen=True)
class Finding:
    """A statement and its figures."""

    about: Statement
    figures: tuple[Figure, ...]

    @classmethod
    def of(cls, about: Statement, measured: Iterable[Figure]) -> "Finding":
        """What was measured, and beside it the evidence there is."""
        return cls(about, (*measured, *evidence(about.name)))

    def word(self, kinds: tuple[str, ...]) -> str:
        figures = [figure for figure in self.figures if figure.kind in kinds]
        return word(figures, self.about.refuted, self.about.holds) if figures else NONE

    @property
    def here(self) -> str:
        """The word of what was measured, on this machine or on a named one; NONE for nothing."""
        return self.word(HERE)

    @property
    def by_evidence(self) -> str:
        """The word of what is counted, published, modelled or bounded."""
        return self.word(EVIDENCE)

    @property
    def together(self) -> str:
        """The word of all figures."""
        return self.word(HERE + EVIDENCE)

    def judged_from(self, refuted: float, holds: float) -> "Finding":
        """The same figures between other borders."""
        return replace(self, about=replace(self.about, refuted=refuted, holds=holds))

    @property
    def hangs_on(self) -> list[tuple[Figure, str]]:
        """Each figure without which the others, if there are any, give another word; and that."""
        rest = {n: tuple(each for each in self.figures if each is not left_out)
                for n, left_out in enumerate(self.figures)}  # fmt: skip
        words = {n: replace(self, figures=others).together for n, others in rest.items()}
        return [(self.figures[n], word) for n, word in words.items()
                if word not in (self.together, NONE)]  # fmt: skip

    def says(self, figure: Figure) -> str:
        """The word, or words, that one figure alone allows."""
        return word([figure], self.about.refuted, self.about.holds)

    @property
    def lines(self) -> list[str]:
        """Each figure with its kind and the words that it allows."""
        return [
            f"{figure.what}: {figure.amount(self.about.unit)} "
            f"({figure.kind}{f': {figure.where}' * bool(figure.where)}) → {self.says(figure)}"
            for figure in self.figures
        ]

    def __repr__(self) -> str:
        about = self.about
        figures = "".join(f"\n    {line}" for line in self.lines)
        here, evidence = (each.upper() for each in (self.here, self.by_evidence))
        return (
            f"{about.name}. {about.words}\n  measured: {here}; by the evidence: {evidence}\n"
            f"  {about.test}{figures}\n  What would change it: {about.changes}"
        )

    def _repr_html_(self) -> str:
        return (
            f"<p><b>{self.about.name}. {escape(self.about.words)}</b><br>measured: "
            f"<b>{self.here}</b>; by the evidence: <b>{self.by_evidence}</b></p>{details(self)}"
        )


def details(finding: Finding) -> str:
    """The test, the figures and what would change the word, as HTML."""
    figures = "".join(f"<li>{escape(line)}</li>" for line in finding.lines)
    return (
        f"<p>{escape(finding.about.test)}</p><ul>{figures}</ul>"
        f"<p>What would change it: {escape(finding.about.changes)}</p>"
    )


@dataclass(frozen=True)
class Findings:
    """The findings about several statements, in their order."""

    found: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, name: str) -> Finding:
        for each in self.found:
            if each.about.name == name:
                return each
        names = ", ".join(each.about.name for each in self.found) or "none"
        raise KeyError(f"Nothing was found about {name}; of these there is: {names}.")

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """{"measured": {word, or "no figure": how many}, "by the evidence": …}, in their order."""
        columns = {"measured": [each.here for each in self.found],
                   "by the evidence": [each.by_evidence for each in self.found]}  # fmt: skip
        return {name: {each: Counter(said)[each] for each in (*SAID, NONE)}
                for name, said in columns.items()}  # fmt: skip

    @property
    def unanswered(self) -> list[str]:
        """The statements of which neither side says anything."""
        return [each.about.name for each in self.found if each.together in (OPEN, NONE)]

    @property
    def sentence(self) -> str:
        """ "Of 47 statements, measured: 12 hold, …; by the evidence: …" """
        parts = [
            f"{name}: {', '.join(f'{n} {each}' for each, n in said.items() if n)}"
            for name, said in self.counts.items()
        ]
        return f"Statements: {len(self)}. {'; '.join(parts)}."

    def __repr__(self) -> str:
        return "\n\n".join([*map(repr, self.found), self.sentence])

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col" style="text-align: left">{name}</th>'
            for name in ("", "statement", "measured", "by the evidence")
        )
        return (
            '<div style="overflow-x: auto"><table>'
            f"<caption>{escape(self.sentence)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(map(row, self.found))}</tbody></table></div>"
        )

    def to_json(self) -> str:
        """Every finding with its words, for other programs; null for an end that nobody knows."""
        rows = [{**asdict(each), "here": each.here, "by_evidence": each.by_evidence}
                for each in self.found]  # fmt: skip
        text = json.dumps({"format": 2, "found": rows}, indent=1, ensure_ascii=False)
        return text.replace(": -Infinity", ": null").replace(": Infinity", ": null")


def row(finding: Finding) -> str:
    left = 'style="text-align: left; vertical-align: top"'
    about = finding.about
    more = f"<details><summary>{escape(about.words)}</summary>{details(finding)}</details>"
    where = f"{claims()[about.claim].source} · notebook {about.notebook}"
    return (
        f'<tr><th scope="row" {left}>{about.name}</th><td {left}>{more}<small>{where}</small></td>'
        f"<td {left}>{finding.here}</td><td {left}>{finding.by_evidence}</td></tr>"
    )
