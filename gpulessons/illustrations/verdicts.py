"""What decides a statement: its figures as ranges, and the two borders between them."""

import math
from textwrap import fill as fill_words

from gpulessons import units
from gpulessons.claims.judge import HERE, HOLDS, LIMITS, OPEN, REFUTED, WORDS, zone
from gpulessons.plots.axes import log_axes, name_rows, two_ticks, written
from gpulessons.plots.picture import BLUE, INK, ORANGE, Picture, blank

# A kind is told by its mark and its line; color only says measured or not.
LOOKS = {
    "live": ("o", "full", "-"), "recorded": ("o", "full", "--"), "published": ("s", "none", "-"),
    "modelled": ("D", "none", ":"), "bounded": ("|", "none", "-"), "counted": ("^", "full", "-"),
    "emulated": ("v", "none", "--"),
}  # fmt: skip


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
                     f"{zone(each, about.refuted, about.holds)}" for each in finding.figures)
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
    about, right = finding.about, finding.together if finding.together in WORDS else OPEN
    said = [each for each in WORDS if each != OPEN or right == OPEN]
    speaking = {word: [each for each in finding.figures
                       if zone(each, about.refuted, about.holds) == word] for word in said}
    if right == LIMITS and not speaking[LIMITS]:  # they disagree: one of either side
        speaking[LIMITS] = [speaking[HOLDS][0], speaking[REFUTED][0]]
    answers = {word: reason(about, word == right, speaking[word]) for word in said}
    return f"“{about.words}” {about.test}", answers, right


def reason(about, right, figures):
    """What the figures of one word say, the first two of them."""
    lines = [f"{each.what}, {each.amount(about.unit)} ({each.kind})" for each in figures[:2]]
    more = f"; and {len(figures) - 2} more" * (len(figures) > 2)
    for_it = f"{'; '.join(lines)}{more}." if figures else "no figure says so."
    if right:
        return f"Yes: {for_it} What would change it: {about.changes}"
    return f"Not by all figures together: {for_it}"
