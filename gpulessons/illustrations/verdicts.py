"""The claims listed, and every verdict as a mark: a row for each machine, a column for each."""

from dataclasses import dataclass
from html import escape
from textwrap import fill

from gpulessons.hardware.files import notebooks
from gpulessons.plots.forms import key, listed, name_rows
from gpulessons.plots.picture import INK, Picture, blank

# A shape and how it is filled, all in ink: in this course a color names a backend.
MARKS = {
    verdict: {"marker": marker, "fillstyle": fill, "color": INK, "markeredgecolor": INK,
              "markerfacecoloralt": "none", "linestyle": "none"}
    for verdict, marker, fill in (
        ("holds", "o", "full"), ("holds with limits", "o", "left"), ("refuted", "X", "full"),
        ("not testable here", "o", "none"),
    )
}


@dataclass(frozen=True)
class Listed:
    """The claims in words, each with links to the notebooks that test it, beside this page."""

    claims: dict  # {number: Claim}, as in `claims.CLAIMS`

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


def table(*findings) -> Picture:
    """The verdicts of one machine or several: findings as `claims.judge` and `recorded` give them;
    ValueError for none."""
    if not findings:
        raise ValueError("Give at least one machine's findings: claims.judge() has some.")
    numbers = sorted({each.number for found in findings for each in found})
    title = summary(*findings)
    figure, axes = blank(width=9, height=1.5 + 0.5 * len(findings), title=title)
    for y, found in enumerate(findings):
        for each in found:
            axes.plot(numbers.index(each.number), y, markersize=11, **MARKS[each.verdict])
    axes.set_xticks(range(len(numbers)), numbers)
    # Where and when: two short lines.
    name_rows(axes, (f"{found.machine.partition(',')[0][:28]}\n{found.date}" for found in findings))
    axes.set_xlabel("claim")
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    key(figure, MARKS)
    for found in findings:
        numbers = {word: [f"{each.number}" for each in found if each.verdict == word]
                   for word in MARKS}
        told = listed({word: ", ".join(each) for word, each in numbers.items() if each})
        title += f" {found.machine}, {found.date}: {told}."
    return Picture(figure, title)


def summary(first, *others):
    verdicts = {each.number: each.verdict for each in first}
    turned = {each.number for other in others for each in other
              if verdicts.get(each.number, each.verdict) != each.verdict}
    if turned:
        return f"{first.sentence} Not everywhere the same: {', '.join(map(str, sorted(turned)))}."
    return first.sentence + " The other verdicts here agree." * bool(others)
