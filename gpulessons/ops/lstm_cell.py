"""LSTM cell: one step of a network that remembers.

    z = x wᵀ + h uᵀ + b                the preactivations of four gates: z_i, z_f, z_g, z_o
    i = sigmoid(z_i)                   what to let in        f = sigmoid(z_f): what to keep
    g = tanh(z_g)                      what there is to add  o = sigmoid(z_o): what to show
    c' = f c + i g                     the cell state, its memory
    h' = o tanh(c')                    what the next layer, and the next step, see

Hochreiter & Schmidhuber 1997; Gers et al. 2000 for f. Eight products, all independent, then a
little arithmetic on every unit alone. The weights lie as PyTorch's do: the four gates stacked in
the order i, f, g, o, so that w is `weight_ih_l0` and u is `weight_hh_l0`. PyTorch keeps two biases
where only their sum matters: b is `bias_ih_l0 + bias_hh_l0`.
"""

from functools import partial

import numpy as np

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from . import lstm_kernels as kernels
from .common import THREADS, ceil_div
from .dense import linear_kernel, tiles
from .lstm_parts import (
    BATCH,
    aligned_transpose,
    array_unit,
    flops,
    on_every_core,
    on_one_core,
    one_tanh,
    parameters,
    pointwise,
    scalar_unit,
)


def one_step(hidden, rng, batch=BATCH, inputs=None):
    """x: (batch, inputs), h and c: (batch, hidden), then the parameters. By default as many
    inputs as hidden units. One example is far out, where a careless exp fails.
    """
    x = rng.standard_normal((batch, inputs or hidden), np.float32)
    x[0] *= 30
    h, c = rng.standard_normal((2, batch, hidden), np.float32)
    return x, np.tanh(h), c, *parameters(x.shape[1], hidden, rng)


@op(
    inputs=one_step,
    flops=flops,
    sizes=(64, 256, 1024),
    rtol=2e-5,
    unit="hidden units",
    edge_cases=[Case(n, batch=3, inputs=n + 2) for n in (5, 17, 33, 1)],
    signature="(batch, inputs), (batch, hidden), (batch, hidden), "
    "(gates, inputs), (gates, hidden), (gates,)",
)
def lstm_cell(x, h, c, w, u, b):
    """The new h and c, of the shapes of h and c. Shapes of all: see `one_step`."""
    i, f, g, o = np.split(x @ w.T + h @ u.T + b, 4, axis=1)  # two products serve the four gates
    return array_unit(i, f, g, o, c)


@lstm_cell.version("Python loop", on=host)
def python_loop(x, h, c, w, u, b, out):
    batch, hidden = h.shape
    for n in range(batch):
        for j in range(hidden):
            i, f, g, o = (
                b[gate] + inner(x[n], w[gate]) + inner(h[n], u[gate])
                for gate in range(j, 4 * hidden, hidden)
            )
            out[0][n, j], out[1][n, j] = scalar_unit(i, f, g, o, c[n, j])


def inner(p, q):
    """The sum of p times q, one by one."""
    total = 0.0
    for a, b in zip(p.tolist(), q.tolist(), strict=True):
        total += a * b
    return total


# -- NumPy: the same multiplications as eight products, as two (the specification), and as one.


@lstm_cell.version("NumPy, eight products", on=host)
def eight_products(x, h, c, w, u, b):
    i, f, g, o = (
        x @ w_gate.T + h @ u_gate.T + b_gate
        for w_gate, u_gate, b_gate in zip(*(np.split(p, 4) for p in (w, u, b)), strict=True)
    )
    return array_unit(i, f, g, o, c)


@lstm_cell.version("NumPy, one product", on=host)
def one_product(x, h, c, w, u, b):
    z = np.hstack([x, h]) @ np.hstack([w, u]).T + b  # copies everything for a longer sum
    return one_tanh(z, c)


# -- Numba: everything after the products in one pass; then the products too.


@lstm_cell.version("Numba, fused pointwise", on=host)
def fused_pointwise(x, h, c, w, u, b, out):
    pointwise(x @ w.T + h @ u.T + b, c, *out)


def in_one_step(steps):
    """The cell as a sequence of one step, on one core or on every one."""

    def step(x, h, c, w, u, b, out):
        wt, ut, (new_h, new_c) = aligned_transpose(w), aligned_transpose(u), out
        steps(x[None], h, c, wt, ut, b, new_h[None], new_c)

    return step


lstm_cell.version("Numba, one core", on=host)(in_one_step(on_one_core))
lstm_cell.version("Numba, every core", on=host)(in_one_step(on_every_core))


# -- On the GPU: fewer launches from one to the next, and less that goes through memory.


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
            kernels.add_product_kernel[tiles(*h.shape)](h, u_gate, z)
            activation = kernels.tanh_kernel if gate is g else kernels.sigmoid_kernel
            activation[per_element](gate, gate)
        kernels.cell_state_kernel[per_element](i, f, g, old_c, new_c)
        kernels.tanh_kernel[per_element](new_c, i)
        kernels.output_kernel[per_element](o, i, new_h)

    return call


@lstm_cell.version("CUDA, two products, fused pointwise", on=gpu, prepares=True)
def launch_fused(x, h, c, w, u, b, out):
    """Three kernels."""
    batch, hidden = h.shape
    z = gpu.empty((batch, 4 * hidden), h.dtype)

    def call():
        linear_kernel[tiles(*z.shape)](x, w, b, z)
        kernels.add_product_kernel[tiles(*z.shape)](h, u, z)
        kernels.unit_kernel[tiles(batch, hidden)](z, c, *out)

    return call


@lstm_cell.version("CUDA, one kernel", on=gpu)
def launch_one(x, h, c, w, u, b, out):
    kernels.cell_kernel[tiles(*h.shape)](x, h, c, w, u, b, *out)


# -- PyTorch.


@lstm_cell.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@lstm_cell.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(x, h, c, w, u, b):
    """What nn.LSTMCell calls: two products, and a fused pointwise kernel on a GPU."""
    import torch

    return partial(torch.lstm_cell, x, (h, c), w, u, b)
