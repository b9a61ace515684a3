"""What was found about statements: two words for each, the figures behind them, and the table."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from html import escape

from .judge import EVIDENCE, HERE, REFUTED, SAID, Figure, Statement, claims, word
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
        """The same figures between other thresholds."""
        return replace(self, about=replace(self.about, refuted=refuted, holds=holds))

    @property
    def sources(self) -> list[str]:
        """Who stands behind the figures, each once."""
        return list(dict.fromkeys(figure.source for figure in self.figures))

    @property
    def hangs_on(self) -> list[tuple[str, str]]:
        """Each source without which the others, if there are any, give another word; and that."""
        words = {name: replace(self, figures=tuple(each for each in self.figures
                                                   if each.source != name)).together
                 for name in self.sources}  # fmt: skip
        return [pair for pair in words.items() if pair[1] not in (self.together, NONE)]

    @property
    def stands(self) -> bool:
        """Whether its word is of several sources and stays without any one of them. Against all or
        nothing a counterexample is enough."""
        enough = self.about.all_or_nothing and self.together == REFUTED
        return enough or (len(self.sources) > 1 and not self.hangs_on)

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
        return (f"{about.name}. {about.words}\n  measured: {here}; by the evidence: {evidence}\n"
                f"  {about.test}{figures}\n  What would change it: {about.changes}")  # fmt: skip

    def _repr_html_(self) -> str:
        about, html = self.about, details(self)
        return (f"<p><b>{about.name}. {escape(about.words)}</b><br>measured: <b>{self.here}</b>; "
                f"by the evidence: <b>{self.by_evidence}</b></p>{html}")  # fmt: skip


def details(finding: Finding) -> str:
    """The test, the figures and what would change the word, as HTML."""
    figures = "".join(f"<li>{escape(line)}</li>" for line in finding.lines)
    return (
        f"<p>{escape(finding.about.test)}</p><ul>{figures}</ul>"
        f"<p>What would change it: {escape(finding.about.changes)}</p>"
    )


class Findings(tuple[Finding, ...]):
    """The findings about several statements, in their order."""

    def __getitem__(self, name: str) -> Finding:  # type: ignore[override]
        found = {each.about.name: each for each in self}
        if name not in found:
            names = ", ".join(found) or "none"
            raise KeyError(f"Nothing was found about {name}; of these there is: {names}.")
        return found[name]

    @property
    def sentence(self) -> str:
        """ "Statements: 44. measured: 8 holds, …; by the evidence: …" """
        columns = {"measured": [each.here for each in self],
                   "by the evidence": [each.by_evidence for each in self]}  # fmt: skip
        parts = [f"{name}: " + ", ".join(f"{said.count(word)} {word}" for word in (*SAID, NONE)
                                         if word in said)
                 for name, said in columns.items()]  # fmt: skip
        return f"Statements: {len(self)}. {'; '.join(parts)}."

    def __repr__(self) -> str:
        return "\n\n".join([*map(repr, self), self.sentence])

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col" style="text-align: left">{name}</th>'
            for name in ("", "statement", "measured", "by the evidence")
        )
        return (
            '<div style="overflow-x: auto"><table>'
            f"<caption>{escape(self.sentence)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(map(row, self))}</tbody></table></div>"
        )

    def to_json(self) -> str:
        """Every finding with its words, for other programs; null for an end that nobody knows."""
        rows = [{**asdict(each), "here": each.here, "by_evidence": each.by_evidence}
                for each in self]  # fmt: skip
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
