"""The claims listed, and every verdict as a mark: a row for each machine, a column for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

from gpulessons.hardware.files import notebooks
from gpulessons.plots.forms import listed, name_rows
from gpulessons.plots.picture import INK, Picture, blank

# A shape and how it is filled, all in ink: in this course a color names a backend.
MARKS = {
    "holds": ("o", "full"),
    "holds with limits": ("o", "left"),
    "refuted": ("X", "full"),
    "not testable here": ("o", "none"),
}
LOOK = {"linestyle": "none", "color": INK, "markeredgecolor": INK, "markerfacecoloralt": "none"}


@dataclass(frozen=True)
class Listed:
    """The claims in words, each with links to the notebooks that test it, beside this page.

    claims: {number: Claim}, as in `claims.CLAIMS`.
    """

    claims: Mapping[int, Any]

    def __repr__(self):
        return "\n".join(fill(f"{number:2}  {each.words} ({', '.join(each.notebooks)})", 92,
                              subsequent_indent="    ")
                         for number, each in sorted(self.claims.items()))

    def _repr_html_(self):
        rows = (f"<li>{escape(each.words)} ({', '.join(map(self.linked, each.notebooks))})</li>"
                for _, each in sorted(self.claims.items()))
        return f"<ol>{''.join(rows)}</ol>"

    def linked(self, number):
        for page in notebooks().glob(f"{number}_*.ipynb"):
            return f'<a href="{escape(page.name)}">{number}</a>'
        return number


def table(*findings):
    """The verdicts of one machine or several: findings as `claims.judge` and `recorded` give them.

    Raises ValueError for none.
    """
    if not findings:
        raise ValueError("Give at least one machine's findings: claims.judge() has some.")
    numbers = sorted({each.number for found in findings for each in found})
    title = summary(findings)
    figure, axes = blank(width=9, height=1.5 + 0.5 * len(findings), title=title)
    for y, found in enumerate(findings):
        for each in found:
            marker, fill = MARKS[each.verdict]
            axes.plot(numbers.index(each.number), y, marker=marker, fillstyle=fill, markersize=11,
                      **LOOK)
    name_marks(axes, numbers, map(label, findings))
    for word, (marker, fill) in MARKS.items():
        axes.plot([], [], marker=marker, fillstyle=fill, markersize=9, label=word, **LOOK)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=10, labelcolor=INK)
    return Picture(figure, f"{title} {' '.join(map(in_words, findings))}")


def name_marks(axes, numbers, rows):
    """The claims' numbers below, a name before each row, the first row at the top."""
    axes.set_xticks(range(len(numbers)), numbers)
    name_rows(axes, rows)
    axes.set_xlabel("claim")
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)


def label(found):
    """Where and when: two short lines."""
    return f"{found.machine.partition(',')[0][:28]}\n{found.date}"


def summary(findings):
    first, *others = findings
    verdicts = {each.number: each.verdict for each in first}
    turned = {each.number for other in others for each in other
              if verdicts.get(each.number, each.verdict) != each.verdict}
    if not others:
        return first.sentence
    if not turned:
        return f"{first.sentence} The other verdicts here agree."
    return f"{first.sentence} Not everywhere the same: {', '.join(map(str, sorted(turned)))}."


def in_words(found):
    """One machine's verdicts, read out."""
    numbers = {word: ", ".join(str(each.number) for each in found if each.verdict == word)
               for word in MARKS}
    verdicts = listed({word: each for word, each in numbers.items() if each})
    return f"{found.machine}, {found.date}: {verdicts}."
