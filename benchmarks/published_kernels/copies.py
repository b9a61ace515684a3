"""Copies, 1 to 16 bytes at a time: the same bytes in ever fewer instructions.

After the benchmark in yencal/gpu-bandwidth-benchmark: a loop over the wide elements, then one over
the bytes that are left.
"""

import numpy as np
from numba import cuda

from .pairs import Pair

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


copy_text = """extern "C" __global__
void copy_port(char *__restrict__ bytes_out, const char *__restrict__ bytes_in, size_t size) {
    size_t first = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x;
    WIDE *out = (WIDE *)bytes_out; const WIDE *x = (const WIDE *)bytes_in;
    for (size_t i = first; i < size / sizeof(WIDE); i += stride)
        out[i] = x[i];
    for (size_t i = size / sizeof(WIDE) * sizeof(WIDE) + first; i < size; i += stride)
        bytes_out[i] = bytes_in[i]; }
"""


def arrays(size, dtype):
    """(bytes out, bytes in, the same two as wide elements), for a copy of `size` bytes."""
    out, x = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    whole = size // dtype.itemsize * dtype.itemsize
    return out, x, out[:whole].view(dtype), x[:whole].view(dtype)


def copy(bytes_each, wide, dtype):
    """The copy of elements of so many bytes: `wide` in C++, `dtype` in NumPy."""
    return Pair(
        name=f"copy, {bytes_each} byte{'s' * (bytes_each > 1)}",
        port=copy_port,
        text=copy_text,
        grid=(SIZE // bytes_each // THREADS,),
        block=(THREADS,),
        arguments=lambda: arrays(SIZE, np.dtype(dtype)),
        flops=0,
        bytes=2 * SIZE,
        constants={"WIDE": wide},
    )


COPIES = (
    copy(1, "unsigned char", np.uint8),
    copy(2, "unsigned short", np.uint16),
    copy(4, "unsigned", np.uint32),
    copy(8, "unsigned long long", np.uint64),
    copy(16, "uint4", np.complex128),
)
