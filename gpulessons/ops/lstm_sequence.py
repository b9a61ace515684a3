"""LSTM over a sequence: a chain of steps, and what need not wait for it.

    h, c ← lstm_cell(x[t], h, c), for t = 0, 1, 2, …

The product h uᵀ of one step needs the step before: 64 steps are 64 products in a row. All else can
be moved out of the chain: the products x[t] wᵀ wait for nothing (Appleyard et al. 2016).
"""

import numpy as np
from numba import cuda, float32

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .dense import linear_kernel, tiles
from .lstm_cell import (
    array_unit,
    device_unit,
    eight_products,
    flops,
    four_dots,
    lstm_cell,
    parameters,
    pointwise,
)


def sequences(hidden, rng, steps=None, batch=32, inputs=None):
    """x: (steps, batch, inputs), h, c: (batch, hidden), then the parameters. By default as many
    inputs as hidden units, and 64 steps, or half as many steps as units below 128 of them.
    """
    steps = steps or min(64, max(1, hidden // 2))
    x = rng.standard_normal((steps, batch, inputs or hidden), np.float32)
    x[steps // 2, 0] *= 30  # once in a sequence, far out
    h, c = rng.standard_normal((2, batch, hidden), np.float32)
    return x, np.tanh(h), c, *parameters(x.shape[2], hidden, rng)


@op(inputs=sequences, flops=flops, sizes=(16, 64, 256), rtol=5e-5, unit="hidden units",
    edge_cases=[Case(n, steps=5, batch=3, inputs=n + 2) for n in (5, 17, 1)],
    signature="(steps, batch, inputs), (batch, hidden), (batch, hidden), "
              "(gates, inputs), (gates, hidden), (gates,)")  # fmt: skip
def lstm_sequence(x, h, c, w, u, b):
    """h after each step: (steps, batch, hidden), and the last c. Inputs: see `sequences`."""
    return repeated(lstm_cell, x, h, c, w, u, b)


def repeated(cell, x, h, c, w, u, b):
    """One step after the other."""
    hs = []
    for x_t in x:
        h, c = cell(x_t, h, c, w, u, b)
        hs.append(h)
    return np.stack(hs), c


@lstm_sequence.version("NumPy, eight products a step", on=host)
def eight_a_step(x, h, c, w, u, b):
    return repeated(eight_products, x, h, c, w, u, b)


# -- Out of the chain: the products with x, all in one. Only h uᵀ waits, and what follows it.


def input_preactivations(x, w, b):
    """x[t] wᵀ + b for all steps at once, as one large product: (steps, batch, 4·hidden)."""
    return (x.reshape(-1, x.shape[2]) @ w.T + b).reshape(*x.shape[:2], -1)


@lstm_sequence.version("NumPy, input products batched", on=host)
def inputs_first(x, h, c, w, u, b):
    hs, ut = [], u.T
    for z in input_preactivations(x, w, b):
        z += h @ ut
        h, c = array_unit(*np.split(z, 4, axis=1), c)
        hs.append(h)
    return np.stack(hs), c


@lstm_sequence.version("Numba, fused pointwise", on=host)
def fused_pointwise(x, h, c, w, u, b):
    hs, ut = [], u.T
    for z in input_preactivations(x, w, b):
        z += h @ ut
        h, new_c = np.empty_like(h), np.empty_like(c)
        pointwise(z, c, h, new_c)
        c = new_c
        hs.append(h)
    return np.stack(hs), c


# -- On the GPU: one kernel a step, one kernel for all.


def input_preactivations_on_gpu(x, w, b):
    """(room for them, the launch that fills it)"""
    (steps, batch, inputs), columns = x.shape, w.shape[0]
    z = gpu.empty((steps, batch, columns), x.dtype)
    rows, flat = x.reshape(steps * batch, inputs), z.reshape(steps * batch, columns)
    return z, lambda: linear_kernel[tiles(*flat.shape)](rows, w, b, flat)


@cuda.jit
def step_kernel(z, h, c, u, new_h, new_c):
    """lstm_cell's cell_kernel where z = x wᵀ + b is known already."""
    j, n = cuda.grid(2)
    hidden = c.shape[1]
    i, f, g, o = four_dots(h, u)
    if n < c.shape[0] and j < hidden:
        i, f = i + z[n, j], f + z[n, j + hidden]
        g, o = g + z[n, j + 2 * hidden], o + z[n, j + 3 * hidden]
        new_h[n, j], new_c[n, j] = device_unit(i, f, g, o, c[n, j])


@lstm_sequence.version("CUDA, one kernel a step", on=gpu, prepares=True)
def launch_one_a_step(x, h, c, w, u, b, out):
    (z, fill), (hs, last_c) = input_preactivations_on_gpu(x, w, b), out
    # Parts of arrays are made once: each takes Python longer than a launch.
    zs, new_hs = ([each[t] for t in range(z.shape[0])] for each in (z, hs))
    old_hs, old_cs = [h, *new_hs[:-1]], [c] + [last_c] * (len(zs) - 1)
    steps = list(zip(zs, old_hs, old_cs, new_hs, strict=True))

    def call():
        fill()
        for z_t, old_h, old_c, new_h in steps:
            step_kernel[tiles(*h.shape)](z_t, old_h, old_c, u, new_h, last_c)

    return call


# -- All steps in one kernel (Diamos et al. 2016, "Persistent RNNs").

MAX_HIDDEN = 64  # units whose weights one block can keep in its registers
GATES = 4 * MAX_HIDDEN


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
            h_prev[j], c_prev = device_unit(i, f, g, o, c_prev)
            hs[t, n, j] = h_prev[j]
        cuda.syncthreads()  # the new h is there
    if j < hidden:
        last_c[n, j] = c_prev


@lstm_sequence.version("CUDA, persistent", on=gpu, prepares=True)
def launch_persistent(x, h, c, w, u, b, out):
    batch, hidden = h.shape
    if hidden > MAX_HIDDEN:
        raise ValueError(f"its weights fit a block's registers up to {MAX_HIDDEN} hidden units")
    z, fill = input_preactivations_on_gpu(x, w, b)

    def call():
        fill()
        persistent_kernel[batch, 4 * hidden](z, h, c, u, *out)

    return call


@lstm_sequence.version("PyTorch, nn.LSTM, GPU", on=torch_gpu, prepares=True)
@lstm_sequence.version("PyTorch, nn.LSTM, CPU", on=torch_cpu, prepares=True)
def torch_lstm(x, h, c, w, u, b):
    """What nn.LSTM calls: cuDNN on NVIDIA's GPUs, oneDNN on most CPUs. Nothing is kept for a
    backward pass."""
    import torch

    parameters = [w, u, b, torch.zeros_like(b)]
    options = {"has_biases": True, "num_layers": 1, "dropout": 0.0, "train": False,
               "bidirectional": False, "batch_first": False}  # fmt: skip

    def call():
        hs, _, last_c = torch.lstm(x, (h[None], c[None]), parameters, **options)
        return hs, last_c[0]

    return call
