"""What no GPU can do sooner, beside what this CPU was measured to do: one-sided, by data sheets.

A roof is {card: seconds(size)}, of `warplens.model.devices.Sheet.least`: a card takes at least so
long. How much longer nobody says, so a roof shows that the CPU is ahead, and never that it is not.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from gpulessons.plots.forms import LOOKS

Seconds = Callable[[float], float]


def between(measured: Mapping[float, float]) -> Seconds:
    """Seconds at any size, on straight lines between measured ones, both axes on log scales."""
    sizes, seconds = (np.log([*each]) for each in (measured, measured.values()))
    return lambda size: float(np.exp(np.interp(np.log(size), sizes, seconds)))


def dotted(roofs: Mapping[str, Seconds], what: str, sizes: Iterable[float]) -> list[tuple]:
    """A line without marks for each roof, for `log_lines`. what: what the cards do."""
    sizes = list(sizes)
    return [(f"{what} on {article(card)}, at best", sizes, [*map(roof, sizes)],
             {"color": look["color"], "linestyle": ":", "linewidth": 1.2})
            for (card, roof), look in zip(roofs.items(), LOOKS[3:], strict=False)]


def decided(roofs: Mapping[str, Seconds], took: Seconds, sizes: Iterable[float], *,
            who: str, write: Callable[[float], str]) -> str:  # fmt: skip
    """From which size on no card can be as quick as `who`, which `took` so long, up to the last.

    Where a card might be, at the last size or at all, the sentence says that nothing is decided.
    """
    sizes, ahead, undecided = list(sizes), [], []
    for card, roof in roofs.items():
        behind = [n for n, size in enumerate(sizes, 1) if took(size) >= roof(size)]
        start = behind[-1] if behind else 0  # after the last size at which the card may be as quick
        if start < len(sizes):
            ahead.append((card, f"from {write(sizes[start])} on"))
        else:
            undecided.append(article(card))
    said = []
    if ahead:
        (first, since), *more = ahead
        others = "".join(f", no {card} {on}" for card, on in more)
        said.append(f"By brute force no {first} can be as quick as {who} {since}{others}.")
    if undecided:
        said.append(f"Of {' and '.join(undecided)} the bound decides nothing.")
    return " ".join(said)


def article(card: str) -> str:
    return f"an {card}" if card[0] in "AH" else f"a {card}"
