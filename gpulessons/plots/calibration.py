"""A learner's guesses against what was measured: how near, and how many within which factor."""

from typing import Any

import numpy as np

from gpulessons import units

from .axes import log_axes
from .picture import INK, PURPLE, Picture, blank

# As in every picture a guess is purple. What was counted has another marker and an open one.
LOOKS: dict[str, Any] = {
    "live": {"marker": "o", "color": PURPLE, "markeredgecolor": INK},
    "counted": {"marker": "s", "color": "none", "markeredgecolor": INK},
}
FACTORS = 1.25, 2, 5, 10, 100, 1000, 10_000, 100_000


def reliability(calibration: Any) -> Picture:
    """Guess against answer with the diagonal; beside it the share of guesses within each factor.

    calibration: a predictions.Calibration. Guesses on linear scales are in its words alone.
    """
    entries = [e for e in calibration.history.entries if e.scored and e.ratio]
    figure, (left, right) = blank(width=8, height=4.2, title=calibration.title, ncols=2)
    values = [value for e in entries for value in (e.guess, e.median)] or [1, 100]
    ends = np.array([min(values) / 2.5, max(values) * 2.5])
    log_axes(left, x=("the answer", units.three_digits), y=("your guess", units.three_digits))
    left.plot(ends, ends, color=INK, linewidth=1)
    left.fill_between(ends, ends / 2, ends * 2, color=INK, alpha=0.2, linewidth=0)
    for e in entries:
        left.plot(e.median, e.guess, markersize=6, linestyle="none", **LOOKS[e.kind])
        left.annotate(f"{e.number}", (e.median, e.guess), (6, 0), textcoords="offset points",
                      va="center", color=INK, fontsize=9)
    left.set(xlim=ends, ylim=ends)
    factors = sorted(e.factor for e in entries)
    top = max([12.0, *(1.2 * factor for factor in factors[-1:])])
    shares = np.arange(len(factors) + 1) / max(len(factors), 1)
    right.step([1, *factors, 1e9], [*shares, shares[-1]], where="post", color=PURPLE)
    log_axes(right, x=("within a factor of", units.ratio), ticks=[f for f in FACTORS if f <= top])
    right.set(xlim=(1, top), ylim=(0, 1.03), ylabel="share of predictions")
    right.yaxis.set_major_formatter(lambda share, _: units.percent(share))
    dots = "; ".join(f"{e.number}: guess {e.scale.write(e.guess)}, {e.status} "
                     f"{e.scale.write(e.median)}" for e in entries)
    return Picture(figure, " ".join([calibration.title, *calibration.words, dots]).strip())
