"""The claims listed, and every verdict as a mark: a row for each machine, a column for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

from gpulessons.hardware.files import notebooks
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
                         for number, each in sorted(self.claims.items()))  # fmt: skip

    def _repr_html_(self):
        rows = (f"<li>{escape(each.words)} ({', '.join(map(self.linked, each.notebooks))})</li>"
                for _, each in sorted(self.claims.items()))  # fmt: skip
        return f"<ol>{''.join(rows)}</ol>"

    def linked(self, number):
        for page in notebooks().glob(f"{number}_*.ipynb"):
            return f'<a href="{escape(page.name)}">{number}</a>'
        return number


def subjects(claims):
    """The claims, a row for each subject: full squares are about what a GPU does.

    claims: {number: Claim}, as in `claims.CLAIMS`.
    """
    parts = list(dict.fromkeys(each.part for _, each in sorted(claims.items())))
    about = sorted(number for number, each in claims.items() if each.about_gpus)
    title = (f"{len(about)} of {len(claims)} claims are about what a GPU does: they can hold "
             "only where one has had a say.")  # fmt: skip
    figure, axes = blank(width=9, height=1.2 + 0.36 * len(parts), title=title)
    for number, each in claims.items():
        fill = "full" if each.about_gpus else "none"
        axes.plot(number, parts.index(each.part), "s", fillstyle=fill, markersize=9, **LOOK)
    name_marks(axes, sorted(claims), sorted(claims), parts)
    return Picture(figure, f"{title} They are {', '.join(map(str, about))}.")


def table(*findings):
    """The verdicts of one machine or several: findings as `claims.judge` and `recorded` give them.

    Raises ValueError for none.
    """
    if not findings:
        raise ValueError("Give at least one machine's findings: claims.judge() has some.")
    numbers = sorted({each.number for found in findings for each in found})
    place = {number: x for x, number in enumerate(numbers)}
    title = summary(findings)
    figure, axes = blank(width=9, height=1.5 + 0.5 * len(findings), title=title)
    for y, found in enumerate(findings):
        for each in found:
            marker, fill = MARKS[each.verdict]
            axes.plot(place[each.number], y, marker=marker, fillstyle=fill, markersize=11, **LOOK)
    name_marks(axes, range(len(numbers)), numbers, [label(found) for found in findings])
    key(axes)
    return Picture(figure, f"{title} {' '.join(map(in_words, findings))}")


def name_marks(axes, places, numbers, rows):
    """The claims' numbers below, a name before each row, the first row at the top."""
    axes.set_xticks(places, numbers)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("claim")
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)


def label(found):
    """Where and when: two short lines."""
    return f"{found.machine.partition(',')[0][:28]}\n{found.date}"


def summary(findings):
    first, *others = findings
    turned = {each.number for other in others for each in other
              if any(each.number == one.number and each.verdict != one.verdict
                     for one in first)}  # fmt: skip
    if not others:
        return first.sentence
    if not turned:
        return f"{first.sentence} The other verdicts here agree."
    listed = ", ".join(map(str, sorted(turned)))
    return f"{first.sentence} Not everywhere the same: {listed}."


def key(axes):
    """What the marks mean, under the picture."""
    handles = [
        axes.plot([], [], marker=marker, fillstyle=fill, markersize=9, label=word, **LOOK)[0]
        for word, (marker, fill) in MARKS.items()
    ]
    legend = axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.32),
                         ncols=4, frameon=False, fontsize=10)  # fmt: skip
    for text in legend.get_texts():
        text.set_color(INK)


def in_words(found):
    """One machine's verdicts, read out."""
    by_word = {}
    for each in found:
        by_word.setdefault(each.verdict, []).append(str(each.number))
    said = "; ".join(f"{word}: {', '.join(by_word[word])}" for word in MARKS if word in by_word)
    return f"{found.machine}, {found.date}: {said}."
