"""Layers of LSTM, one on another: two chains that can run side by side.

Layer l at step t needs itself at step t − 1, and the layer below at step t:

    tick        0      1      2      3      …
    layer 0   step 0 step 1 step 2 step 3
    layer 1          step 0 step 1 step 2        one tick behind: a wavefront

Layer by layer, two layers of 64 steps are a chain of 128 steps; as a wavefront they are 65 ticks,
each with twice the work that can be done at once. A machine that one step does not fill gains; a
machine that is full already does not. After Appleyard et al. 2016, section 3.
"""

import numpy as np

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from . import lstm_kernels as kernels
from .dense import tiles
from .lstm_parts import array_unit, flops, parameters
from .lstm_sequence import lstm_sequence, numba_every_core, sequences, stacked_lstm

LAYERS = 2


def stacked(hidden, rng, **axes):
    """x: (steps, batch, hidden); h, c: (layers, batch, hidden); w, u: (layers, 4·hidden, hidden);
    b: (layers, 4·hidden): two layers; steps and batch as in `sequences`."""
    x, h, *_ = sequences(hidden, rng, **axes)
    layers = [parameters(hidden, hidden, rng) for _ in range(LAYERS)]
    states = rng.standard_normal((2, LAYERS, *h.shape), np.float32)
    return x, *states, *map(np.stack, zip(*layers, strict=True))


@op(
    inputs=stacked,
    flops=flops,
    sizes=(16, 64, 256),
    rtol=1e-4,
    unit="hidden units",
    edge_cases=[Case(n, steps=5, batch=3) for n in (5, 17, 1)],
    signature="(steps, batch, hidden), (layers, batch, hidden), (layers, batch, hidden), "
    "(layers, gates, hidden), (layers, gates, hidden), (layers, gates)",
)
def lstm_layers(x, h, c, w, u, b):
    """h of the last layer after each step: (steps, batch, hidden); the last h and c of every layer.

    Shapes of the inputs: see `stacked`; as many layers as w has, and as many inputs as units.
    """
    return layer_by_layer(lstm_sequence, x, h, c, w, u, b)


def layer_by_layer(sequence, x, *layers):
    """What one layer says at all steps is what the next one reads."""
    last_h, last_c = [], []
    for h, c, w, u, b in zip(*layers, strict=True):
        x, c = sequence(x, h, c, w, u, b)
        last_h.append(x[-1])
        last_c.append(c)
    return x, np.stack(last_h), np.stack(last_c)


@lstm_layers.version("NumPy, wavefront", on=host)
def wavefront(x, h, c, w, u, b):
    """Ticks instead of steps: the layers that have something to do share one (batched) product."""
    (layers, *_), steps = w.shape, len(x)
    h, c, hs = h.copy(), c.copy(), []
    wt, ut = w.swapaxes(1, 2), u.swapaxes(1, 2)
    for tick in range(steps + layers - 1):
        first, stop = max(0, tick - steps + 1), min(layers, tick + 1)
        busy = slice(first, stop)
        below = np.stack([h[layer - 1] if layer else x[tick] for layer in range(first, stop)])
        z = below @ wt[busy] + h[busy] @ ut[busy] + b[busy, None]
        h[busy], c[busy] = array_unit(*np.split(z, 4, axis=2), c[busy])
        if stop == layers:
            hs.append(h[-1].copy())
    return np.stack(hs), h, c


@lstm_layers.version("Numba, every core", on=host)
def numba_layers(x, h, c, w, u, b):
    """Layer by layer: every core has its share of the batch already, and no use for a wavefront."""

    def sequence(x, h, c, w, u, b):
        out = np.empty((*x.shape[:2], h.shape[1]), h.dtype), np.empty_like(c)
        numba_every_core(x, h, c, w, u, b, out)
        return out

    return layer_by_layer(sequence, x, h, c, w, u, b)


@lstm_layers.version("CUDA, wavefront", on=gpu, prepares=True)
def launch_wavefront(x, h, c, w, u, b):
    """One launch a tick, for all the layers that have something to do."""
    (layers, batch, hidden), steps = h.shape, x.shape[0]
    states, hs = gpu.empty((2, *h.shape), h.dtype), gpu.empty((steps, batch, hidden), h.dtype)
    last_c, ((across, down), block) = gpu.empty(c.shape, c.dtype), tiles(batch, hidden)
    last_h = states[(steps - 1) % 2]

    def call():
        for tick in range(steps + layers - 1):
            first, stop = max(0, tick - steps + 1), min(layers, tick + 1)
            grid = (across, down, stop - first)
            kernels.wave_kernel[grid, block](tick, first, x, h, c, w, u, b, states, hs, last_c)
        return hs, last_h, last_c

    return call


# PyTorch's nn.LSTM(num_layers=2). On a GPU it is cuDNN, which runs the layers as a wavefront.
for name, backend in (("GPU", torch_gpu), ("CPU", torch_cpu)):
    nn_lstm = stacked_lstm(train=False)
    lstm_layers.version(f"PyTorch, nn.LSTM, {name}", on=backend, prepares=True)(nn_lstm)
