"""What decides a statement: its figures as ranges, and the two thresholds between them."""

import math
from textwrap import fill as fill_words

from gpulessons import units
from gpulessons.claims.judge import HERE, REFUTED, SAID, WORDS
from gpulessons.claims.judge import written as in_unit
from gpulessons.plots.axes import log_axes, name_rows, two_ticks, written
from gpulessons.plots.picture import BLUE, INK, ORANGE, Picture, blank

# A kind is told by its mark and its line; color only says measured or not.
LOOKS = {
    "live": ("o", "full", "-"), "recorded": ("o", "full", "--"), "published": ("s", "none", "-"),
    "modelled": ("D", "none", ":"), "bounded": ("|", "none", "-"), "counted": ("^", "full", "-"),
    "emulated": ("v", "none", "--"),
}  # fmt: skip


def ranges(finding, span=None):
    """The figures of a Finding on one axis, a row each, between the statement's two thresholds.
    span: the ends of a log axis, where several pictures are compared."""
    about = finding.about
    words = f"Measured: {finding.here}; by the evidence: {finding.by_evidence}."
    title = f"{about.name}. {about.words}\n{words}"
    figure, axes = blank(8.6, 1.8 + 0.45 * len(finding.figures), title)
    low, high = limits(axes, finding, span)
    for y, each in enumerate(finding.figures):
        marker, fill, line = LOOKS[each.kind]
        color = BLUE if each.kind in HERE else ORANGE
        axes.plot((max(each.low, low), min(each.high, high)), (y, y), color=color, linestyle=line,
                  linewidth=3)  # fmt: skip
        tips = [end for end in dict.fromkeys((each.low, each.high)) if low < end < high]
        axes.plot(tips, [y] * len(tips), marker=marker, fillstyle=fill, color=color, markersize=9,
                  linestyle="none")  # fmt: skip
    sides = (about.refuted, "← refuted ", "right"), (about.holds, " holds →", "left")
    for border, side, ha in sides:
        axes.axvline(border, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(border, -0.75, side, color=INK, ha=ha, fontsize=9.5)
    name_rows(axes, [fill_words(f"{each.what} ({each.kind})", 46) for each in finding.figures])
    return Picture(figure, f"{about.words} {words} {about.test} {'; '.join(finding.lines)}.")


def limits(axes, finding, span=None):
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
        low, high = span or (min(ends) / 3, max(ends) * 3)
        log_axes(axes, x=told)
    axes.set_xlim(low, high)
    if low:
        two_ticks(axes.xaxis)
    return low, high


def asked(finding):
    """(question with its thresholds, {word: why, or why not}, the right word), for a quiz."""
    about, right = finding.about, finding.together
    low, high = (in_unit(border, about.unit) for border in (about.refuted, about.holds))
    answers = {word: reason(finding, word, right) for word in (*WORDS, right)}
    below = f"Below {low}" if about.all_or_nothing else f"At {low} or less"
    question = (f"“{about.words}” Here that is: {about.quantity}. {below} it is refuted, from "
                f"{high} on it holds ({about.thresholds}). What do all figures together say?")
    return question, answers, right


def reason(finding, word, right):
    """Why it is right, or of some figures alone: two of them, those nearest to another word."""
    saying = [each for each in finding.figures if finding.says(each) == word]
    saying.sort(key=lambda each: -each.high if word == REFUTED else each.low)
    if word == right and not saying:  # they part: one of each side
        sides = {finding.says(each): each for each in finding.figures}
        saying = [sides[each] for each in SAID if each in sides]
    lines = [f"{each.what}: {each.amount(finding.about.unit)} ({each.kind})" for each in saying[:2]]
    said = "; ".join([*lines, *[f"and {len(saying) - 2} more"] * (len(saying) > 2)])
    if word == right:
        return f"Yes: {said}. What would change it: {finding.about.changes}"
    return f"So say some figures, and not all: {said}." if said else "No figure alone says this."
