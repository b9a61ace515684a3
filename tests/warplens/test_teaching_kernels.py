"""Kernels as in Numba's documentation and GPU textbooks: they run, or are refused."""

import numpy as np
import pytest
from numba import cuda, float32

from warplens import PartialBarrier, trace, tracing

TPB = 16


def test_vector_addition():
    @cuda.jit
    def vector_add(a, b, c):
        tid = cuda.grid(1)
        size = len(c)
        if tid < size:
            c[tid] = a[tid] + b[tid]

    rng = np.random.default_rng(0)
    with tracing() as launches:
        a, b = cuda.to_device(rng.random(1000)), cuda.to_device(rng.random(1000))
        c = cuda.device_array_like(a)
        vector_add.forall(len(a))(a, b, c)
        assert np.array_equal(c.copy_to_host(), a.copy_to_host() + b.copy_to_host())
    assert launches[0].work().flops == 1000 / launches[0].threads


def test_shared_memory_reduction():
    @cuda.jit
    def array_sum(data):
        tid = cuda.threadIdx.x
        size = len(data)
        if tid < size:
            i = cuda.grid(1)
            shr = cuda.shared.array(64, np.int32)
            shr[tid] = data[i]
            cuda.syncthreads()
            s = 1
            while s < cuda.blockDim.x:
                if tid % (2 * s) == 0:
                    shr[tid] += shr[tid + s]
                s *= 2
                cuda.syncthreads()
            if tid == 0:
                data[tid] = shr[tid]

    a = np.arange(64, dtype=np.int32)
    t = trace(array_sum)[1, 64](a)
    assert a[0] == sum(range(64)) and t.races().cells == 0


def test_tiled_product_of_awkward_sizes():
    @cuda.jit
    def fast_matmul(A, B, C):
        sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
        sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
        x, y = cuda.grid(2)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        bpg = cuda.gridDim.x
        tmp = float32(0.0)
        for i in range(bpg):
            sA[ty, tx] = 0
            sB[ty, tx] = 0
            if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
                sA[ty, tx] = A[y, tx + i * TPB]
            if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
                sB[ty, tx] = B[ty + i * TPB, x]
            cuda.syncthreads()
            for j in range(TPB):
                tmp += sA[ty, j] * sB[j, tx]
            cuda.syncthreads()
        if y < C.shape[0] and x < C.shape[1]:
            C[y, x] = tmp

    rng = np.random.default_rng(0)
    A, B = rng.random((37, 23), np.float32), rng.random((23, 29), np.float32)
    C = np.zeros((37, 29), np.float32)
    t = trace(fast_matmul)[(3, 3), (TPB, TPB)](A, B, C)
    np.testing.assert_allclose(C, A @ B, rtol=1e-5)
    assert t.races().cells == 0 and not t.warnings


def heat(buf_0, buf_1, timesteps, k):
    i = cuda.grid(1)
    if i >= len(buf_0):
        return
    grid = cuda.cg.this_grid()
    for step in range(timesteps):
        if (step % 2) == 0:
            data, next_data = buf_0, buf_1
        else:
            data, next_data = buf_1, buf_0
        curr_temp = data[i]
        if i == 0:
            next_temp = curr_temp + k * (data[i + 1] - (2 * curr_temp))
        elif i == len(data) - 1:
            next_temp = curr_temp + k * (data[i - 1] - (2 * curr_temp))
        else:
            next_temp = curr_temp + k * (data[i - 1] - (2 * curr_temp) + data[i + 1])
        next_data[i] = next_temp
        grid.sync()


def test_heat_equation_with_a_grid_barrier():
    def reference(u, steps, k):
        for _ in range(steps):
            left, right = np.r_[0, u[:-1]], np.r_[u[1:], 0]
            u = u + k * (left - 2 * u + right)
        return u

    u = np.random.default_rng(0).random(1001)
    a, b = u.copy(), np.zeros_like(u)
    t = trace(cuda.jit(heat))[4, 256](a, b, 10, 0.25)
    np.testing.assert_allclose(a, reference(u, 10, 0.25), rtol=1e-12)
    assert t.races().cells == 0


def test_jacobi_step_in_two_dimensions():
    @cuda.jit
    def jacobi(u, new, change):
        j, i = cuda.grid(2)
        n, m = u.shape
        if i >= 1 and i < n - 1 and j >= 1 and j < m - 1:
            new[i, j] = 0.25 * (u[i, j - 1] + u[i, j + 1] + u[i - 1, j] + u[i + 1, j])
            cuda.atomic.max(change, 0, abs(new[i, j] - u[i, j]))

    u = np.random.default_rng(0).random((40, 50))
    new, change = u.copy(), np.zeros(1)
    trace(jacobi)[(4, 3), (16, 16)](u, new, change)
    expected = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    np.testing.assert_allclose(new[1:-1, 1:-1], expected, rtol=1e-14)
    assert change[0] == np.abs(new - u).max()


SESSION_TIMEOUT = np.int64(np.timedelta64(1, "D") // np.timedelta64(1, "D"))


def sessionize(user_id, timestamp, results):
    gid = cuda.grid(1)
    size = len(user_id)
    if gid >= size:
        return
    is_first = gid == 0
    if not is_first:
        new_user = user_id[gid] != user_id[gid - 1]
        timed_out = timestamp[gid] - timestamp[gid - 1] > SESSION_TIMEOUT
        is_boundary = new_user or timed_out
    else:
        is_boundary = True
    if is_boundary:
        results[gid] = gid
        grid = cuda.cg.this_grid()
        grid.sync()
        ahead = 1
        while results[gid + ahead] == 0:
            results[gid + ahead] = gid
            ahead += 1
            if gid + ahead == size - 1:
                results[gid + ahead] = gid
                break


def sessionize_with_the_barrier_for_all(user_id, timestamp, results):
    gid = cuda.grid(1)
    size = len(user_id)
    is_boundary = False
    if gid < size:
        if gid == 0:
            is_boundary = True
        else:
            is_boundary = (
                user_id[gid] != user_id[gid - 1]
                or timestamp[gid] - timestamp[gid - 1] > SESSION_TIMEOUT
            )
        if is_boundary:
            results[gid] = gid
    cuda.cg.this_grid().sync()
    if is_boundary:
        ahead = gid + 1
        while ahead < size and results[ahead] == 0:
            results[ahead] = gid
            ahead += 1


def clicks():
    users = np.repeat([1, 2, 3], [10, 20, 10])
    days = np.cumsum(np.where(np.arange(40) % 7 == 3, 3, 1))
    return users, np.datetime64("2026-01-01") + days.astype("timedelta64[D]")


def test_sessions_of_clicks():
    users, times = clicks()
    results = np.zeros(40, np.int64)
    t = trace(cuda.jit(sessionize_with_the_barrier_for_all))[2, 32](users, times, results)
    starts = [
        i
        for i in range(40)
        if i == 0 or users[i] != users[i - 1] or (times[i] - times[i - 1]).astype(int) > 1
    ]
    assert results.tolist() == [max(s for s in starts if s <= i) for i in range(40)]
    assert t.coalescing("results").requests


def test_sessions_with_a_grid_barrier_for_some_are_refused_for_that_barrier():
    users, times = clicks()
    with pytest.raises(PartialBarrier, match="a barrier is reached by") as caught:
        trace(cuda.jit(sessionize))[2, 32](users, times, np.zeros(40, np.int64))
    assert caught.value.line == sessionize.__code__.co_firstlineno + 15


def test_monte_carlo_pi():
    from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

    @cuda.jit
    def compute_pi(rng_states, iterations, out):
        thread_id = cuda.grid(1)
        inside = 0
        for _ in range(iterations):
            x = xoroshiro128p_uniform_float32(rng_states, thread_id)
            y = xoroshiro128p_uniform_float32(rng_states, thread_id)
            if x**2 + y**2 <= 1.0:
                inside += 1
        out[thread_id] = 4.0 * inside / iterations

    with tracing():
        states = create_xoroshiro128p_states(128, seed=1)
        out = np.zeros(128, dtype=np.float32)
        compute_pi[2, 64](states, 300, out)
    assert abs(out.mean() - np.pi) < 0.05


def test_mandelbrot():
    @cuda.jit(device=True)
    def mandel(x, y, max_iters):
        c = complex(x, y)
        z = 0.0j
        for i in range(max_iters):
            z = z * z + c
            if (z.real * z.real + z.imag * z.imag) >= 4:
                return i
        return max_iters

    @cuda.jit
    def picture(image, low, high, iters):
        height, width = image.shape
        x, y = cuda.grid(2)
        stride_x, stride_y = cuda.gridsize(2)
        for column in range(x, width, stride_x):
            for row in range(y, height, stride_y):
                real = low + column * (high - low) / width
                imag = low + row * (high - low) / height
                image[row, column] = mandel(real, imag, iters)

    image = np.zeros((24, 40), np.uint8)
    t = trace(picture)[(2, 2), (8, 8)](image, -2.0, 1.0, 30)
    expected = np.zeros_like(image)
    for row in range(24):
        for column in range(40):
            expected[row, column] = mandel.py_func(-2 + column * 3 / 40, -2 + row * 3 / 24, 30)
    assert np.array_equal(image, expected) and t.divergence().divergent > 0


def test_game_of_life_with_wrapping_neighbours():
    @cuda.jit
    def life(old, new):
        r, c = cuda.grid(2)
        n, m = old.shape
        if r < n and c < m:
            alive = 0
            for dr in range(-1, 2):
                for dc in range(-1, 2):
                    if dr or dc:
                        alive += old[(r + dr) % n, (c + dc) % m]
            new[r, c] = alive == 3 or (old[r, c] and alive == 2)

    old = np.random.default_rng(0).integers(0, 2, (20, 30)).astype(np.uint8)
    new = np.zeros_like(old)
    trace(life)[(2, 2), (16, 16)](old, new)
    around = sum(np.roll(old, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - old
    assert np.array_equal(new, (around == 3) | ((old == 1) & (around == 2)))


def test_exclusive_scan_of_a_block():
    @cuda.jit
    def scan(x, out):
        s = cuda.shared.array((2, 64), float32)
        t = cuda.threadIdx.x
        new, old = 0, 1
        s[new, t] = x[t - 1] if t > 0 else 0
        cuda.syncthreads()
        step = 1
        while step < 64:
            new, old = old, new
            if t >= step:
                s[new, t] = s[old, t] + s[old, t - step]
            else:
                s[new, t] = s[old, t]
            cuda.syncthreads()
            step *= 2
        out[t] = s[new, t]

    x = np.random.default_rng(0).integers(0, 9, 64).astype(np.float32)
    out = np.zeros(64, np.float32)
    t = trace(scan)[1, 64](x, out)
    assert np.array_equal(out, np.r_[0, np.cumsum(x)[:-1]]) and t.races().cells == 0


def test_softmax_of_rows_by_warps():
    import math

    @cuda.jit
    def softmax(x, y):
        row = cuda.blockIdx.x
        lane = cuda.threadIdx.x
        biggest = float32(-math.inf)
        for j in range(lane, x.shape[1], 32):
            biggest = max(biggest, x[row, j])
        for d in (16, 8, 4, 2, 1):
            biggest = max(biggest, cuda.shfl_xor_sync(0xFFFFFFFF, biggest, d))
        total = float32(0)
        for j in range(lane, x.shape[1], 32):
            total += math.exp(x[row, j] - biggest)
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        for j in range(lane, x.shape[1], 32):
            y[row, j] = math.exp(x[row, j] - biggest) / total

    x = np.random.default_rng(0).normal(size=(7, 50)).astype(np.float32) * 20
    y = np.zeros_like(x)
    t = trace(softmax)[7, 32](x, y)
    e = np.exp(x.astype(float) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-30)
    assert not t.warnings and t.races().cells == 0
