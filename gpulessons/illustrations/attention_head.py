"""One head of attention: its matrices where they multiply, and the row of one token through them.

A product's left factor stands left of it, its right factor above: a number lies where a row of the
one meets a column of the other.
"""

from functools import partial

import numpy as np

from gpulessons.ops.softmax import softmax
from gpulessons.plots.forms import rectangle, write
from gpulessons.plots.picture import BLUE, ORANGE, Picture, blank

GAP = 3.6  # cells between two matrices that stand side by side
WORD = 2.6  # cells that a token's word may take
write = partial(write, fontsize=9)


def shares_of(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """(queries, keys): how much of each value a query takes. q, k: (tokens, head size)."""
    return softmax(q @ k.T / np.sqrt(q.shape[1]))


def head(words, q: np.ndarray, k: np.ndarray, v: np.ndarray, token: int) -> Picture:
    """Who attends to whom in one head, and the way of `token`'s row to its result.

    q, k, v: (tokens, head size), a row for each of `words`. Made for a slider over `token`.
    """
    shares, (tokens, width) = shares_of(q, k), q.shape
    row, most = shares[token], shares[token].argmax()
    title = (
        f"Token {token}, “{words[token]}”, takes {row[most]:.0%} of the value of token "
        f"{most}, “{words[most]}”: the rows of v, mixed by its row of shares, are its result."
    )
    figure, axes = blank(width=8.2, height=4.6, title=title)
    left = np.cumsum([0, width + GAP, tokens + GAP, tokens + GAP + WORD])
    above = -tokens - 2.6  # the top of the upper row of matrices
    for x, y, rows, columns, name in (
        (left[0], 0, tokens, width, "q"), (left[1], 0, tokens, tokens, f"q kᵀ / √{width}"),
        (left[1], above + tokens - width, width, tokens, "kᵀ"),
        (left[2], 0, tokens, tokens, "shares: softmax of each row"),
        (left[3], 0, tokens, width, "result: shares v"), (left[3], above, tokens, width, "v"),
    ):
        rectangle(axes, x, y, columns, rows, linewidth=1.5)
        write(axes, x + columns / 2, y + rows + 0.15, f"{name}\n{rows} × {columns}", va="top")
    for (i, j), share in np.ndenumerate(0.5 * shares / shares.max()):
        rectangle(axes, left[2] + j, i, 1, 1, facecolor=(BLUE, share), edgecolor="none")
        if i == token:
            rectangle(axes, left[3], above + j, width, 1, facecolor=(BLUE, share), linewidth=0)
    for j, share in enumerate(row):
        write(axes, left[2] + j + 0.5, token + 0.5, f"{100 * share:.0f}")
        write(axes, left[1] + j + 0.5, above + tokens - width - 0.2, words[j], rotation=90,
              va="bottom")
        for start, top in ((left[0], 0), (left[3], above)):
            write(axes, start - 0.3, top + j + 0.5, words[j], ha="right")
    for start, columns in zip(left, (width, tokens, tokens, width), strict=True):
        rectangle(axes, start, token, columns, 1, edgecolor=ORANGE, linewidth=1.5)
    write(axes, -WORD, above, f"orange: the row of token {token}\nblue: shares, here in %",
          ha="left", va="top")
    axes.set(xlim=(-WORD - 0.2, left[3] + width + 1.5), ylim=(tokens + 2, above - 0.1))
    axes.set_aspect("equal")
    axes.set_axis_off()
    spoken = ", ".join(f"{word} {share:.0%}" for word, share in zip(words, row, strict=True))
    return Picture(figure, f"{title} q, k, v and the result are {tokens} × {width}, scores and "
                   f"shares {tokens} × {tokens}. Its shares: {spoken}.")
