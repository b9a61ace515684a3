"""What the LSTM's files share: its parameters, its pointwise part, and a product for one core."""

import math

import numpy as np
from numba import njit, prange

from .activations_more import scalar_sigmoid, sigmoid, tanh, vector_sigmoid
from .common import PARALLEL, SERIAL, aligned_empty, ceil_div, tanh32

BATCH = 32  # examples that take a step together


def parameters(inputs, hidden, rng):
    """w: (4·hidden, inputs), u: (4·hidden, hidden), b: (4·hidden,) float32: z stays around 1."""
    w = rng.standard_normal((4 * hidden, inputs), np.float32) / np.float32(inputs**0.5)
    u = rng.standard_normal((4 * hidden, hidden), np.float32) / np.float32(hidden**0.5)
    return w, u, rng.standard_normal(4 * hidden, np.float32)


def flops(x, h, c, w, u, b):
    """Two for each weight, of each example and step; 26 for each unit: 4 sums of two products and a
    bias, 2 each; 3 sigmoids of 4; 2 tanh, one each; 4 to combine.
    """
    rows = x.size // x.shape[-1]
    return rows * (2 * w.size + 2 * u.size + 26 * h.size // x.shape[-2])


# -- What happens to one unit once z, its four preactivations, are known. Written once, lifted to
# -- whoever runs it.


def unit_with(sigmoid, tanh):
    def unit(i, f, g, o, c):
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(c), c

    return unit


# A body this long is not inlined, and a loop that calls is not vectorized, unless it is demanded.
FORCE_INLINE = SERIAL | {"forceinline": True}

array_unit = unit_with(sigmoid, tanh)  # on whole arrays: one pass over memory for each operation
scalar_unit = unit_with(scalar_sigmoid, math.tanh)
vector_unit = njit(**FORCE_INLINE)(unit_with(vector_sigmoid, tanh32))


@njit(**SERIAL)
def pointwise(z, c, new_h, new_c):
    """z: (rows, 4·hidden); the rest (rows, hidden)."""
    rows, hidden = c.shape
    for n in range(rows):
        i, f = z[n, :hidden], z[n, hidden : 2 * hidden]
        g, o = z[n, 2 * hidden : 3 * hidden], z[n, 3 * hidden :]
        for j in range(hidden):
            new_h[n, j], new_c[n, j] = vector_unit(i[j], f[j], g[j], o[j], c[n, j])


HALVES = np.array([[0.5], [0.5], [1], [0.5]], np.float32)
REST = 1 - HALVES


def one_tanh(z, c):
    """The pointwise part in NumPy with one call for four gates: sigmoid(v) = (1 + tanh(v/2)) / 2.

    Overwrites z.
    """
    gates = z.reshape(len(c), 4, -1)
    gates *= HALVES
    np.tanh(gates, out=gates)
    gates *= HALVES
    gates += REST
    i, f, g, o = gates[:, 0], gates[:, 1], gates[:, 2], gates[:, 3]
    c = f * c + i * g
    return o * np.tanh(c), c


# -- A product for one core, of few rows: a library's would start all cores, and wait for them.


@njit(**SERIAL)
def add_thin_product(x, wt, out):
    """out += x wt on one core. x: (rows, depth), wt: (depth, columns), out: (rows, columns).

    Four rows by four deep at a time: a number fetched is used four times, and so is one stored.
    Like matmul's add_product, but without its padding: copying would cost few rows too much.
    """
    rows, depth = len(x) // 4 * 4, len(wt) // 4 * 4
    for n in range(0, rows, 4):
        for k in range(0, depth, 4):
            w0, w1, w2, w3 = wt[k], wt[k + 1], wt[k + 2], wt[k + 3]
            for j in range(wt.shape[1]):  # in vectors
                p, q, r, s = w0[j], w1[j], w2[j], w3[j]
                for m in range(n, n + 4):  # unrolled
                    out[m, j] += x[m, k] * p + x[m, k + 1] * q + x[m, k + 2] * r + x[m, k + 3] * s
    for m in range(len(x)):  # what four does not divide
        for k in range(depth if m < rows else 0, len(wt)):
            for j in range(wt.shape[1]):
                out[m, j] += x[m, k] * wt[k, j]


@njit(**SERIAL)
def spread(b, out):
    """b in every row of out."""
    for n in range(len(out)):
        for j in range(len(b)):
            out[n, j] = b[j]


def in_shares(x, h, c, wt, ut, b, hs, last_c):
    """All steps for four examples at a time. They need nothing of the others: the core that has
    them never waits, and the weights stay in its cache.
    """
    for share in prange(ceil_div(len(h), 4)):
        n = slice(4 * share, 4 * share + 4)
        h_prev, c_prev = h[n], c[n]
        z = aligned_empty((len(x), len(h_prev), len(b)), b.dtype)
        spare = np.empty((2, *h_prev.shape), b.dtype)
        for t in range(len(x)):  # first all that waits for nothing: one matrix at a time in cache
            spread(b, z[t])
            add_thin_product(x[t, n], wt, z[t])
        for t in range(len(x)):
            add_thin_product(h_prev, ut, z[t])
            new_c = last_c[n] if t == len(x) - 1 else spare[t % 2]
            pointwise(z[t], c_prev, hs[t, n], new_c)
            h_prev, c_prev = hs[t, n], new_c


on_one_core, on_every_core = njit(**SERIAL)(in_shares), njit(**PARALLEL)(in_shares)


def aligned_transpose(w):
    """w with a row for each input: vectors then run along the units, from a cache line on."""
    rows = aligned_empty(w.T.shape, w.dtype)
    rows[...] = w.T
    return rows
