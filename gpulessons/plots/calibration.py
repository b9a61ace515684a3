"""A learner's guesses against what was measured: how near, and how many within which factor."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gpulessons import units

from .axes import log_axes
from .picture import INK, PURPLE, Picture, blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# As in every picture a guess is purple. What was counted has another marker and an open one.
LOOKS: dict[str, Any] = {
    "live": {"marker": "o", "color": PURPLE, "markeredgecolor": INK},
    "counted": {"marker": "s", "color": "none", "markeredgecolor": INK},
}
STYLES = {"live": "-", "counted": "--"}
FACTORS = (1.25, 2, 5, 10), (2, 10, 100, 1000, 10_000, 100_000)  # near each other, and far apart
WIDE, HIGH = 6, 9  # of a digit beside a dot, in points


def reliability(calibration: Any) -> Picture:
    """Guess against answer with the diagonal; beside it the share within each factor.

    calibration: a predictions.Calibration. What stands on linear scales has a small panel.
    """
    linear = bool(calibration.distances)
    title = calibration.title
    figure, panels = blank(
        width=8, height=4.6, title=title, nrows=1 + linear, ncols=2, squeeze=False,
        gridspec_kw={"width_ratios": [1.35, 1]},
    )  # fmt: skip
    across = panels[0, 0]
    by_factor, by_distance = (chosen(calibration, ratio) for ratio in (True, False))
    draw_pairs(across, by_factor)
    draw_steps(panels[0, 1], calibration.scores)
    if linear:
        panels[1, 0].remove()  # the left one takes both rows
        across.set_subplotspec(across.get_gridspec()[:, 0])
        draw_shares(panels[1, 1], by_distance)
    names = {e.kind: e.status for e in (*by_factor, *by_distance)}
    for kind in names if len(names) > 1 else ():
        across.plot([], [], label=names[kind], linestyle=STYLES[kind],
                    **{**LOOKS[kind], "color": PURPLE}, markerfacecolor=LOOKS[kind]["color"])
    if len(names) > 1:
        figure.legend(loc="outside lower center", ncols=2, frameon=False, labelcolor=INK)
    figure.draw_without_rendering()  # numbers stand where there is room, once all has its place
    far = sorted(by_factor, key=lambda e: -e.factor)
    number(across, {e.number: (e.median, e.guess) for e in far})
    if linear:
        number(panels[1, 1], {e.number: e.places[::-1] for e in by_distance})
    return Picture(figure, alt(calibration))


def chosen(calibration: Any, ratio: bool) -> list[Any]:
    """The entries that are scored, on scales of the one sort or of the other."""
    return [e for e in calibration.history.entries if e.scored and e.ratio == ratio]


def draw_pairs(axes: "Axes", entries: list[Any]) -> None:
    """A dot for each guess on log axes, over the diagonal and the band of a factor of two."""
    values = [value for e in entries for value in (e.guess, e.median)] or [1, 100]
    low, high = min(values) / 2.5, max(values) * 2.5
    log_axes(axes, x=("the answer", plain), y=("your guess", plain))
    ends = np.array([low, high])
    axes.plot(ends, ends, color=INK, linewidth=1)
    axes.fill_between(ends, ends / 2, ends * 2, color=INK, alpha=0.2, linewidth=0)
    for entry in entries:
        axes.plot(entry.median, entry.guess, markersize=6, linestyle="none", **LOOKS[entry.kind])
    axes.set(xlim=(low, high), ylim=(low, high))


def plain(number: float) -> str:
    return units.three_digits(number)


def draw_steps(axes: "Axes", scores: Any) -> None:
    """For each factor the share of predictions within it: a step up at each of them."""
    top = 12.0
    for kind, score in scores.items():
        factors = score.factors
        top = max(top, 1.2 * factors[-1])
        shares = 100 * np.arange(len(factors) + 1) / len(factors)
        axes.step([1, *factors, 1e9], [*shares, 100], where="post", color=PURPLE,
                  linestyle=STYLES[kind])  # fmt: skip
    ticks = [factor for factor in FACTORS[top > 30] if factor <= top]
    log_axes(axes, x=("within a factor of", units.ratio), ticks=ticks)
    axes.set(xlim=(1, top), ylim=(0, 103))
    axes.set_ylabel("share of predictions")
    percents(axes.yaxis)
    axes.axvline(2, color=INK, linewidth=0.8, alpha=0.5)


def draw_shares(axes: "Axes", entries: list[Any]) -> None:
    """Guess against answer as shares of their scale."""
    axes.plot([0, 1], [0, 1], color=INK, linewidth=1)
    for entry in entries:
        guess, found = entry.places
        axes.plot(found, guess, markersize=6, linestyle="none", **LOOKS[entry.kind])
    axes.set(xlabel="the answer, of a linear scale", ylabel="your guess")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([0, 0.5, 1])
        percents(axis, 100)
    axes.margins(0.08)


def number(axes: "Axes", dots: Any) -> None:
    """Numbers right of their dots, {number: (x, y)}: those that would meet another are left out."""
    ends = np.reshape(list(dots.values()), (-1, 2))
    points = axes.transData.transform(ends) * 72 / axes.figure.dpi
    taken = [(x - 4, x + 4, y) for x, y in points]
    for (name, at), (x, y) in zip(dots.items(), points, strict=True):
        start, stop = x + 5, x + 6 + WIDE * len(str(name))
        if any(a < stop and start < b and abs(y - height) < HIGH for a, b, height in taken):
            continue
        taken.append((start, stop, y))
        axes.annotate(str(name), at, (6, 0), textcoords="offset points", va="center", color=INK,
                      fontsize=9)  # fmt: skip


def percents(axis: Any, times: float = 1) -> None:
    axis.set_major_formatter(lambda share, _: f"{times * share:.0f} %")


def alt(calibration: Any) -> str:
    """The picture in words: its message, the scores, and every dot."""
    entries = [e for ratio in (True, False) for e in chosen(calibration, ratio)]
    dots = "; ".join(
        f"{e.number}: guess {e.scale.write(e.guess)}, {e.status} {e.scale.write(e.median)}"
        for e in entries
    )
    return " ".join([calibration.title, *calibration.words, f"{dots}." if dots else ""]).strip()
