"""LSTM over a sequence: a chain of steps, and what need not wait for it.

    h, c ← lstm_cell(x[t], h, c), for t = 0, 1, 2, …

The product h uᵀ of one step needs the step before: 64 steps are 64 products in a row, however many
cores there are. All else can be moved out of the chain or shared out: the products x[t] wᵀ wait
for nothing; the four gates are one product; the arithmetic on each unit is one pass; and no example
of a batch ever needs another. After Appleyard et al., "Optimizing Performance of Recurrent Neural
Networks on GPUs", 2016.
"""

from functools import partial

import numpy as np

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from . import lstm_kernels as kernels
from .dense import linear_kernel, tiles
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


def input_preactivations_on_gpu(x, w, b):
    """(room for them, the launch that fills it)"""
    (steps, batch, inputs), columns = x.shape, w.shape[0]
    z = gpu.empty((steps, batch, columns), x.dtype)
    rows, flat = x.reshape(steps * batch, inputs), z.reshape(steps * batch, columns)
    return z, lambda: linear_kernel[tiles(*flat.shape)](rows, w, b, flat)


def step_by_step(launch_step):
    """A version that launches a step, launch_step(z, h, c, u, new h, new c), after another.

    The steps' parts of arrays are made once: each takes Python longer than a launch.
    """

    def prepare(x, h, c, w, u, b, out):
        (z, fill), (hs, last_c) = input_preactivations_on_gpu(x, w, b), out
        zs, new_hs = ([each[t] for t in range(x.shape[0])] for each in (z, hs))
        olds = [(h, c), *((new_h, last_c) for new_h in new_hs[:-1])]
        steps = list(zip(zs, olds, new_hs, strict=True))

        def call():
            fill()
            for z_t, old, new_h in steps:
                launch_step(z_t, *old, u, new_h, last_c)

        return call

    return prepare


def two_launches(z, h, c, u, new_h, new_c):
    kernels.add_product_kernel[tiles(*z.shape)](h, u, z)
    kernels.unit_kernel[tiles(*h.shape)](z, c, new_h, new_c)


def one_launch(z, h, c, u, new_h, new_c):
    kernels.step_kernel[tiles(*h.shape)](z, h, c, u, new_h, new_c)


lstm_sequence.version("CUDA, fused pointwise", on=gpu, prepares=True)(step_by_step(two_launches))
lstm_sequence.version("CUDA, one kernel a step", on=gpu, prepares=True)(step_by_step(one_launch))


@lstm_sequence.version("CUDA, persistent", on=gpu, prepares=True)
def launch_persistent(x, h, c, w, u, b, out):
    batch, hidden = h.shape
    if hidden > kernels.MAX_HIDDEN:
        most = kernels.MAX_HIDDEN
        raise ValueError(f"its weights fit a block's registers up to {most} hidden units")
    z, fill = input_preactivations_on_gpu(x, w, b)

    def call():
        fill()
        kernels.persistent_kernel[batch, 4 * hidden](z, h, c, u, *out)

    return call


# -- PyTorch.


@lstm_sequence.version("PyTorch, cell loop, GPU", on=torch_gpu, prepares=True)
@lstm_sequence.version("PyTorch, cell loop, CPU", on=torch_cpu, prepares=True)
def torch_cells(x, h, c, w, u, b, out):
    from torch import lstm_cell

    hs, last_c = out

    def call():
        state = h, c
        for t, x_t in enumerate(x):
            state = lstm_cell(x_t, state, w, u, b)
            hs[t] = state[0]
        last_c.copy_(state[1])

    return call


@lstm_sequence.version("PyTorch, cell loop as a CUDA graph", on=torch_gpu, prepares=True)
def torch_graph(*inputs, out):
    """The cell loop on these very tensors, captured launch by launch in a CUDA graph."""
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("a CUDA graph needs PyTorch's CUDA or ROCm")
    cells = torch_cells(*inputs, out=out)
    cells()  # once before: libraries set themselves up
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        cells()
    return graph.replay


def stacked_lstm(train):
    """What nn.LSTM calls: cuDNN on NVIDIA's GPUs, oneDNN on most CPUs. The first axis of all but x
    is the layer's. For a version that `prepares`.

    train: whether to keep what a backward pass needs.
    """

    def prepare(x, h, c, *layers):
        import torch

        weights = [p for w, u, b in zip(*layers, strict=True)
                   for p in (w, u, b, torch.zeros_like(b))]  # fmt: skip
        options = {"has_biases": True, "num_layers": len(h), "dropout": 0.0, "train": train,
                   "bidirectional": False, "batch_first": False}  # fmt: skip
        return partial(torch.lstm, x, (h, c), weights, **options)

    return prepare


@lstm_sequence.version("PyTorch, nn.LSTM, GPU", on=torch_gpu, prepares=True)
@lstm_sequence.version("PyTorch, nn.LSTM, CPU", on=torch_cpu, prepares=True)
def torch_lstm(x, h, c, w, u, b):
    layer = stacked_lstm(train=False)(x, h[None], c[None], w[None], u[None], b[None])

    def call():
        hs, _, last_c = layer()
        return hs, last_c[0]

    return call
