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
from .common import PARALLEL, REASSOCIATING, ZERO, ceil_div, run_op
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


@dense_8_bits.version("Numba, unpacked in registers", on=host)
@njit(**PARALLEL | REASSOCIATING)
def unpacked_in_registers(x, codes, scales, b, out):
    last, end = len(codes) - 1, len(x) - 1  # a row too many, or an example, is computed twice
    for j in prange(ceil_div(len(codes), 2)):
        below, above = codes[2 * j], codes[min(2 * j + 1, last)]
        for i in range(0, len(x), 4):
            x0, x1, x2, x3 = x[i], x[min(i + 1, end)], x[min(i + 2, end)], x[min(i + 3, end)]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = ZERO
            for k in range(x.shape[1]):  # two codes become numbers, and meet four examples each
                p, q = float32(below[k]), float32(above[k])
                a0, a1, a2, a3 = a0 + p * x0[k], a1 + p * x1[k], a2 + p * x2[k], a3 + p * x3[k]
                b0, b1, b2, b3 = b0 + q * x0[k], b1 + q * x1[k], b2 + q * x2[k], b3 + q * x3[k]
            for n, pair in enumerate(((a0, b0), (a1, b1), (a2, b2), (a3, b3))):
                for m, total in enumerate(pair):
                    row, example = min(2 * j + m, last), min(i + n, end)
                    out[example, row] = vector_sigmoid(scales[row] * total + b[row])


if __name__ == "__main__":
    run_op(dense_8_bits)
