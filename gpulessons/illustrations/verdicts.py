"""What decides a statement: its figures as ranges, and the two borders between them."""

import math
from html import escape
from textwrap import fill as fill_words

from gpulessons import units
from gpulessons.claims.judge import HERE, OPEN, REFUTED, SAID, WORDS
from gpulessons.claims.judge import written as in_unit
from gpulessons.plots.axes import log_axes, name_rows, two_ticks, written
from gpulessons.plots.picture import BLUE, INK, ORANGE, Picture, blank

# A kind is told by its mark and its line; color only says measured or not.
LOOKS = {
    "live": ("o", "full", "-"), "recorded": ("o", "full", "--"), "published": ("s", "none", "-"),
    "modelled": ("D", "none", ":"), "bounded": ("|", "none", "-"), "counted": ("^", "full", "-"),
    "emulated": ("v", "none", "--"),
}  # fmt: skip
LEFT = 'style="text-align: left; vertical-align: top"'


def ranges(finding):
    """The figures of a Finding on one axis, a row each, between the statement's two borders."""
    about = finding.about
    words = f"Measured: {finding.here}; by the evidence: {finding.by_evidence}."
    title = f"{about.name}. {about.words}\n{words}"
    figure, axes = blank(8.6, 1.8 + 0.45 * len(finding.figures), title)
    low, high = limits(axes, finding)
    for y, each in enumerate(finding.figures):
        marker, fill, line = LOOKS[each.kind]
        color = BLUE if each.kind in HERE else ORANGE
        axes.plot((max(each.low, low), min(each.high, high)), (y, y), color=color, linestyle=line,
                  linewidth=3)  # fmt: skip
        tips = [end for end in dict.fromkeys((each.low, each.high)) if low < end < high]
        axes.plot(tips, [y] * len(tips), marker=marker, fillstyle=fill, color=color, markersize=9,
                  linestyle="none")  # fmt: skip
    sides = (about.refuted, "← against ", "right"), (about.holds, " for →", "left")
    for border, side, ha in sides:
        axes.axvline(border, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(border, -0.75, side, color=INK, ha=ha, fontsize=9.5)
    name_rows(axes, [f"{fill_words(each.what, 46)}\n({each.kind})" for each in finding.figures])
    said = "; ".join(f"{each.what}, {each.kind}: {each.amount(about.unit)}, "
                     f"{finding.says(each)}" for each in finding.figures)
    return Picture(figure, f"{about.words} {words} {about.test} {said}.")


def limits(axes, finding):
    """The ends of the axis: of a share from nothing to all, of a factor by powers of ten."""
    about = finding.about
    ends = [about.refuted, about.holds, *(end for each in finding.figures
            for end in (each.low, each.high) if math.isfinite(end) and end > 0)]  # fmt: skip
    what = fill_words(f"{about.quantity}{', ' * bool(about.unit)}{about.unit}", 64)
    per_unit = 100 if about.unit == "%" else 1
    told = what, lambda number: units.three_digits(per_unit * number)
    if about.unit == "%" and min(ends) > 0.005:
        low, high = 0, max(1.02, 1.1 * max(ends))
        axes.set_xlabel(what)
        written(axes.xaxis, told[1])
    else:
        low, high = min(ends) / 3, max(ends) * 3
        log_axes(axes, x=told)
    axes.set_xlim(low, high)
    if low:
        two_ticks(axes.xaxis)
    return low, high


def asked(finding):
    """(question with its borders, {word: why, or why not}, the right word), for a quiz."""
    about, right = finding.about, finding.together if finding.figures else OPEN
    low, high = (in_unit(border, about.unit) for border in (about.refuted, about.holds))
    said = dict.fromkeys((*WORDS, right))
    answers = {word: reason(finding, word, right) for word in said}
    question = (f"“{about.words}” Here that is: {about.quantity}. Below {low} it is refuted, "
                f"from {high} on it holds ({about.borders}). What do all figures together say?")
    return question, answers, right


def reason(finding, word, right):
    """Why it is right, or of some figures alone: two of them, those nearest to another word."""
    saying = sorted((each for each in finding.figures if finding.says(each) == word),
                    key=lambda each: -each.high if word == REFUTED else each.low)  # fmt: skip
    if word != right:
        some = told(finding, saying)
        return f"So say some figures, and not all: {some}" if some else "No figure alone says this."
    if not saying:  # they part: one of each side
        sides = {finding.says(each): each for each in finding.figures}
        saying = [sides[each] for each in SAID if each in sides]
    return f"Yes: {told(finding, saying)} What would change it: {finding.about.changes}"


def told(finding, figures):
    """The first two figures in words."""
    unit, more = finding.about.unit, f"; and {len(figures) - 2} more" * (len(figures) > 2)
    lines = [f"{each.what}: {each.amount(unit)} ({each.kind})" for each in figures[:2]]
    return f"{'; '.join(lines)}{more}." if lines else ""


class Hanging:
    """Every word that changes when one figure is left out, as a table."""

    def __init__(self, findings):
        self.rows = [(each, each.hangs_on) for each in findings if each.hangs_on]

    def __repr__(self):
        return "\n".join(f"{each.about.name:4}{each.together} → {word}, without: {left_out.what}"
                         for each, changes in self.rows for left_out, word in changes)  # fmt: skip

    def _repr_html_(self):
        heads = "statement", "all figures", "without this one", "the others"
        head = "".join(f'<th scope="col" {LEFT}>{each}</th>' for each in heads)
        body = "".join(hanging(each, changes) for each, changes in self.rows)
        return (f"<table><caption>Words that hang on one figure: {len(self.rows)}</caption>"
                f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")  # fmt: skip


def hanging(finding, changes):
    """A statement's rows: a figure left out, and the word of the others."""
    about, cells = finding.about, f"<td {LEFT} rowspan={len(changes)}>"
    first = (f'<th scope="rowgroup" {LEFT} rowspan={len(changes)}>{about.name}. '
             f"{escape(about.words)}</th>{cells}{finding.together}</td>")  # fmt: skip
    lines = [f"<td {LEFT}>{escape(left_out.what)} ({left_out.kind})</td><td {LEFT}>{word}</td>"
             for left_out, word in changes]  # fmt: skip
    return f"<tr>{first}{'</tr><tr>'.join(lines)}</tr>"
