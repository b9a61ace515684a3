"""The LSTM on a GPU: from many kernels a step to one kernel for all steps.

x: (rows, depth), w: (columns, depth), as PyTorch keeps weights: the products are tile_dot's, of
dense.py, where w is transposed on its way into shared memory. z: the preactivations.
"""

import math

from numba import cuda, float32

from .activations_more import device_sigmoid as sigmoid
from .activations_more import sigmoid_kernel, tanh_kernel  # noqa: F401 (lstm_cell's)
from .dense import T_PADDED, T, tile_dot
from .lstm_parts import unit_with

MAX_HIDDEN = 64  # units whose weights one block can keep in its registers
GATES = 4 * MAX_HIDDEN

unit = cuda.jit(device=True)(unit_with(sigmoid, math.tanh))


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


# -- Products and pointwise parts, each a kernel. (x wᵀ + b is dense.linear_kernel.)


@cuda.jit
def add_product_kernel(x, w, out):
    """out += x wᵀ."""
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


@cuda.jit
def unit_kernel(z, c, new_h, new_c):
    """All that follows the products, for one unit of one example, in registers."""
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    if n < c.shape[0] and j < hidden:
        i, f = z[n, j], z[n, j + hidden]
        g, o = z[n, j + 2 * hidden], z[n, j + 3 * hidden]
        new_h[n, j], new_c[n, j] = unit(i, f, g, o, c[n, j])


# -- The whole step in one kernel: the four preactivations of a unit never leave their thread.


@cuda.jit
def cell_kernel(x, h, c, w, u, b, new_h, new_c):
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    xi, xf, xg, xo = four_dots(x, w)
    hi, hf, hg, ho = four_dots(h, u)
    if n < c.shape[0] and j < hidden:
        i, f = xi + hi + b[j], xf + hf + b[j + hidden]
        g, o = xg + hg + b[j + 2 * hidden], xo + ho + b[j + 3 * hidden]
        new_h[n, j], new_c[n, j] = unit(i, f, g, o, c[n, j])


@cuda.jit
def step_kernel(z, h, c, u, new_h, new_c):
    """cell_kernel where z = x wᵀ + b is known already."""
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    i, f, g, o = four_dots(h, u)
    if n < c.shape[0] and j < hidden:
        i, f = i + z[n, j], f + z[n, j + hidden]
        g, o = g + z[n, j + 2 * hidden], o + z[n, j + 3 * hidden]
        new_h[n, j], new_c[n, j] = unit(i, f, g, o, c[n, j])


@cuda.jit
def wave_kernel(tick, first, x, h, c, w, u, b, states, hs, last_c):
    """Several layers at once: the block's layer, at its own step, which is `layer` ticks behind.

    states: (2, layers, batch, hidden), h after even steps and after odd ones: a layer writes the
    one while the layer above reads the other.
    """
    layer, (j, n), hidden = first + cuda.blockIdx.z, cuda.grid(2), c.shape[2]
    step = tick - layer
    if layer == 0:
        xi, xf, xg, xo = four_dots(x[step], w[0])
    else:
        xi, xf, xg, xo = four_dots(states[step % 2, layer - 1], w[layer])
    if step == 0:
        hi, hf, hg, ho = four_dots(h[layer], u[layer])
    else:
        hi, hf, hg, ho = four_dots(states[(step + 1) % 2, layer], u[layer])
    if n < c.shape[1] and j < hidden:
        i, f = xi + hi + b[layer, j], xf + hf + b[layer, j + hidden]
        g, o = xg + hg + b[layer, j + 2 * hidden], xo + ho + b[layer, j + 3 * hidden]
        c_prev = c[layer, n, j] if step == 0 else last_c[layer, n, j]
        new_h, last_c[layer, n, j] = unit(i, f, g, o, c_prev)
        states[step % 2, layer, n, j] = new_h
        if layer == c.shape[0] - 1:
            hs[step, n, j] = new_h


# -- All steps in one kernel. After Diamos et al., "Persistent RNNs", 2016.


@cuda.jit
def persistent_kernel(z, h, c, u, hs, last_c):
    """A block is one example, a thread one gate of one unit, for all steps.

    The thread's row of u stays in its registers: 64 steps then fetch it once. Only h is exchanged,
    through shared memory, and only within the block: no example waits for another.
    """
    weights = cuda.local.array(MAX_HIDDEN, float32)
    h_prev = cuda.shared.array(MAX_HIDDEN, float32)
    gates = cuda.shared.array(GATES, float32)
    n, j, hidden = cuda.blockIdx.x, cuda.threadIdx.x, h.shape[1]
    for k in range(MAX_HIDDEN):
        weights[k] = u[j, k] if k < hidden else float32(0)
    for k in range(j, MAX_HIDDEN, cuda.blockDim.x):
        h_prev[k] = h[n, k] if k < hidden else float32(0)
    c_prev = c[n, j % hidden]
    cuda.syncthreads()
    for t in range(z.shape[0]):
        total = z[t, n, j]
        for k in range(MAX_HIDDEN):
            total += weights[k] * h_prev[k]
        gates[j] = total
        cuda.syncthreads()  # z is complete, and h has been read
        if j < hidden:
            i, f, g, o = gates[j], gates[j + hidden], gates[j + 2 * hidden], gates[j + 3 * hidden]
            h_prev[j], c_prev = unit(i, f, g, o, c_prev)
            hs[t, n, j] = h_prev[j]
        cuda.syncthreads()  # the new h is there
    if j < hidden:
        last_c[n, j] = c_prev
