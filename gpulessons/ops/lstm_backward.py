"""LSTM, backward through time: the same chain, walked from its last step to its first.

    s = tanh(c')                     what the step made of its memory
    dc ← dc + dh o (1 − s²)          through h' = o s, on top of what the next step sends back
    dz_i = dc g i (1 − i)            dz_f = dc c f (1 − f)         the preactivations, by the slopes
    dz_g = dc i (1 − g²)             dz_o = dh s o (1 − o)         of sigmoid and tanh
    dc ← dc f;  dh ← d[t−1] + dz u   to the step before

Only dz u waits for the step after. The gradients of the weights are sums over all steps and
examples: one large product each when the chain is through. Werbos 1990; the forget gate's f is what
keeps dc from vanishing on the way.
"""

import numpy as np
from numba import njit, prange

from gpulessons.backends import host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .activations_more import sigmoid, tanh, vector_sigmoid
from .common import ONE, PARALLEL, SERIAL, ZERO, ceil_div, run_op, tanh32
from .lstm_cell import FORCE_INLINE, array_unit, pointwise
from .lstm_cell import flops as forward_flops
from .lstm_sequence import (
    add_thin_product,
    input_preactivations,
    lstm_sequence,
    sequences,
    stacked_lstm,
)
from .matmul_cpu import packed
from .transpose import transposed
from .vectors import full_width


def with_slope(hidden, rng, **axes):
    """A sequence's inputs, and d: (steps, batch, hidden), so scaled that dw stays around one."""
    x, h, *rest = sequences(hidden, rng, **axes)
    d = rng.standard_normal((*x.shape[:2], hidden), np.float32)
    return x, h, *rest, d / np.float32((d.size // hidden) ** 0.5)


# Forward once, then two products for each one of forward's.
@op(inputs=with_slope, flops=lambda *inputs: 3 * forward_flops(*inputs[:-1]),
    sizes=(16, 64, 256), rtol=1e-4, unit="hidden units", edge_cases=lstm_sequence.edge_cases,
    signature=f"{lstm_sequence.signature}, (steps, batch, hidden)")  # fmt: skip
def lstm_backward(x, h, c, w, u, b, d):
    """dx, dh, dc, dw, du, db of a loss, from d: its gradient with respect to each step's h.

    The inputs are those of `lstm_sequence`: forward is done again, to know z and every c. Each
    gradient is shaped like what it is named after, d like hs. The loss does not see the last c.
    """
    z, h_prev, c_prev = forward_kept(x, h, c, w, u, b)
    dz, dh, dc = np.empty_like(z), np.zeros_like(h), np.zeros_like(c)
    for t in reversed(range(len(x))):  # only this product waits
        *gates, dc = array_slopes(*np.split(z[t], 4, axis=1), c_prev[t], dh + d[t], dc)
        dz[t] = np.hstack(gates)
        dh = dz[t] @ u
    return gathered(x, np.stack(h_prev), w, dz, dh, dc)


def forward_kept(x, h, c, w, u, b):
    """z of all steps, and h and c before each: what the way back needs."""
    z, h_prev, c_prev = input_preactivations(x, w, b), [], []
    for t in range(len(x)):
        h_prev.append(h)
        c_prev.append(c)
        z[t] += h @ u.T
        h, c = array_unit(*np.split(z[t], 4, axis=1), c)
    return z, h_prev, c_prev


def array_slopes(i, f, g, o, c, dh, dc):
    """dz for the four gates, and dc for the step before, on whole arrays. i, f, g, o: their z."""
    i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
    s = tanh(f * c + i * g)
    dc = dc + dh * o * (1 - s * s)
    return (
        dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g),
        dh * s * o * (1 - o), dc * f,
    )  # fmt: skip


def gathered(x, h_prev, w, dz, dh, dc):
    """The gradients that need not wait: one product each, over all steps and examples."""
    rows, x_rows, h_rows = (each.reshape(-1, each.shape[2]) for each in (dz, x, h_prev))
    return (rows @ w).reshape(x.shape), dh, dc, rows.T @ x_rows, rows.T @ h_rows, rows.sum(0)


# -- Numba: four examples at a time, there and back on one core.


@njit(**FORCE_INLINE)
def vector_slopes(i, f, g, o, c, dh, dc):
    """array_slopes for one unit, in arithmetic that the compiler can vectorize."""
    i, f, g, o = vector_sigmoid(i), vector_sigmoid(f), tanh32(g), vector_sigmoid(o)
    s = tanh32(f * c + i * g)
    dc = dc + dh * o * (ONE - s * s)
    return (
        dc * g * i * (ONE - i), dc * c * f * (ONE - f), dc * i * (ONE - g * g),
        dh * s * o * (ONE - o), dc * f,
    )  # fmt: skip


@njit(**SERIAL)
def pointwise_slopes(z, c, d, dh, dc, dz):
    """Writes dz: (rows, 4·hidden), and dc over itself; takes d + dh, and clears dh for dz u."""
    full_width()
    rows, hidden = c.shape
    for n in range(rows):
        gates, out = z[n].reshape(4, hidden), dz[n].reshape(4, hidden)
        for j in range(hidden):
            i, f, g, o = gates[0, j], gates[1, j], gates[2, j], gates[3, j]
            out[0, j], out[1, j], out[2, j], out[3, j], dc[n, j] = vector_slopes(
                i, f, g, o, c[n, j], d[n, j] + dh[n, j], dc[n, j]
            )
            dh[n, j] = ZERO


@njit(**PARALLEL)
def backward_loop(z, ut, u, d, h_prev, c_prev, dz, dh, dc):
    """z: x wᵀ + b, completed here. ut and u come in panels.

    h_prev, c_prev: h and c before each step, of which the first is given; one more than steps.
    """
    steps = len(z)
    for share in prange(ceil_div(z.shape[1], 4)):
        n = slice(4 * share, 4 * share + 4)
        for t in range(steps):
            add_thin_product(h_prev[t, n], ut, z[t, n])
            pointwise(z[t, n], c_prev[t, n], h_prev[t + 1, n], c_prev[t + 1, n])
        for t in range(steps - 1, -1, -1):
            pointwise_slopes(z[t, n], c_prev[t, n], d[t, n], dh[n], dc[n], dz[t, n])
            add_thin_product(dz[t, n], u, dh[n])


@lstm_backward.version("Numba, every core", on=host)
def every_core(x, h, c, w, u, b, d):
    z = input_preactivations(x, w, b)
    h_prev, c_prev = np.empty((2, len(x) + 1, *h.shape), h.dtype)
    h_prev[0], c_prev[0] = h, c
    dz, dh, dc = np.empty_like(z), np.zeros_like(h), np.zeros_like(c)
    backward_loop(z, packed(transposed(u)), packed(u), d, h_prev, c_prev, dz, dh, dc)
    return gathered(x, h_prev[:-1], w, dz, dh, dc)


@lstm_backward.version("PyTorch, autograd, GPU", on=torch_gpu, prepares=True)
@lstm_backward.version("PyTorch, autograd, CPU", on=torch_cpu, prepares=True)
def torch_autograd(x, h, c, w, u, b, d):
    """nn.LSTM forward, then its own backward."""
    from torch.autograd import grad

    inputs = [each.detach().requires_grad_() for each in (x, h, c, w, u, b)]
    forward = stacked_lstm(inputs[0], *(each[None] for each in inputs[1:]), train=True)
    return lambda: grad(forward()[0], inputs, d)


if __name__ == "__main__":
    run_op(lstm_backward)
