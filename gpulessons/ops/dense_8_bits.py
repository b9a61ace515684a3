"""The dense layer with weights of eight bits: a quarter of float32's bytes, and the same sums.

    w ≈ scale · code    code: −127 to 127 (int8), a scale for each output

The codes are what moves. They become float32 where they are used: x keeps its precision, and so do
the sums. (Libraries also do it with 4 bits, and then a scale for every 32 or 128 weights.)
"""

import numpy as np
from numba import float32, njit, prange

from gpulessons.backends import host
from gpulessons.operation import op

from .activations_more import sigmoid, vector_sigmoid
from .common import PARALLEL, REASSOCIATING, ZERO
from .dense import dense, layer


def in_codes(w):
    """(codes, scales) of weights (outputs, inputs): the largest of each row becomes ±127."""
    scales = np.abs(w).max(axis=1) / np.float32(127)
    return np.rint(w / scales[:, np.newaxis]).astype(np.int8), scales


def coded_layer(examples, rng, **axes):
    """Like `layer`, with codes and scales in place of w."""
    x, w, b = layer(examples, rng, **axes)
    return x, *in_codes(w), b


@op(inputs=coded_layer, sizes=(1, 64), rtol=2e-5, unit="examples", edge_cases=dense.edge_cases,
    flops=lambda x, codes, scales, b: (2 * x.shape[1] + 6) * x.shape[0] * b.size,
    signature="(examples, inputs), (outputs, inputs), (outputs,), (outputs,)")  # fmt: skip
def dense_8_bits(x, codes, scales, b):
    """sigmoid(scales · (x codesᵀ) + b). codes: (outputs, inputs) int8, scales: (outputs,)."""
    return sigmoid(x @ codes.T.astype(x.dtype) * scales + b)


@dense_8_bits.version("Numba, a row of bytes at a time", on=host)
@njit(**PARALLEL | REASSOCIATING)
def bytes_at_a_time(x, codes, scales, b, out):
    for j in prange(codes.shape[0]):
        for i in range(x.shape[0]):
            total = ZERO
            for k in range(x.shape[1]):
                total += x[i, k] * float32(codes[j, k])
            out[i, j] = vector_sigmoid(scales[j] * total + b[j])
