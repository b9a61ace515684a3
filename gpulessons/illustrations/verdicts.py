"""What decides a statement: its figures as ranges, and the two borders between them."""

import math

from gpulessons.claims.judge import HERE, OPEN, WORDS, zone
from gpulessons.plots.axes import name_rows
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
    figure, axes = blank(8.2, 1.8 + 0.45 * len(finding.figures), title)
    ends = [about.refuted, about.holds, *(end for each in finding.figures
            for end in (each.low, each.high) if math.isfinite(end) and end > 0)]  # fmt: skip
    low, high = min(ends) / 3, max(ends) * 3
    for y, each in enumerate(finding.figures):
        marker, fill, line = LOOKS[each.kind]
        color = BLUE if each.kind in HERE else ORANGE
        span = max(each.low, low), min(each.high, high)
        axes.plot(span, (y, y), color=color, linestyle=line, linewidth=3)
        tips = [end for end in dict.fromkeys((each.low, each.high)) if low < end < high]
        axes.plot(tips, [y] * len(tips), marker=marker, fillstyle=fill, color=color, markersize=9,
                  linestyle="none")  # fmt: skip
    sides = (about.refuted, "← against ", "right"), (about.holds, " for →", "left")
    for border, side, ha in sides:
        axes.axvline(border, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(border, -0.75, side, color=INK, ha=ha, fontsize=9.5)
    name_rows(axes, [f"{each.what}\n({each.kind})" for each in finding.figures])
    axes.set_xscale("log")
    axes.set(xlim=(low, high), xlabel=f"{about.quantity}{', ' * bool(about.unit)}{about.unit}")
    axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x if about.unit == '%' else x:g}")
    said = "; ".join(f"{each.what}, {each.kind}: {each.amount(about.unit)}, "
                     f"{zone(each, about.refuted, about.holds)}" for each in finding.figures)
    return Picture(figure, f"{about.words} {words} {about.test}. {said}.")


def asked(finding):
    """(question, {word: what its figures say}, the right word), for a quiz about a statement."""
    right = finding.here if finding.here != OPEN else finding.by_evidence
    figures = "; ".join(finding.lines) or "nothing was found yet"
    answers = {each: f"{'Yes' * (each == right) or 'Not by these figures'}: {figures}."
               for each in WORDS if each != OPEN or right == OPEN}  # fmt: skip
    return f"{finding.about.words} ({finding.about.quantity})", answers, right
