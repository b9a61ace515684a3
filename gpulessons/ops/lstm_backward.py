"""LSTM, backward through time: the same chain, walked from its last step to its first.

    s = tanh(c')                     what the step made of its memory
    dc ← dc + dh o (1 − s²)          through h' = o s, on top of what the next step sends back
    dz_i = dc g i (1 − i)            dz_f = dc c f (1 − f)         the four sums, by the slopes of
    dz_g = dc i (1 − g²)             dz_o = dh s o (1 − o)         sigmoid and tanh
    dc ← dc f;  dh ← d[t−1] + dz u   to the step before

Only dz u waits for the step after. The gradients of the weights are sums over all steps and
examples, so they are one large product each when the chain is through. Werbos 1990; the forget
gate's f is what keeps dc from vanishing on the way.
"""

import numpy as np
from numba import njit, prange

from gpulessons.backends import allow_tf32, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops.activations import ONE, ZERO, exp32, inline, sigmoid, sigmoid_body, tanh, tanh32
from gpulessons.ops.lstm_parts import add_product, demanded, pointwise, turned
from gpulessons.ops.lstm_parts import flops as forward_flops
from gpulessons.ops.lstm_sequence import (
    apart,
    fused,
    input_sums,
    lstm_sequence,
    sequences,
    torch_lstm,
)


def with_slope(size, rng):
    """A sequence's inputs, and d: (steps, batch, hidden), so scaled that dw stays around one."""
    x, h, *rest = sequences(size, rng)
    d = rng.standard_normal((*x.shape[:2], size), np.float32)
    return x, h, *rest, d / np.float32((d.size // size) ** 0.5)


# Forward once, then two products for each one of forward's.
@op(
    inputs=with_slope,
    flops=lambda *inputs: 3 * forward_flops(*inputs[:-1]),
    sizes=(16, 64, 256),
    rtol=1e-4,
    unit="hidden units",
    awkward=(5, 17, 1),
    signature=f"{lstm_sequence.signature}, (steps, batch, hidden)",
)
def lstm_backward(x, h, c, w, u, b, d):
    """dx, dh, dc, dw, du, db of a loss, from d: its gradient with respect to each step's h.

    The inputs are those of `lstm_sequence`: forward is done again, to know the sums and every c.
    Each gradient is shaped like what it is named after; d is shaped like hs. The loss is taken not
    to see the last c.
    """
    return through_time(apart, slopes_apart)(x, h, c, w, u, b, d)


# -- One unit. Written once, for whole arrays and for Numba.


def slopes_body(sigmoid, tanh):
    def slopes(i, f, g, o, c, dh, dc):
        """dz for the four gates, and dc for the step before. i, f, g, o: the sums."""
        i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
        s = tanh(f * c + i * g)
        dc = dc + dh * o * (ONE - s * s)
        return (
            dc * g * i * (ONE - i), dc * c * f * (ONE - f), dc * i * (ONE - g * g),
            dh * s * o * (ONE - o), dc * f,
        )  # fmt: skip

    return slopes


array_slopes = slopes_body(sigmoid, tanh)
vector_slopes = demanded(slopes_body(inline(sigmoid_body(exp32, None)), tanh32))


def slopes_apart(sums, c, dh, dc):
    *dz, dc = array_slopes(*np.split(sums, 4, axis=1), c, dh, dc)
    return np.hstack(dz), dc


@inline
def pointwise_slopes(sums, c, d, dh, dc, dz):
    """Writes dz: (rows, 4·hidden), and dc over itself; takes d + dh, and clears dh for dz u."""
    rows, hidden = c.shape
    for n in range(rows):
        z, out = sums[n].reshape(4, hidden), dz[n].reshape(4, hidden)
        for j in range(hidden):
            out[0, j], out[1, j], out[2, j], out[3, j], dc[n, j] = vector_slopes(
                z[0, j], z[1, j], z[2, j], z[3, j], c[n, j], d[n, j] + dh[n, j], dc[n, j]
            )
            dh[n, j] = ZERO


def slopes_fused(sums, c, dh, dc):
    dz = np.empty_like(sums)
    pointwise_slopes(sums, c, dh, np.zeros_like(dh), dc, dz)
    return dz, dc


# -- The chain, in both directions.


def through_time(finish, slopes):
    """A version, from what follows the products in a step forward, and in a step back."""

    def backward(x, h, c, w, u, b, d):
        all_sums, seen, kept = input_sums(x, w, b), [], []
        for sums in all_sums:
            seen.append(h)
            kept.append(c)
            sums += h @ u.T
            h, c = finish(sums, c)
        dz, dh, dc = np.empty_like(all_sums), np.zeros_like(h), np.zeros_like(c)
        for t in reversed(range(len(x))):
            dz[t], dc = slopes(all_sums[t], kept[t], dh + d[t], dc)
            dh = dz[t] @ u
        return gathered(x, np.stack(seen), w, dz, dh, dc)

    return backward


def gathered(x, seen, w, dz, dh, dc):
    """The gradients that need not wait: one product each, over all steps and examples."""
    x_rows, seen, rows = (each.reshape(-1, each.shape[2]) for each in (x, seen, dz))
    return (rows @ w).reshape(x.shape), dh, dc, rows.T @ x_rows, rows.T @ seen, rows.sum(0)


lstm_backward.version("Numba, fused pointwise", on=host)(through_time(fused, slopes_fused))


@njit(parallel=True, error_model="numpy", fastmath={"contract"})
def in_shares(sums, ut, u, d, seen, kept, dz, dh, dc):
    """Four examples at a time, there and back, on one core. sums: x wᵀ + b, completed here.

    seen, kept: h and c before each step, of which the first is given; one more than steps.
    """
    steps = len(sums)
    for share in prange(-(-sums.shape[1] // 4)):
        n = slice(4 * share, 4 * share + 4)
        for t in range(steps):
            add_product(seen[t, n], ut, sums[t, n])
            pointwise(sums[t, n], kept[t, n], seen[t + 1, n], kept[t + 1, n])
        for t in range(steps - 1, -1, -1):
            pointwise_slopes(sums[t, n], kept[t, n], d[t, n], dh[n], dc[n], dz[t, n])
            add_product(dz[t, n], u, dh[n])


@lstm_backward.version("Numba, every core", on=host)
def numba_every_core(x, h, c, w, u, b, d):
    sums = input_sums(x, w, b)
    seen, kept = np.empty((2, len(x) + 1, *h.shape), h.dtype)
    seen[0], kept[0] = h, c
    dz, dh, dc = np.empty_like(sums), np.zeros_like(h), np.zeros_like(c)
    in_shares(sums, turned(u), u, d, seen, kept, dz, dh, dc)
    return gathered(x, seen[:-1], w, dz, dh, dc)


@lstm_backward.version("PyTorch, autograd, GPU", on=torch_gpu)
@lstm_backward.version("PyTorch, autograd, CPU", on=torch_cpu)
def torch_autograd(x, h, c, w, u, b, d):
    """nn.LSTM forward, then its own backward: both in float32 as it is."""
    import torch

    inputs = [each.detach().requires_grad_() for each in (x, h, c, w, u, b)]
    hs, _ = torch_lstm(*inputs, train=True)
    with allow_tf32(torch.backends.cudnn, False):
        return torch.autograd.grad(hs, inputs, d)
