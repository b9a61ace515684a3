"""The LSTM on a GPU: from many kernels a step to one kernel for all steps.

x: (rows, depth), w: (columns, depth), as PyTorch keeps weights. Both are read along their rows,
which is coalesced; the tile of w is turned on its way into shared memory.
"""

import math

from numba import cuda, float32

from gpulessons.ops.activations import cuda_per_element, sigmoid_body, tanh_body
from gpulessons.ops.lstm_parts import unit_body
from gpulessons.ops.matmul_kernels import T_TURNED, T

KEPT = 64  # hidden units whose weights one block can keep in its registers
GATES = 4 * KEPT

device = cuda.jit(device=True)
sigmoid = device(sigmoid_body(math.exp, None))
unit = device(unit_body(sigmoid, math.tanh))
sigmoid_kernel = cuda_per_element(sigmoid)
tanh_kernel = cuda_per_element(device(tanh_body(None, math.tanh)))


@device
def tile_dot(x, w):
    """x[i] · w[j] for thread (j, i): the block's rows pass through two tiles, used by all."""
    xs = cuda.shared.array((T, T), float32)
    ws = cuda.shared.array((T, T_TURNED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, row = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + ty
    total = float32(0)
    for start in range(0, x.shape[1], T):
        k = start + tx
        xs[ty, tx] = x[i, k] if i < x.shape[0] and k < x.shape[1] else float32(0)
        ws[tx, ty] = w[row, k] if row < w.shape[0] and k < x.shape[1] else float32(0)
        cuda.syncthreads()  # both tiles are complete
        for k in range(T):
            total += xs[ty, k] * ws[k, tx]
        cuda.syncthreads()  # and have been read by all
    return total


@device
def four_dots(x, w):
    """The four gates of unit j and example i: x[i] is fetched once for all."""
    xs = cuda.shared.array((T, T), float32)
    ws = cuda.shared.array((4, T, T_TURNED), float32)
    tx, ty, hidden = cuda.threadIdx.x, cuda.threadIdx.y, w.shape[0] // 4
    n, row = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + ty
    i = f = g = o = float32(0)
    for start in range(0, x.shape[1], T):
        k = start + tx
        xs[ty, tx] = x[n, k] if n < x.shape[0] and k < x.shape[1] else float32(0)
        for gate in range(4):
            inside = row < hidden and k < x.shape[1]
            ws[gate, tx, ty] = w[gate * hidden + row, k] if inside else float32(0)
        cuda.syncthreads()
        for k in range(T):
            value = xs[ty, k]
            i += value * ws[0, k, tx]
            f += value * ws[1, k, tx]
            g += value * ws[2, k, tx]
            o += value * ws[3, k, tx]
        cuda.syncthreads()
    return i, f, g, o


# -- Products and pointwise parts, each a kernel.


@cuda.jit
def product_kernel(x, w, b, out):
    """out = x wᵀ + b."""
    j, i = cuda.grid(2)
    total = tile_dot(x, w)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total + b[j]


@cuda.jit
def add_product_kernel(x, w, out):
    """out += x wᵀ."""
    j, i = cuda.grid(2)
    total = tile_dot(x, w)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] += total


@cuda.jit
def memory_kernel(i, f, g, c, new_c):
    k = cuda.grid(1)
    if k < c.size:
        new_c[k] = f[k] * c[k] + i[k] * g[k]


@cuda.jit
def output_kernel(o, tanh_c, new_h):
    k = cuda.grid(1)
    if k < o.size:
        new_h[k] = o[k] * tanh_c[k]


@cuda.jit
def unit_kernel(sums, c, new_h, new_c):
    """All that follows the products, for one unit of one example, in registers."""
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    if n < c.shape[0] and j < hidden:
        i, f = sums[n, j], sums[n, j + hidden]
        g, o = sums[n, j + 2 * hidden], sums[n, j + 3 * hidden]
        new_h[n, j], new_c[n, j] = unit(i, f, g, o, c[n, j])


# -- The whole step in one kernel: the four sums of a unit never leave their thread.


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
def step_kernel(sums, h, c, u, new_h, new_c):
    """cell_kernel where sums = x wᵀ + b is known already."""
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    i, f, g, o = four_dots(h, u)
    if n < c.shape[0] and j < hidden:
        i, f = i + sums[n, j], f + sums[n, j + hidden]
        g, o = g + sums[n, j + 2 * hidden], o + sums[n, j + 3 * hidden]
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
        memory = c[layer, n, j] if step == 0 else last_c[layer, n, j]
        new_h, last_c[layer, n, j] = unit(i, f, g, o, memory)
        states[step % 2, layer, n, j] = new_h
        if layer == c.shape[0] - 1:
            hs[step, n, j] = new_h


# -- All steps in one kernel. After Diamos et al., "Persistent RNNs", 2016.


@cuda.jit
def persistent_kernel(sums, h, c, u, hs, last_c):
    """A block is one example, a thread one gate of one unit, for all steps.

    The thread's row of u stays in its registers: 64 steps then fetch it once. Only h is exchanged,
    through shared memory, and only within the block: no example waits for another.
    """
    weights = cuda.local.array(KEPT, float32)
    seen = cuda.shared.array(KEPT, float32)
    gates = cuda.shared.array(GATES, float32)
    n, j, hidden = cuda.blockIdx.x, cuda.threadIdx.x, h.shape[1]
    for k in range(KEPT):
        weights[k] = u[j, k] if k < hidden else float32(0)
    for k in range(j, KEPT, cuda.blockDim.x):
        seen[k] = h[n, k] if k < hidden else float32(0)
    memory = c[n, j % hidden]
    cuda.syncthreads()
    for t in range(sums.shape[0]):
        total = sums[t, n, j]
        for k in range(KEPT):
            total += weights[k] * seen[k]
        gates[j] = total
        cuda.syncthreads()  # all sums are there, and h has been read
        if j < hidden:
            i, f, g, o = gates[j], gates[j + hidden], gates[j + 2 * hidden], gates[j + 3 * hidden]
            seen[j], memory = unit(i, f, g, o, memory)
            hs[t, n, j] = seen[j]
        cuda.syncthreads()  # the new h is there
    if j < hidden:
        last_c[n, j] = memory
