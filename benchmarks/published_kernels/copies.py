"""Copies, 1 to 16 bytes at a time: the same bytes in ever fewer instructions.

After the benchmark in yencal/gpu-bandwidth-benchmark: a loop over the wide elements, then one over
the bytes that are left.
"""

import numpy as np
from numba import cuda

from .pairs import Pair
from .wide import load4, store4

THREADS = 1024
SIZE = 2**27  # bytes, the largest that is timed there


@cuda.jit
def copy_port(bytes_out, bytes_in, out, x):
    first, stride = cuda.grid(1), cuda.gridsize(1)
    # out and x are the same memory, seen as wider elements.
    for i in range(first, x.size, stride):
        out[i] = x[i]
    for i in range(x.nbytes + first, bytes_in.size, stride):
        bytes_out[i] = bytes_in[i]


@cuda.jit
def copy4_port(bytes_out, bytes_in, out, x):
    first, stride = cuda.grid(1), cuda.gridsize(1)
    # Here in rows of four float32, 16 bytes.
    for i in range(first, x.shape[0], stride):
        store4(out, (i, 0), load4(x, (i, 0)))
    for i in range(x.nbytes + first, bytes_in.size, stride):
        bytes_out[i] = bytes_in[i]


copy_text = """extern "C" __global__
void copy_port(char *__restrict__ bytes_out, const char *__restrict__ bytes_in, size_t size) {
    size_t first = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x;
    WIDE *out = (WIDE *)bytes_out; const WIDE *x = (const WIDE *)bytes_in;
    for (size_t i = first; i < size / sizeof(WIDE); i += stride)
        out[i] = x[i];
    for (size_t i = size / sizeof(WIDE) * sizeof(WIDE) + first; i < size; i += stride)
        bytes_out[i] = bytes_in[i]; }
"""


def arrays(size, each):
    """(bytes out, bytes in, the same two as elements of `each` bytes), for a copy of `size`."""
    out, x = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    whole = size // each * each
    if each == 16:
        return out, x, *(a[:whole].view(np.float32).reshape(-1, 4) for a in (out, x))
    return out, x, *(a[:whole].view(f"u{each}") for a in (out, x))


def copy(bytes_each, wide, port=copy_port):
    """The copy of elements of so many bytes, `wide` in C++."""
    return Pair(
        name=f"copy, {bytes_each} byte{'s' * (bytes_each > 1)}",
        port=port,
        text=copy_text,
        grid=(SIZE // bytes_each // THREADS,),
        block=(THREADS,),
        arguments=lambda: arrays(SIZE, bytes_each),
        flops=0,
        bytes=2 * SIZE,
        constants={"WIDE": wide},
    )


COPIES = (
    copy(1, "unsigned char"),
    copy(2, "unsigned short"),
    copy(4, "unsigned"),
    copy(8, "unsigned long long"),
    copy(16, "uint4", copy4_port),
)
