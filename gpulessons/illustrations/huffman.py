"""Pictures of a Huffman tree over classes, and of what each class costs in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.picture import BLUE, INK, VERMILLION, Picture, blank
from gpulessons.plots.timings import label_ends


def drawn(tree: Any, words: Sequence[str], word: str | None = None) -> Picture:
    """The tree with a word at each leaf, the way to one of them in color.

    tree: a Tree (ops/huffman.py), whose root is node 0. word: which way; none without.
    """
    if word is not None and word not in words:
        raise ValueError(f"The tree has no leaf {word!r}; it has {', '.join(words)}.")
    lengths = dict(zip(words, map(int, np.diff(tree.starts)), strict=True))
    short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
    title = f"“{short}”: {turns(lengths[short])}. “{long}”: {turns(lengths[long])}."
    if word is not None:
        path = slice(*tree.starts[words.index(word) :][:2])
        steps = ", ".join(map(str, tree.turns[path].tolist()))
        title = f"“{word}” is {steps}: {turns(lengths[word])}."
        if (other := short if short != word else long) != word:
            title += f" “{other}” takes {lengths[other]}."
    places = layout(tree.children.tolist())
    target = ~words.index(word) if word is not None else None
    on_the_way = way(tree.children.tolist(), target)
    figure, axes = blank(width=7.2, height=1.2 + 0.62 * max(lengths.values()), title=title)
    for node, (left, right) in enumerate(tree.children.tolist()):
        for turn, child in enumerate((left, right)):
            (x, y), (to, below) = places[node], places[child]
            taken = child in on_the_way
            color = VERMILLION if taken else INK
            axes.plot([x, to], [y, below], "-", color=color, linewidth=2.2 if taken else 1)
            axes.text((x + to) / 2, (y + below) / 2 + 0.09, f" {turn} ", fontsize=9, color=color,
                      ha="left" if turn else "right", va="center")  # fmt: skip
    inner = np.array([places[node] for node in range(len(tree.children))])
    axes.plot(*inner.T, "o", color=BLUE, markersize=8)
    for place, name in enumerate(words):
        x, y = places[~place]
        axes.text(x, y - 0.12, name, ha="center", va="top", fontsize=10,
                  color=VERMILLION if name == word else INK)  # fmt: skip
    axes.set_axis_off()
    axes.set_ylim(-max(lengths.values()) - 0.6, 0.2)
    axes.margins(x=0.08)
    spoken = "; ".join(f"{name}: {turns(length)}" for name, length in lengths.items())
    return Picture(figure, f"{title} A tree with a decision at each inner node. {spoken}.")


def turns(count: int) -> str:
    return units.plural(count, "decision")


def layout(children: Sequence[Sequence[int]]) -> dict[int, tuple[float, float]]:
    """(x, y) of every node and leaf: leaves side by side, a node above the middle of its two."""
    places: dict[int, tuple[float, float]] = {}
    column = 0

    def put(node, depth):
        nonlocal column
        if node < 0:
            places[node] = float(column), -float(depth)
            column += 1
            return
        below = children[node]
        for child in below:
            put(child, depth + 1)
        places[node] = sum(places[child][0] for child in below) / 2, -float(depth)

    put(0, 0)
    return places


def way(children: Sequence[Sequence[int]], target: int | None, node: int = 0) -> set[int]:
    """The nodes between the root and a leaf, the leaf among them; none without a leaf."""
    if target is None or node < 0:
        return set()
    for child in children[node]:
        if child == target:
            return {child}
        if found := way(children, target, child):
            return {child} | found
    return set()


def rows_read(lengths: dict[int, float]) -> Picture:
    """Rows of weights that one example reads, all of them or those on its path, against classes.

    lengths: {classes: mean length of a path, each class as often as it comes up}.
    """
    most = max(lengths)
    title = (
        f"{units.count(most)} classes: {units.count(most)} rows without a tree, "
        f"{lengths[most]:.1f} with it."
    )
    figure, axes = blank(height=3.9, title=title)
    sizes = sorted(lengths)
    log_axes(axes, x=("classes", units.count), y=("rows read for an example", units.count),
             ticks=sizes)  # fmt: skip
    ways = {"every class": (sizes, "-", INK), "the path": ([lengths[n] for n in sizes], "o-", BLUE)}
    ends = []
    for name, (rows, style, color) in ways.items():
        axes.plot(sizes, rows, style, color=color, markersize=5)
        ends.append((sizes[-1], rows[-1], name, color))
    label_ends(axes, ends)
    spoken = "; ".join(f"{units.count(n)}: {lengths[n]:.1f}" for n in sizes)
    return Picture(figure, f"{title} Mean length of a path, {spoken}. Counted.")
