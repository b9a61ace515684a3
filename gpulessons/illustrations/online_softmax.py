"""The online softmax, a tile at a time: a running maximum, and a sum that is rescaled for it."""

import math
from typing import NamedTuple

from gpulessons.plots.film import Film
from gpulessons.plots.picture import BLUE, INK, ORANGE, VERMILLION, Picture, blank
from gpulessons.units import plural

UP, DOWN, ALONG = "score", "exp(score − largest)", "key; outlined: before it was rescaled"


class Taken(NamedTuple):
    """Where the sweep stands when one more tile was taken in."""

    stop: int  # scores taken in so far
    before: float  # the largest score before this tile, -inf at the first
    row_max: float
    rescale: float  # what the old sum was multiplied by; 0 at the first
    old: float  # the sum before this tile, before it was rescaled
    total: float


def taken_in(scores, tile: int) -> list[Taken]:
    """The states of an online softmax that takes in `tile` scores at a time."""
    states, row_max, total = [], -math.inf, 0.0
    for start in range(0, len(scores), tile):
        new = scores[start : start + tile]
        before, old = row_max, total
        row_max = max(row_max, *new)
        rescale = math.exp(before - row_max)
        total = old * rescale + sum(math.exp(score - row_max) for score in new)
        states.append(Taken(start + len(new), before, row_max, rescale, old, total))
    return states


class Sweep(Film):
    """A row of scores taken in tile by tile: the running maximum, and the sum that it rescales."""

    def __init__(self, scores, tile: int = 4):
        self.scores, self.tile = [float(score) for score in scores], tile
        self.states = taken_in(self.scores, tile)

    def __len__(self):
        return len(self.states)

    def told(self, number):
        now = self.states[number]
        place = f"Tile {number + 1} of {len(self)}"
        if not number:
            return f"{place}: the largest score is {now.row_max:g}, the sum {now.total:.3f}"
        if now.row_max == now.before:
            return f"{place}: {now.row_max:g} stays the largest; the sum grows to {now.total:.3f}"
        return (f"{place}: the largest grows from {now.before:g} to {now.row_max:g}, so the sum so "
                f"far is rescaled: {now.old:.3f} × {now.rescale:.2g}. Now it is "
                f"{now.total:.3f}")

    def figure(self, number: int) -> Picture:
        """The scores with the largest so far, over what each adds to the sum."""
        title = f"{self.told(number)}."
        figure, (above, below) = blank(height=4.2, title=title, nrows=2, sharex=True)
        self.draw(above, below, number)
        above.set_ylabel(UP)
        below.set(ylabel=DOWN, xlabel=ALONG)
        return Picture(figure, title)

    def multiples(self) -> Picture:
        """Every tile, side by side."""
        rescaled = plural(sum(now.rescale < 1 for now in self.states[1:]), "time")
        title = (f"{len(self.scores)} scores in {len(self)} tiles: the sum was rescaled "
                 f"{rescaled}, and ends at {self.states[-1].total:.3f}.")
        figure, panels = blank(width=7.8, height=3.9, title=title, nrows=2, ncols=len(self),
                               sharex=True, sharey="row", squeeze=False)
        for number, (above, below) in enumerate(panels.T):
            self.draw(above, below, number)
            above.set_title(f"tile {number + 1}: sum {self.states[number].total:.2f}",
                            color=INK, fontsize=10)
        panels[0, 0].set_ylabel(UP)
        panels[1, 0].set_ylabel(DOWN)
        figure.supxlabel(ALONG, color=INK, fontsize=10)
        told = ". ".join(map(self.told, range(len(self))))
        return Picture(figure, f"{title} {told}.")

    def draw(self, above, below, number):
        now, start = self.states[number], number * self.tile
        keys, met = range(len(self.scores)), self.scores[: now.stop]
        for axes in (above, below):
            axes.axvspan(start - 0.5, now.stop - 0.5, color=ORANGE, alpha=0.25, linewidth=0)
        above.plot(met, "o", color=BLUE, markersize=5)
        above.plot(keys[now.stop :], self.scores[now.stop :], "o", color="none",
                   markeredgecolor=INK, markersize=5)
        above.plot((-0.5, now.stop - 0.5), (now.row_max, now.row_max), "--", color=VERMILLION)
        below.bar(keys[: now.stop], [math.exp(score - now.row_max) for score in met], color=BLUE)
        if now.rescale < 1:
            below.bar(keys[:start], [math.exp(score - now.before) for score in met[:start]],
                      color="none", edgecolor=INK, linewidth=1)
        below.set(ylim=(0, 1.05), xlim=(-0.7, len(self.scores) - 0.3))

    def __repr__(self):
        return f"an online softmax of {len(self.scores)} scores, {len(self)} tiles"
