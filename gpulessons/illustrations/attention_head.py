"""One head of attention: its matrices where they multiply, and the row of one token through them.

A product's left factor stands left of it, its right factor above: a number lies where a row of the
one meets a column of the other.
"""

from collections.abc import Sequence

import numpy as np

from gpulessons.ops.softmax import softmax
from gpulessons.plots.picture import BLUE, INK, ORANGE, Picture, blank

GAP = 3.6  # cells between two matrices that stand side by side
WORD = 2.6  # cells that a token's word may take


def shares_of(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """(queries, keys): how much of each value a query takes. q, k: (tokens, head size)."""
    return softmax(q @ k.T / np.sqrt(q.shape[1]))


def head(words: Sequence[str], q: np.ndarray, k: np.ndarray, v: np.ndarray, token: int) -> Picture:
    """Who attends to whom in one head, and the way of `token`'s row to its result.

    q, k, v: (tokens, head size), a row for each of `words`. Made for a slider over `token`.
    """
    shares, (tokens, width) = shares_of(q, k), q.shape
    most = shares[token].argmax()
    blues = 0.5 * shares / shares.max()  # either theme's ink stays legible on it
    title = (
        f"Token {token}, “{words[token]}”, takes {shares[token, most]:.0%} of the value of token "
        f"{most}, “{words[most]}”: the rows of v, mixed by its row of shares, are its result."
    )
    figure, axes = blank(width=8.2, height=4.6, title=title)
    left = np.cumsum([0, width + GAP, tokens + GAP, tokens + GAP + WORD])
    above = -tokens - 2.6  # the top of the upper row of matrices
    matrix(axes, left[0], 0, (tokens, width), "q")
    matrix(axes, left[1], 0, (tokens, tokens), f"scores: q kᵀ / √{width}")
    matrix(axes, left[1], above + tokens - width, (width, tokens), "kᵀ")
    matrix(axes, left[2], 0, (tokens, tokens), "shares: softmax of each row")
    matrix(axes, left[3], 0, (tokens, width), "result: shares v")
    matrix(axes, left[3], above, (tokens, width), "v")
    for i, j in np.ndindex(shares.shape):
        cell(axes, left[2] + j, i, (1, 1), BLUE, "none", blues[i, j])
    said = {"ha": "center", "va": "center", "color": INK, "fontsize": 9}
    for j, share in enumerate(shares[token]):
        cell(axes, left[3], above + j, (width, 1), BLUE, "none", blues[token, j])
        axes.text(left[2] + j + 0.5, token + 0.5, f"{100 * share:.0f}", **said)
        axes.text(left[1] + j + 0.5, above + tokens - width - 0.2, words[j], rotation=90,
                  **said | {"va": "bottom"})  # fmt: skip
        for start, top in ((left[0], 0), (left[3], above)):
            axes.text(start - 0.3, top + j + 0.5, words[j], **said | {"ha": "right"})
    for start, columns in zip(left, (width, tokens, tokens, width), strict=True):
        cell(axes, start, token, (columns, 1), "none", ORANGE)
    axes.text(-WORD, above, f"orange: the row of token {token}\nblue: shares, here in %",
              va="top", color=INK, fontsize=9)  # fmt: skip
    axes.set(xlim=(-WORD - 0.2, left[3] + width + 1.5), ylim=(tokens + 2, above - 0.1))
    axes.set_aspect("equal")
    axes.set_axis_off()
    spoken = ", ".join(
        f"{word} {share:.0%}" for word, share in zip(words, shares[token], strict=True)
    )
    return Picture(
        figure,
        f"{title} q, k, v and the result are {tokens} × {width}, scores and shares {tokens} × "
        f"{tokens}. Its shares: {spoken}.",
    )


def matrix(axes, x, y, shape, name):
    """An outline of `shape` (rows, columns) cells; its name and its shape beneath."""
    rows, columns = shape
    cell(axes, x, y, (columns, rows), "none", INK)
    axes.text(x + columns / 2, y + rows + 0.15, f"{name}\n{rows} × {columns}", ha="center",
              va="top", color=INK, fontsize=9)  # fmt: skip


def cell(axes, x, y, size, face, edge, alpha=1.0):
    """A box of `size` (columns, rows) cells, its upper left corner at (x, y)."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    face = face if face == "none" else to_rgba(face, alpha)
    axes.add_patch(Rectangle((x, y), *size, facecolor=face, edgecolor=edge, linewidth=1.5))
