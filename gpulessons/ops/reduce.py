"""Reductions: many numbers in, one out, and additions that wait for additions.

    total(x) = sum of x

Adding n numbers one by one is a chain of n steps. Adding them in pairs, then the sums in pairs, is
a tree of log2(n) steps: the same additions, in another order. The kernels below are two such trees,
after Harris, "Optimizing Parallel Reduction in CUDA", 2007.
"""

import numpy as np
from numba import cuda, float32, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import FULL_MASK, SIZES, THREADS, WARP, ZERO, ceil_div, torch_call

WARPS = THREADS // WARP  # in a block


def small_numbers(size, rng):
    """x: (size,) float32, scaled so that the sum stays near 1 at any size."""
    return ((rng.standard_normal(size) / size**0.5).astype(np.float32),)


# rtol: ten million float32 additions in a row lose four digits; in a tree, hardly one.
@op(inputs=small_numbers, flops=lambda x: x.size, sizes=SIZES, rtol=1e-4)
def total(x):
    """The sum of x: (n,) float32. Returns (1,), of x's dtype."""
    return x.sum(keepdims=True)


@total.version("Python loop", on=host)
def total_python(x, out):
    partial = 0.0
    for value in x.tolist():  # a list's floats: looping over the array would make NumPy scalars
        partial += value
    out[0] = partial


@total.version("Numba, one core, in order", on=host)
@njit
def total_in_order(x, out):
    partial = np.float32(0)
    for i in range(x.size):
        partial += x[i]
    out[0] = partial


@total.version("Numba, one core, any order", on=host)
@njit(fastmath={"reassoc", "nsz"})
def total_any_order(x, out):
    partial = np.float32(0)
    for i in range(x.size):
        partial += x[i]  # reordering allowed: many partial sums side by side, in vectors
    out[0] = partial


@total.version("Numba, every core", on=host)
@njit(parallel=True, fastmath={"reassoc", "nsz"})
def total_every_core(x, out):
    partial = np.float32(0)
    for i in prange(x.size):
        partial += x[i]
    out[0] = partial


# -- On the GPU: one tree per block of 256 threads; the blocks' sums meet in one atomic addition.


@cuda.jit
def zero_kernel(out):
    out[0] = 0


def launcher(kernel, most_blocks=None):
    """Clear the sum, then launch: a block for every 256 numbers, or a bounded grid."""

    def launch(x, out):
        grid = ceil_div(x.size, THREADS)
        zero_kernel[1, 1](out)
        kernel[min(grid, most_blocks or grid), THREADS](x, out)

    return launch


@cuda.jit
def sequential_kernel(x, out):
    """Step 128, 64, …: neighbors read neighbors. No collisions, and whole warps fall idle."""
    part = cuda.shared.array(THREADS, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else ZERO
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


total.version("CUDA, sequential", on=gpu)(launcher(sequential_kernel))


@cuda.jit(device=True)
def warp_reduce_sum(value):
    """Five steps from register to register, and every lane knows the warp's sum: a butterfly, in
    which lanes 16 apart exchange what they have, then lanes 8, 4, 2 and 1 apart.
    """
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(FULL_MASK, value, step)
    return value


@cuda.jit(device=True)
def block_reduce_sum(value):
    """The same for a block of 256 threads: its warps meet in shared memory, and all know."""
    part = cuda.shared.array(WARPS, float32)
    lane, warp = cuda.threadIdx.x % WARP, cuda.threadIdx.x // WARP
    value = warp_reduce_sum(value)
    if lane == 0:
        part[warp] = value
    cuda.syncthreads()
    value = warp_reduce_sum(part[lane] if lane < WARPS else ZERO)  # in every warp
    cuda.syncthreads()  # all have read: the next call may write
    return value


@cuda.jit
def total_kernel(x, out):
    """Each thread first adds up its share in a register: one tree for millions of numbers."""
    value, i = ZERO, cuda.grid(1)
    while i < x.size:
        value += x[i]
        i += cuda.gridsize(1)
    value = block_reduce_sum(value)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, value)


total.version("CUDA, warp shuffles", on=gpu)(launcher(total_kernel, most_blocks=1024))


total_pytorch = torch_call("sum", 0, keepdim=True)
total.version("PyTorch on CPU", on=torch_cpu, prepares=True)(total_pytorch)
total.version("PyTorch on GPU", on=torch_gpu, prepares=True)(total_pytorch)
