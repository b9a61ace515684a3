"""The counts that the microscope was specified to report, with closed forms where there are any."""

import math

import numpy as np
import pytest
from numba import cuda, float32

from warplens import PartialBarrier, trace

TILE, TALL, PADDED = 16, 32, 33


@cuda.jit
def matmul_x_is_row(A, B, C):
    row, col = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@cuda.jit
def matmul_x_is_column(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for t in range(A.shape[1] // TILE):
        a[ty, tx] = A[row, t * TILE + tx]
        b[ty, tx] = B[t * TILE + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    C[row, col] = total


@cuda.jit
def matmul_without_second_barrier(A, B, C):
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for t in range(A.shape[1] // TILE):
        a[ty, tx] = A[row, t * TILE + tx]  # written: line + 8
        b[ty, tx] = B[t * TILE + ty, col]  # written: line + 9
        cuda.syncthreads()
        for k in range(TILE):
            total += a[ty, k] * b[k, tx]  # read: line + 12
    C[row, col] = total


def product(kernel, n=64):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, n, n)).astype(np.float32)
    C = np.zeros((n, n), np.float32)
    launched = trace(kernel)[(n // TILE, n // TILE), (TILE, TILE)](A, B, C)
    right = np.allclose(C, A @ B, rtol=1e-4, atol=1e-4)
    return launched, right


@pytest.mark.parametrize(
    "kernel, a, b, c",
    [(matmul_x_is_row, 16, 1, 16), (matmul_x_is_column, 2, 2, 4), (matmul_tiled, 4, 4, 4)],
)
def test_matmul_sectors_per_request(kernel, a, b, c):
    t, right = product(kernel)
    assert right
    assert t.coalescing("A").sectors_per_request == a
    assert t.coalescing("B").sectors_per_request == b
    assert t.coalescing("C").sectors_per_request == c
    assert t.flops == 2 * 64**3
    assert t.races().cells == 0 and not t.warnings


def test_a_dropped_second_barrier_gives_a_wrong_product_and_names_both_lines():
    t, right = product(matmul_without_second_barrier)
    assert not right
    first = matmul_without_second_barrier.py_func.__code__.co_firstlineno
    assert {frozenset(r.lines) for r in t.races(limit=5000)} == {
        frozenset({first + 8, first + 12}),
        frozenset({first + 9, first + 12}),
    }


@cuda.jit
def strided_copy(x, y, stride):
    i = cuda.grid(1)
    y[i * stride] = x[i * stride]


def test_strided_copy_meets_the_closed_form():
    n = 256
    for stride, known in {1: 4, 2: 8, 3: 12, 4: 16, 7: 28, 8: 32, 32: 32}.items():
        x = np.zeros(n * stride, np.float32)
        t = trace(strided_copy)[n // 128, 128](x, x.copy(), stride)
        assert t.coalescing("x").sectors_per_request == known
        assert t.coalescing("y").sectors_per_request == known


@cuda.jit
def strided_shared_read(y, stride):
    s = cuda.shared.array(1056, float32)
    i = cuda.threadIdx.x
    for k in range(33):
        s[i + 32 * k] = 0
    cuda.syncwarp()
    y[i] = s[i * stride]


def test_a_strided_shared_read_is_gcd_way():
    for stride in range(1, 34):
        t = trace(strided_shared_read)[1, 32](np.zeros(32, np.float32), stride)
        read = t.banks(access="read")
        assert read.requests == 1
        assert read.worst == read.wavefronts == math.gcd(stride, 32)
        assert read.conflicts == read.worst - 1


@cuda.jit
def transpose(x, y):
    tile = cuda.shared.array((TALL, TALL), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = cuda.blockIdx.x * TALL, cuda.blockIdx.y * TALL
    for j in range(0, TALL, 8):
        tile[ty + j, tx] = x[by + ty + j, bx + tx]
    cuda.syncthreads()
    for j in range(0, TALL, 8):
        y[bx + ty + j, by + tx] = tile[tx, ty + j]


@cuda.jit
def transpose_padded(x, y):
    tile = cuda.shared.array((TALL, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = cuda.blockIdx.x * TALL, cuda.blockIdx.y * TALL
    for j in range(0, TALL, 8):
        tile[ty + j, tx] = x[by + ty + j, bx + tx]
    cuda.syncthreads()
    for j in range(0, TALL, 8):
        y[bx + ty + j, by + tx] = tile[tx, ty + j]


@pytest.mark.parametrize("kernel, ways", [(transpose, 32), (transpose_padded, 1)])
def test_padding_removes_the_bank_conflicts_of_a_transpose(kernel, ways):
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    y = np.zeros_like(x)
    t = trace(kernel)[(2, 2), (32, 8)](x, y)
    assert np.array_equal(y, x.T)
    assert t.banks(access="read").worst == ways
    assert t.banks(access="write").worst == 1
    assert t.coalescing().sectors_per_request == 4


@cuda.jit
def odd_and_even(x):
    i = cuda.grid(1)
    if i % 2:
        x[i] = 1


def test_branching_by_parity_diverges_in_every_instance():
    d = trace(odd_and_even)[2, 128](np.zeros(256, np.float32)).divergence()
    assert d.instances == d.divergent == 8
    assert d.efficiency == 0.75


N_BLOCK = 256


@cuda.jit
def reduce_interleaved(x, out):
    s = cuda.shared.array(N_BLOCK, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if tid % (2 * step) == 0:
            s[tid] += s[tid + step]
        cuda.syncthreads()
        step *= 2
    if tid == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def reduce_strided(x, out):
    s = cuda.shared.array(N_BLOCK, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        i = 2 * step * tid
        if i < cuda.blockDim.x:
            s[i] += s[i + step]
        cuda.syncthreads()
        step *= 2
    if tid == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def reduce_sequential(x, out):
    s = cuda.shared.array(N_BLOCK, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if tid < step:
            s[tid] += s[tid + step]
        cuda.syncthreads()
        step //= 2
    if tid == 0:
        out[cuda.blockIdx.x] = s[0]


# 1,024 elements. Of the 128-thread blocks, warps diverge wherever only some of their lanes go on:
# interleaved 4 + 4 + 4 + 4 + 4 + 2 + 1 steps and once at the end, 24 a block; otherwise 5 and 1.
@pytest.mark.parametrize(
    "kernel, threads, divergent, ways",
    [
        (reduce_interleaved, 128, 192, 1),
        (reduce_strided, 128, 48, 4),
        (reduce_sequential, 128, 48, 1),
        (reduce_interleaved, 256, 4 * 48, 1),
        (reduce_strided, 256, 4 * 6, 8),
        (reduce_sequential, 256, 4 * 6, 1),
    ],
)
def test_reductions(kernel, threads, divergent, ways):
    x = np.random.default_rng(0).integers(0, 9, 1024).astype(np.float32)
    out = np.zeros(1024 // threads, np.float32)
    t = trace(kernel)[1024 // threads, threads](x, out)
    assert out.sum() == x.sum()
    assert t.divergence().divergent == divergent
    assert t.banks().worst == ways
    assert t.races().cells == 0


@cuda.jit
def partial_barrier(x):
    tid = cuda.threadIdx.x
    if tid < 5:
        cuda.syncthreads()
    x[tid] = 1


def test_a_barrier_for_five_threads_of_32_is_named_with_its_line():
    with pytest.raises(PartialBarrier, match=r"reached by 5 of 32 threads") as caught:
        trace(partial_barrier)[1, 32](np.zeros(32, np.float32))
    assert caught.value.line == partial_barrier.py_func.__code__.co_firstlineno + 4
