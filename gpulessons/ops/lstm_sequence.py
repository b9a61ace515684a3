"""LSTM over a sequence: a chain of steps, and what need not wait for it.

    h, c ← lstm_cell(x[t], h, c), for t = 0, 1, 2, …

The product h uᵀ of one step needs the step before: 64 steps are 64 products in a row, however many
cores there are. All else can be moved out of the chain or shared out: the products x[t] wᵀ wait
for nothing; the four gates are one product; the arithmetic on each unit is one pass; and no example
of a batch ever needs another. After Appleyard et al., "Optimizing Performance of Recurrent Neural
Networks on GPUs", 2016.
"""

from functools import lru_cache

import numpy as np

from gpulessons.backends import allow_tf32, gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from . import lstm_kernels as kernels
from .lstm_cell import eight_products, lstm_cell, python_loop
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
)
from .matmul_kernels import linear_kernel, tiles


def sequences(hidden, rng, steps=None, batch=BATCH, inputs=None):
    """x: (steps, batch, inputs), h, c: (batch, hidden), then the parameters. By default as many
    inputs as hidden units, and 64 steps, or half as many steps as units below 128 of them.
    """
    steps = steps or min(64, max(1, hidden // 2))
    x = rng.standard_normal((steps, batch, inputs or hidden), np.float32)
    x[steps // 2, 0] *= 30  # once in a sequence, far out
    h, c = rng.standard_normal((2, batch, hidden), np.float32)
    return x, np.tanh(h), c, *parameters(x.shape[2], hidden, rng)


@op(
    inputs=sequences,
    flops=flops,
    sizes=(16, 64, 256),
    rtol=5e-5,
    unit="hidden units",
    edge_cases=[Case(n, steps=5, batch=3, inputs=n + 2) for n in (5, 17, 1)],
    signature="(steps, batch, inputs), (batch, hidden), (batch, hidden), "
    "(gates, inputs), (gates, hidden), (gates,)",
)
def lstm_sequence(x, h, c, w, u, b):
    """h after each step: (steps, batch, hidden), of which hs[-1] is the last; and the last c.

    Shapes of the inputs: see `sequences`; weights as in `lstm_cell`.
    """
    return through(lstm_cell, x, h, c, w, u, b)


def through(cell, x, h, c, w, u, b):
    """One cell after the other."""
    hs = []
    for x_t in x:
        h, c = cell(x_t, h, c, w, u, b)
        hs.append(h)
    return np.stack(hs), c


@lstm_sequence.version("Python loop", on=host)
def python_steps(x, h, c, w, u, b):
    def cell(x, h, c, w, u, b):
        out = np.empty_like(h), np.empty_like(c)
        python_loop(x, h, c, w, u, b, out)
        return out

    return through(cell, x, h, c, w, u, b)


@lstm_sequence.version("NumPy, eight products a step", on=host)
def eight_a_step(x, h, c, w, u, b):
    return through(eight_products, x, h, c, w, u, b)


# -- Out of the chain: the products with x, all in one; then the passes over each unit, all in one.


def input_preactivations(x, w, b):
    """x[t] wᵀ + b for all steps at once, as one large product: (steps, batch, 4·hidden)."""
    return (x.reshape(-1, x.shape[2]) @ w.T + b).reshape(*x.shape[:2], -1)


def chain(finish):
    """A version in which only h uᵀ waits, and what finish(z, c) makes of it."""

    def steps(x, h, c, w, u, b):
        hs, ut = [], u.T
        for z in input_preactivations(x, w, b):
            z += h @ ut
            h, c = finish(z, c)
            hs.append(h)
        return np.stack(hs), c

    return steps


def apart(z, c):
    return array_unit(*np.split(z, 4, axis=1), c)


def fused(z, c):
    h, new_c = np.empty_like(c), np.empty_like(c)
    pointwise(z, c, h, new_c)
    return h, new_c


lstm_sequence.version("NumPy, input products batched", on=host)(chain(apart))
lstm_sequence.version("NumPy, one tanh for the gates", on=host)(chain(one_tanh))
lstm_sequence.version("Numba, fused pointwise", on=host)(chain(fused))


# -- No example waits for another: each core takes its share of the batch through all the steps.


def in_all_steps(steps):
    """A version from in_shares, as compiled for one core or for every one."""

    def sequence(x, h, c, w, u, b, out):
        steps(x, h, c, aligned_transpose(w), aligned_transpose(u), b, *out)

    return sequence


numba_every_core = in_all_steps(on_every_core)
lstm_sequence.version("Numba, one core", on=host)(in_all_steps(on_one_core))
lstm_sequence.version("Numba, every core", on=host)(numba_every_core)


# -- On the GPU: two kernels a step, one kernel a step, one kernel.


def launch_input_preactivations(x, w, b):
    (steps, batch, inputs), columns = x.shape, w.shape[0]
    z = gpu.empty((steps, batch, columns), x.dtype)
    rows, flat = x.reshape(steps * batch, inputs), z.reshape(steps * batch, columns)
    linear_kernel[tiles(*flat.shape)](rows, w, b, flat)
    return z


@lstm_sequence.version("CUDA, fused pointwise", on=gpu)
def launch_two_a_step(x, h, c, w, u, b, out):
    z, (hs, last_c) = launch_input_preactivations(x, w, b), out
    for t in range(x.shape[0]):
        kernels.add_product_kernel[tiles(*z[t].shape)](h, u, z[t])
        kernels.unit_kernel[tiles(*h.shape)](z[t], c, hs[t], last_c)
        h, c = hs[t], last_c


@lstm_sequence.version("CUDA, one kernel a step", on=gpu)
def launch_one_a_step(x, h, c, w, u, b, out):
    z, (hs, last_c) = launch_input_preactivations(x, w, b), out
    for t in range(x.shape[0]):
        kernels.step_kernel[tiles(*h.shape)](z[t], h, c, u, hs[t], last_c)
        h, c = hs[t], last_c


@lstm_sequence.version("CUDA, persistent", on=gpu)
def launch_persistent(x, h, c, w, u, b, out):
    batch, hidden = h.shape
    if hidden > kernels.MAX_HIDDEN:
        most = kernels.MAX_HIDDEN
        raise ValueError(f"its weights fit a block's registers up to {most} hidden units")
    z = launch_input_preactivations(x, w, b)
    kernels.persistent_kernel[batch, 4 * hidden](z, h, c, u, *out)


# -- PyTorch.


@lstm_sequence.version("PyTorch, cell loop, GPU", on=torch_gpu)
@lstm_sequence.version("PyTorch, cell loop, CPU", on=torch_cpu)
def torch_cells(x, h, c, w, u, b, out):
    import torch

    hs, last_c = out
    for t, x_t in enumerate(x):
        h, c = torch.lstm_cell(x_t, (h, c), w, u, b)
        hs[t] = h
    last_c.copy_(c)


@lru_cache(maxsize=4)
def captured_graph(*tensors):
    """The cell loop on these very tensors, captured launch by launch in a CUDA graph."""
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("a CUDA graph needs PyTorch's CUDA or ROCm")
    *inputs, hs, last_c = tensors
    torch_cells(*inputs, out=(hs, last_c))  # once before: libraries set themselves up
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch_cells(*inputs, out=(hs, last_c))
    return graph


@lstm_sequence.version("PyTorch, cell loop as a CUDA graph", on=torch_gpu)
def torch_graph(x, h, c, w, u, b, out):
    captured_graph(x, h, c, w, u, b, *out).replay()


def stacked_lstm(train):
    """What nn.LSTM calls: cuDNN on NVIDIA's GPUs, oneDNN on most CPUs. The first axis of all but x
    is the layer's. In float32 as it is: cuDNN rounds the factors to 11 bits unless forbidden.

    train: whether to keep what a backward pass needs.
    """

    def run(x, h, c, *layers):
        import torch

        weights = [p for w, u, b in zip(*layers, strict=True)
                   for p in (w, u, b, torch.zeros_like(b))]  # fmt: skip
        options = {"has_biases": True, "num_layers": len(h), "dropout": 0.0, "train": train,
                   "bidirectional": False, "batch_first": False}  # fmt: skip
        with allow_tf32(torch.backends.cudnn, False):
            return torch.lstm(x, (h, c), weights, **options)

    return run


@lstm_sequence.version("PyTorch, nn.LSTM, GPU", on=torch_gpu)
@lstm_sequence.version("PyTorch, nn.LSTM, CPU", on=torch_cpu)
def torch_lstm(x, h, c, w, u, b):
    hs, _, last_c = stacked_lstm(train=False)(x, h[None], c[None], w[None], u[None], b[None])
    return hs, last_c[0]
