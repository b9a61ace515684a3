"""The matrix product on a CPU: blocks for the caches, and registers. Notebook 05 climbs there.

    out = x y      x: (m, k), y: (k, n), out: (m, n), float32

The same plan as on a GPU, with caches in the place of shared memory. Other ops multiply by
`multiply`, on every core, or by its parts.
"""

from numba import njit, prange

from .common import PARALLEL, SERIAL, aligned_empty, ceil_div
from .vectors import LANES, fma, load, store


@njit(**SERIAL)
def ikj(x, y, out):
    for i in range(x.shape[0]):
        out[i] = 0
        for k in range(x.shape[1]):
            for j in range(y.shape[1]):
                out[i, j] += x[i, k] * y[k, j]  # along rows: in vectors


DEPTH, COLUMNS = 128, 512  # of a block of y, 256 KB: it stays in the second cache


# -- Registers: closer than any cache, and results can wait there (Goto & van de Geijn 2008,
# -- "Anatomy of High-Performance Matrix Multiplication"). All is copied into the order in which it
# -- is needed: x in panels of six rows, y in panels of LANES columns.

SIX, ROWS = 6, 192  # rows whose results fill the registers; rows of a tile, 384 KB of results
STRIP = 32  # rows of y that a core packs at a time


def six_rows(load_row):
    """The micro-kernel. load_row(y, k, place): where row k of y is found, LANES wide."""

    @njit(**SERIAL)
    def add_six(x, first, y, place, out, i, j):
        """out[i : i + 6, j : j + LANES] += x[:, first : first + 6]ᵀ y. The results wait in
        registers: a row of y and six numbers of x buy 6 · LANES multiply-adds, and nothing is
        stored before the last of them.
        """
        a, b, c = load(out, i, j), load(out, i + 1, j), load(out, i + 2, j)
        d, e, f = load(out, i + 3, j), load(out, i + 4, j), load(out, i + 5, j)
        for k in range(len(x)):
            row = load_row(y, k, place)
            a = fma(x[k, first], row, a)
            b = fma(x[k, first + 1], row, b)
            c = fma(x[k, first + 2], row, c)
            d = fma(x[k, first + 3], row, d)
            e = fma(x[k, first + 4], row, e)
            f = fma(x[k, first + 5], row, f)
        store(a, out, i, j), store(b, out, i + 1, j), store(c, out, i + 2, j)
        store(d, out, i + 3, j), store(e, out, i + 4, j), store(f, out, i + 5, j)

    return add_six


add_six = six_rows(load)  # place: a column, of a panel the first


@njit(**SERIAL)
def add_product(x, y, out):
    """out += x y of panels, x (…, k, 6) and y (…, k, LANES). A panel of y stays in the first cache
    while all of x passes by.
    """
    for q in range(len(y)):
        for p in range(len(x)):
            add_six(x[p], 0, y[q], 0, out, p * SIX, q * LANES)


@njit(**SERIAL)
def pack_rows(x, panels):
    """x in panels (…, k, 6). Beyond its last row stands that row again, for nobody."""
    for p in range(len(panels)):
        for k in range(x.shape[1]):
            for i in range(SIX):
                panels[p, k, i] = x[min(p * SIX + i, len(x) - 1), k]


@njit(**SERIAL)
def pack(y, panels):
    """y in panels (…, k, LANES), beyond its last column zeros."""
    for q in range(len(panels)):
        for k in range(len(y)):
            row, panel = y[k, q * LANES : (q + 1) * LANES], panels[q, k]
            for j in range(row.size):
                panel[j] = row[j]
            panel[row.size :] = 0


@njit(**SERIAL)
def zeros(rows, columns, dtype):
    """(rows, columns), and room beyond them for what comes in sixes and in LANES. A few columns
    more: rows 4 KB apart would share the same few places of a cache. So would panels.
    """
    shape = ceil_div(rows, SIX) * SIX, ceil_div(columns, LANES) * LANES + 16
    room = aligned_empty(shape, dtype)
    room[...] = 0
    return room


@njit(**SERIAL)
def multiply_tile(x, panels, out):
    """out = x y, on one core, of y in panels; out is in a cache afterwards."""
    tile, depth = zeros(*out.shape, out.dtype), even(x.shape[1], DEPTH)
    for k in range(0, x.shape[1], depth):
        piece = x[:, k : k + depth]
        packed = aligned_empty((len(tile) // SIX, piece.shape[1], SIX), x.dtype)
        pack_rows(piece, packed)
        add_product(packed, panels[:, k : k + depth], tile)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = tile[i, j]


@njit(**SERIAL)
def even(n, most):
    """How long pieces of n are: few, up to `most` long, all alike."""
    return max(1, ceil_div(n, max(1, ceil_div(n, most))))


@njit(**SERIAL)
def tile_of(m, panels):
    """(rows, panels) of a tile of a product with m rows; and how many tiles are side by side."""
    rows, wide = even(ceil_div(m, SIX), ROWS // SIX) * SIX, even(len(panels), COLUMNS // LANES)
    return rows, wide, ceil_div(len(panels), wide)


@njit(**SERIAL)
def tiles_of(m, panels):
    rows, _, across = tile_of(m, panels)
    return ceil_div(m, rows) * across


@njit(**SERIAL)
def fill_tile(n, x, panels, out):
    """Tile n of out = x y, on one core. Returns its rows and its columns, as slices."""
    rows, wide, across = tile_of(len(x), panels)
    i, q = n // across * rows, n % across * wide
    rows, columns = slice(i, i + rows), slice(q * LANES, (q + wide) * LANES)
    multiply_tile(x[rows], panels[q : q + wide], out[rows, columns])
    return rows, columns


def in_panels(y):
    rows = y.shape[0]
    panels = aligned_empty((ceil_div(y.shape[1], LANES), rows + 8, LANES), y.dtype)
    for strip in prange(ceil_div(rows, STRIP)):
        part = slice(strip * STRIP, min(rows, (strip + 1) * STRIP))
        pack(y[part], panels[:, part])
    return panels[:, :rows]


def in_tiles(x, panels, out):
    for n in prange(tiles_of(len(x), panels)):
        fill_tile(n, x, panels, out)


def product(packed, tiles):
    def multiply(x, y, out):
        """out = x y, of any shapes; fastest where rows lie in order, as NumPy makes them."""
        if len(x) < 4 and y.flags.c_contiguous:
            ikj(x, y, out)  # y is used too little to be worth copying
        else:
            tiles(x, packed(y), out)

    return multiply


packed, tiles = njit(**PARALLEL)(in_panels), njit(**PARALLEL)(in_tiles)
multiply = product(packed, tiles)
multiply_one_core = product(njit(**SERIAL)(in_panels), njit(**SERIAL)(in_tiles))
