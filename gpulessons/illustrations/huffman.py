"""A picture of a Huffman tree over classes."""

import numpy as np

from gpulessons import units
from gpulessons.plots.forms import listed
from gpulessons.plots.picture import BLUE, INK, VERMILLION, Picture, blank


def drawn(tree, words, word: str) -> Picture:
    """A Tree (ops/huffman.py), whose root is node 0, a word at each leaf, the way to one in color.
    """
    lengths = dict(zip(words, map(int, np.diff(tree.starts)), strict=True))
    path = tree.turns[slice(*tree.starts[words.index(word) :][:2])].tolist()
    title = f"“{word}” is {', '.join(map(str, path))}: {turns(lengths[word])}."
    figure, axes = blank(width=7.2, height=1.2 + 0.62 * max(lengths.values()), title=title)
    draw_node(axes, tree.children.tolist(), words, 0, 0, path, [0])
    axes.set_axis_off()
    axes.set_ylim(-max(lengths.values()) - 0.6, 0.2)
    axes.margins(x=0.08)
    spoken = listed({name: turns(length) for name, length in lengths.items()})
    return Picture(figure, f"{title} A tree with a decision at each inner node. {spoken}.")


def draw_node(axes, children, words, node, depth, path, leaves):
    """A node over the middle of its two, or a leaf in the next column; returns where it stands.

    path: the decisions that lead from here to the chosen leaf; None off its way. leaves: [how many
    are drawn], counted up.
    """
    if node < 0:
        x, leaves[0] = leaves[0], leaves[0] + 1
        color = INK if path is None else VERMILLION
        axes.text(x, -depth - 0.12, words[~node], ha="center", va="top", fontsize=10, color=color)
        return x
    taken = [path[1:] if path and path[0] == turn else None for turn in (0, 1)]
    below = [draw_node(axes, children, words, child, depth + 1, way, leaves)
             for child, way in zip(children[node], taken, strict=True)]
    x = sum(below) / 2
    for turn, to in enumerate(below):
        color, wide = (INK, 1) if taken[turn] is None else (VERMILLION, 2.2)
        axes.plot([x, to], [-depth, -depth - 1], "-", color=color, linewidth=wide, zorder=1)
        axes.text((x + to) / 2, -depth - 0.41, f" {turn} ", fontsize=9, color=color,
                  ha="left" if turn else "right", va="center")
    axes.plot(x, -depth, "o", color=BLUE, markersize=8)
    return x


def turns(count: int) -> str:
    return units.plural(count, "decision")
