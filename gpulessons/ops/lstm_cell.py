"""LSTM cell: one step of a network that remembers.

    z = x wᵀ + h uᵀ + b                the preactivations of four gates: z_i, z_f, z_g, z_o
    i = sigmoid(z_i)                   what to let in        f = sigmoid(z_f): what to keep
    g = tanh(z_g)                      what there is to add  o = sigmoid(z_o): what to show
    c' = f c + i g                     the cell state, its memory
    h' = o tanh(c')                    what the next layer, and the next step, see

Hochreiter & Schmidhuber 1997; Gers et al. 2000 for f. Eight products, all independent, then a
little arithmetic on every unit alone. The weights lie as PyTorch's do, the gates stacked in the
order i, f, g, o: w is `weight_ih_l0`, u is `weight_hh_l0`, b is `bias_ih_l0 + bias_hh_l0`.
"""

import math

import numpy as np
from numba import cuda, float32, njit

from gpulessons.backends import gpu, host
from gpulessons.operation import Case, op

from .activations_more import (
    device_sigmoid,
    sigmoid,
    sigmoid_kernel,
    tanh_kernel,
    vector_sigmoid,
)
from .common import SERIAL, THREADS, ceil_div, tanh32
from .dense import T_PADDED, T, linear_kernel, tile_dot, tiles
from .vectors import full_width


def parameters(inputs, hidden, rng):
    """w: (4·hidden, inputs), u: (4·hidden, hidden), b: (4·hidden,) float32: z stays around 1."""
    w = rng.standard_normal((4 * hidden, inputs), np.float32) / np.float32(inputs**0.5)
    u = rng.standard_normal((4 * hidden, hidden), np.float32) / np.float32(hidden**0.5)
    return w, u, rng.standard_normal(4 * hidden, np.float32)


def one_step(hidden, rng, batch=32, inputs=None):
    """x: (batch, inputs), h and c: (batch, hidden), then the parameters. By default as many
    inputs as hidden units. One example is far out, where a careless exp fails.
    """
    x = rng.standard_normal((batch, inputs or hidden), np.float32)
    x[0] *= 30
    h, c = rng.standard_normal((2, batch, hidden), np.float32)
    return x, np.tanh(h), c, *parameters(x.shape[1], hidden, rng)


def flops(x, h, c, w, u, b):
    """Two for each weight, of each example and step; 26 for each unit: 4 sums of 2, 3 sigmoids of
    4, 2 tanh, 4 to combine.
    """
    rows = x.size // x.shape[-1]
    return rows * (2 * w.size + 2 * u.size + 26 * h.size // x.shape[-2])


@op(inputs=one_step, flops=flops, sizes=(64, 256, 1024), rtol=2e-5, unit="hidden units",
    edge_cases=[Case(n, batch=3, inputs=n + 2) for n in (5, 17, 33, 1)],
    signature="(batch, inputs), (batch, hidden), (batch, hidden), "
              "(gates, inputs), (gates, hidden), (gates,)")  # fmt: skip
def lstm_cell(x, h, c, w, u, b):
    """The new h and c, of the shapes of h and c. Shapes of all: see `one_step`."""
    i, f, g, o = np.split(x @ w.T + h @ u.T + b, 4, axis=1)  # two products serve the four gates
    return array_unit(i, f, g, o, c)


def array_unit(i, f, g, o, c):
    """All that follows the products, on whole arrays: a pass over memory for each operation."""
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


@lstm_cell.version("NumPy, eight products", on=host)
def eight_products(x, h, c, w, u, b):  # the same multiplications as in two
    i, f, g, o = (
        x @ w_gate.T + h @ u_gate.T + b_gate
        for w_gate, u_gate, b_gate in zip(*(np.split(p, 4) for p in (w, u, b)), strict=True)
    )
    return array_unit(i, f, g, o, c)


# -- Numba: everything after the products in one pass. A body this long is not inlined, and a loop
# -- that calls is not vectorized, unless it is demanded.

FORCE_INLINE = SERIAL | {"forceinline": True}


@njit(**FORCE_INLINE)
def vector_unit(i, f, g, o, c):
    """array_unit for one unit, in arithmetic that the compiler can vectorize."""
    c = vector_sigmoid(f) * c + vector_sigmoid(i) * tanh32(g)
    return vector_sigmoid(o) * tanh32(c), c


@njit(**SERIAL)
def pointwise(z, c, new_h, new_c):
    """z: (rows, 4·hidden); the rest (rows, hidden)."""
    full_width()
    rows, hidden = c.shape
    for n in range(rows):
        i, f = z[n, :hidden], z[n, hidden : 2 * hidden]
        g, o = z[n, 2 * hidden : 3 * hidden], z[n, 3 * hidden :]
        for j in range(hidden):
            new_h[n, j], new_c[n, j] = vector_unit(i[j], f[j], g[j], o[j], c[n, j])


# -- On the GPU: fewer launches from one version to the next, and less that goes through memory.


@cuda.jit
def add_product_kernel(x, w, out):
    """out += x wᵀ. (out = x wᵀ + b is linear_kernel.)"""
    j, i = cuda.grid(2)
    total = tile_dot(x, w)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] += total


@cuda.jit
def cell_state_kernel(i, f, g, c, new_c):
    k = cuda.grid(1)
    if k < c.size:
        new_c[k] = f[k] * c[k] + i[k] * g[k]


@cuda.jit
def output_kernel(o, tanh_c, new_h):
    k = cuda.grid(1)
    if k < o.size:
        new_h[k] = o[k] * tanh_c[k]


@lstm_cell.version("CUDA, eight products", on=gpu, prepares=True)
def launch_eight(x, h, c, w, u, b, out):
    """Fifteen kernels."""
    hidden, per_element = h.shape[1], (ceil_div(h.size, THREADS), THREADS)
    i, f, g, o = gates = [gpu.empty(h.size, h.dtype) for _ in range(4)]
    rows = [slice(k * hidden, (k + 1) * hidden) for k in range(4)]
    parts = [(w[r], u[r], b[r], gate.reshape(h.shape)) for r, gate in zip(rows, gates, strict=True)]
    old_c, new_h, new_c = (each.ravel() for each in (c, *out))

    def call():
        for gate, (w_gate, u_gate, b_gate, z) in zip(gates, parts, strict=True):
            linear_kernel[tiles(*h.shape)](x, w_gate, b_gate, z)
            add_product_kernel[tiles(*h.shape)](h, u_gate, z)
            activation = tanh_kernel if gate is g else sigmoid_kernel
            activation[per_element](gate, gate)
        cell_state_kernel[per_element](i, f, g, old_c, new_c)
        tanh_kernel[per_element](new_c, i)
        output_kernel[per_element](o, i, new_h)

    return call


@cuda.jit(device=True)
def device_unit(i, f, g, o, c):
    """array_unit for one unit: its five numbers are in registers."""
    c = device_sigmoid(f) * c + device_sigmoid(i) * math.tanh(g)
    return device_sigmoid(o) * math.tanh(c), c


@cuda.jit
def unit_kernel(z, c, new_h, new_c):
    """All that follows the products, for one unit of one example, in registers."""
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    if n < c.shape[0] and j < hidden:
        i, f = z[n, j], z[n, j + hidden]
        g, o = z[n, j + 2 * hidden], z[n, j + 3 * hidden]
        new_h[n, j], new_c[n, j] = device_unit(i, f, g, o, c[n, j])


@lstm_cell.version("CUDA, two products, fused pointwise", on=gpu, prepares=True)
def launch_fused(x, h, c, w, u, b, out):
    """Three kernels."""
    batch, hidden = h.shape
    z = gpu.empty((batch, 4 * hidden), h.dtype)

    def call():
        linear_kernel[tiles(*z.shape)](x, w, b, z)
        add_product_kernel[tiles(*z.shape)](h, u, z)
        unit_kernel[tiles(batch, hidden)](z, c, *out)

    return call


@cuda.jit(device=True)
def four_dots(x, w):
    """tile_dot for the four gates of unit j and example i: x[i] is fetched once for all."""
    xs = cuda.shared.array((T, T), float32)
    ws = cuda.shared.array((4, T, T_PADDED), float32)
    tx, ty, hidden = cuda.threadIdx.x, cuda.threadIdx.y, w.shape[0] // 4
    n, row = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + ty
    i = f = g = o = float32(0)
    for start in range(0, x.shape[1], T):
        k = start + tx
        xs[ty, tx] = x[n, k] if n < x.shape[0] and k < x.shape[1] else float32(0)
        for gate in range(4):
            inside = row < hidden and k < x.shape[1]
            ws[gate, tx, ty] = w[gate * hidden + row, k] if inside else float32(0)
        cuda.syncthreads()  # all tiles are complete
        for k in range(T):
            value = xs[ty, k]
            i += value * ws[0, k, tx]
            f += value * ws[1, k, tx]
            g += value * ws[2, k, tx]
            o += value * ws[3, k, tx]
        cuda.syncthreads()  # and have been read by all
    return i, f, g, o


@cuda.jit
def cell_kernel(x, h, c, w, u, b, new_h, new_c):
    """The whole step: the four preactivations of a unit never leave their thread."""
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    xi, xf, xg, xo = four_dots(x, w)
    hi, hf, hg, ho = four_dots(h, u)
    if n < c.shape[0] and j < hidden:
        i, f = xi + hi + b[j], xf + hf + b[j + hidden]
        g, o = xg + hg + b[j + 2 * hidden], xo + ho + b[j + 3 * hidden]
        new_h[n, j], new_c[n, j] = device_unit(i, f, g, o, c[n, j])


@lstm_cell.version("CUDA, one kernel", on=gpu)
def launch_one(x, h, c, w, u, b, out):
    cell_kernel[tiles(*h.shape)](x, h, c, w, u, b, *out)
