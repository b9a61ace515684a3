"""Matrix products, from a thread per result to 8 by 8 results a thread, four numbers to a read.

out = alpha x y + beta out; x (m, k), y (k, n), out (m, n), float32. After the kernels of
siboehm/SGEMM_CUDA and yencal/gpu-gemm, whose sizes of tiles these are.
"""

import numpy as np
from numba import cuda, float32

from .pairs import Pair
from .wide import load4, store4

N = 4096
T = 32


@cuda.jit
def naive_port(m, n, k, alpha, x, y, beta, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x  # down the rows
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i < m and j < n:
        total = float32(0)
        for t in range(k):
            total += x[i, t] * y[t, j]
        out[i, j] = alpha * total + beta * out[i, j]


naive_text = """extern "C" __global__ void naive_port(int m, int n, int k, float alpha,
    const float *x, const float *y, float beta, float *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        float total = 0;
        for (int t = 0; t < k; ++t)
            total += x[i * k + t] * y[t * n + j];
        out[i * n + j] = alpha * total + beta * out[i * n + j]; } }
"""


def coalesced_port(ROWS_FIRST):
    """A warp along a row. ROWS_FIRST: blocks are numbered down the rows, else along them."""

    @cuda.jit
    def coalesced_port(m, n, k, alpha, x, y, beta, out):
        i = (cuda.blockIdx.x if ROWS_FIRST else cuda.blockIdx.y) * T + cuda.threadIdx.x // T
        j = (cuda.blockIdx.y if ROWS_FIRST else cuda.blockIdx.x) * T + cuda.threadIdx.x % T
        if i < m and j < n:
            total = float32(0)
            for t in range(k):
                total += x[i, t] * y[t, j]
            out[i, j] = alpha * total + beta * out[i, j]

    return coalesced_port


coalesced_text = """extern "C" __global__ void coalesced_port(int m, int n, int k, float alpha,
    const float *x, const float *y, float beta, float *out) {
    INDEX i = (ROWS_FIRST ? blockIdx.x : blockIdx.y) * T + threadIdx.x / T;
    INDEX j = (ROWS_FIRST ? blockIdx.y : blockIdx.x) * T + threadIdx.x % T;
    if (i < m && j < n) {
        float total = 0;
        for (INDEX t = 0; t < k; ++t)
            total += x[i * k + t] * y[t * n + j];
        out[i * n + j] = alpha * total + beta * out[i * n + j]; } }
"""


def shared_port(ROWS_FIRST):
    """A block fetches a tile of x and one of y, and all its threads use both."""

    @cuda.jit
    def shared_port(m, n, k, alpha, x, y, beta, out):
        xs = cuda.shared.array((T, T), float32)
        ys = cuda.shared.array((T, T), float32)
        row, column = cuda.threadIdx.x // T, cuda.threadIdx.x % T
        i = (cuda.blockIdx.x if ROWS_FIRST else cuda.blockIdx.y) * T + row
        j = (cuda.blockIdx.y if ROWS_FIRST else cuda.blockIdx.x) * T + column
        total = float32(0)
        for start in range(0, k, T):
            xs[row, column] = x[i, start + column]
            ys[row, column] = y[start + row, j]
            cuda.syncthreads()
            for t in range(T):
                total += xs[row, t] * ys[t, column]
            cuda.syncthreads()
        out[i, j] = alpha * total + beta * out[i, j]

    return shared_port


shared_text = """extern "C" __global__ void shared_port(int m, int n, int k, float alpha,
    const float *x, const float *y, float beta, float *out) {
    __shared__ float xs[T * T];
    __shared__ float ys[T * T];
    unsigned row = threadIdx.x / T, column = threadIdx.x % T;
    unsigned top = (ROWS_FIRST ? blockIdx.x : blockIdx.y) * T; x += top * k;
    unsigned left = (ROWS_FIRST ? blockIdx.y : blockIdx.x) * T; y += left; out += top * n + left;
    float total = 0;
    for (int start = 0; start < k; start += T) {
        xs[row * T + column] = x[row * k + column];
        ys[row * T + column] = y[row * n + column];
        __syncthreads(); x += T; y += T * n;
        for (int t = 0; t < T; ++t)
            total += xs[row * T + t] * ys[t * T + column];
        __syncthreads(); }
    out[row * n + column] = alpha * total + beta * out[row * n + column]; }
"""


def column_port(BM, BN, BK, TM):
    """TM results of a column to a thread: a number of y, once read, serves all of them."""

    @cuda.jit
    def column_port(m, n, k, alpha, x, y, beta, out):
        xs = cuda.shared.array((BM, BK), float32)
        ys = cuda.shared.array((BK, BN), float32)
        top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
        row, column = cuda.threadIdx.x // BN * TM, cuda.threadIdx.x % BN  # its first result
        i, u = cuda.threadIdx.x // BK, cuda.threadIdx.x % BK  # what it fetches of x
        v, j = cuda.threadIdx.x // BN, cuda.threadIdx.x % BN  # and of y
        totals = cuda.local.array(TM, float32)
        for r in range(TM):
            totals[r] = 0
        for start in range(0, k, BK):
            xs[i, u] = x[top + i, start + u]
            ys[v, j] = y[start + v, left + j]
            cuda.syncthreads()
            for t in range(BK):
                b = ys[t, column]
                for r in range(TM):
                    totals[r] += xs[row + r, t] * b
            cuda.syncthreads()
        i, j = top + row, left + column
        for r in range(TM):
            out[i + r, j] = alpha * totals[r] + beta * out[i + r, j]

    return column_port


column_text = """extern "C" __global__ void column_port(int m, int n, int k, float alpha,
    const float *x, const float *y, float beta, float *out) {
    __shared__ float xs[BM * BK];
    __shared__ float ys[BK * BN];
    unsigned top = blockIdx.y * BM, left = blockIdx.x * BN; x += top * k; y += left;
    int row = threadIdx.x / BN * TM, column = threadIdx.x % BN;
    unsigned i = threadIdx.x / BK, u = threadIdx.x % BK;
    unsigned v = threadIdx.x / BN, j = threadIdx.x % BN;
    float totals[TM];
    for (int r = 0; r < TM; ++r)
        totals[r] = 0;
    for (unsigned start = 0; start < k; start += BK) {
        xs[i * BK + u] = x[i * k + u];
        ys[v * BN + j] = y[v * n + j];
        __syncthreads(); x += BK; y += BK * n;
        for (unsigned t = 0; t < BK; ++t) {
            float b = ys[t * BN + column];
            for (unsigned r = 0; r < TM; ++r)
                totals[r] += xs[(row + r) * BK + t] * b; }
        __syncthreads(); }
    out += top * n + left;
    for (unsigned r = 0; r < TM; ++r)
        out[(row + r) * n + column] = alpha * totals[r] + beta * out[(row + r) * n + column]; }
"""


def square_port(BM, BN, BK, TM, TN):
    """TM × TN results to a thread, side by side: TM + TN reads for TM · TN multiply-adds."""
    threads = BM // TM * (BN // TN)
    X_STEPS, Y_STEPS = BM * BK // threads, BK * BN // threads  # numbers that a thread fetches
    X_ROWS, Y_ROWS = threads // BK, threads // BN  # rows that all threads fetch in a step

    @cuda.jit
    def square_port(m, n, k, alpha, x, y, beta, out):
        xs = cuda.shared.array((BM, BK), float32)
        ys = cuda.shared.array((BK, BN), float32)
        top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
        row, column = cuda.threadIdx.x // (BN // TN) * TM, cuda.threadIdx.x % (BN // TN) * TN
        i, u = cuda.threadIdx.x // BK, cuda.threadIdx.x % BK
        v, j = cuda.threadIdx.x // BN, cuda.threadIdx.x % BN
        totals = cuda.local.array((TM, TN), float32)
        a, b = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
        for r in range(TM):
            for s in range(TN):
                totals[r, s] = 0
        for start in range(0, k, BK):
            for step in range(X_STEPS):
                xs[i + step * X_ROWS, u] = x[top + i + step * X_ROWS, start + u]
            for step in range(Y_STEPS):
                ys[v + step * Y_ROWS, j] = y[start + v + step * Y_ROWS, left + j]
            cuda.syncthreads()
            for t in range(BK):
                for r in range(TM):
                    a[r] = xs[row + r, t]
                for s in range(TN):
                    b[s] = ys[t, column + s]
                for r in range(TM):
                    for s in range(TN):
                        totals[r, s] += a[r] * b[s]
            cuda.syncthreads()
        i, j = top + row, left + column
        for r in range(TM):
            for s in range(TN):
                out[i + r, j + s] = alpha * totals[r, s] + beta * out[i + r, j + s]

    return square_port


square_text = """extern "C" __global__ void BOUNDS square_port(int m, int n, int k, float alpha,
    const float *x, const float *y, float beta, float *out) {
    __shared__ float xs[BM * BK];
    __shared__ float ys[BK * BN];
    unsigned top = blockIdx.y * BM, left = blockIdx.x * BN; x += top * k; y += left;
    int row = threadIdx.x / (BN / TN) * TM, column = threadIdx.x % (BN / TN) * TN;
    unsigned i = threadIdx.x / BK, u = threadIdx.x % BK;
    unsigned v = threadIdx.x / BN, j = threadIdx.x % BN;
    float totals[TM * TN];
    float a[TM], b[TN];
    for (int r = 0; r < TM; ++r)
        for (int s = 0; s < TN; ++s)
            totals[r * TN + s] = 0;
    for (unsigned start = 0; start < k; start += BK) {
        for (unsigned step = 0; step < X_STEPS; ++step)
            xs[(i + step * X_ROWS) * BK + u] = x[(i + step * X_ROWS) * k + u];
        for (unsigned step = 0; step < Y_STEPS; ++step)
            ys[(v + step * Y_ROWS) * BN + j] = y[(v + step * Y_ROWS) * n + j];
        __syncthreads(); x += BK; y += BK * n;
        for (unsigned t = 0; t < BK; ++t) {
            for (unsigned r = 0; r < TM; ++r)
                a[r] = xs[(row + r) * BK + t];
            for (unsigned s = 0; s < TN; ++s)
                b[s] = ys[t * BN + column + s];
            for (unsigned r = 0; r < TM; ++r)
                for (unsigned s = 0; s < TN; ++s)
                    totals[r * TN + s] += a[r] * b[s]; }
        __syncthreads(); }
    out += (top + row) * n + left + column;
    for (unsigned r = 0; r < TM; ++r)
        for (unsigned s = 0; s < TN; ++s)
            out[r * n + s] = alpha * totals[r * TN + s] + beta * out[r * n + s]; }
"""


def vector_port(BM, BN, BK, TM, TN):
    """The same, four numbers to a read; x's tile is transposed, so that a column lies in a row."""
    threads = BM // TM * (BN // TN)
    X_STEPS, Y_STEPS = BM * BK // threads // 4, BK * BN // threads // 4
    X_ROWS, Y_ROWS = 4 * threads // BK, 4 * threads // BN

    @cuda.jit
    def vector_port(m, n, k, alpha, x, y, beta, out):
        xs = cuda.shared.array((BK, BM), float32, 16)
        ys = cuda.shared.array((BK, BN), float32, 16)
        top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
        row, column = cuda.threadIdx.x // (BN // TN) * TM, cuda.threadIdx.x % (BN // TN) * TN
        i, u = cuda.threadIdx.x // (BK // 4), cuda.threadIdx.x % (BK // 4) * 4
        v, j = cuda.threadIdx.x // (BN // 4), cuda.threadIdx.x % (BN // 4) * 4
        totals = cuda.local.array((TM, TN), float32)
        a, b = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
        for r in range(TM):
            for s in range(TN):
                totals[r, s] = 0
        for start in range(0, k, BK):
            for step in range(X_STEPS):
                row_of_x = i + step * X_ROWS
                four = load4(x, (top + row_of_x, start + u))
                xs[u, row_of_x], xs[u + 1, row_of_x] = four[0], four[1]
                xs[u + 2, row_of_x], xs[u + 3, row_of_x] = four[2], four[3]
            for step in range(Y_STEPS):
                four = load4(y, (start + v + step * Y_ROWS, left + j))
                store4(ys, (v + step * Y_ROWS, j), four)
            cuda.syncthreads()
            for t in range(BK):
                for r in range(0, TM, 4):
                    a[r], a[r + 1], a[r + 2], a[r + 3] = load4(xs, (t, row + r))
                for s in range(0, TN, 4):
                    b[s], b[s + 1], b[s + 2], b[s + 3] = load4(ys, (t, column + s))
                for r in range(TM):
                    for s in range(TN):
                        totals[r, s] += a[r] * b[s]
            cuda.syncthreads()
        i, j = top + row, left + column
        for r in range(TM):
            for s in range(0, TN, 4):
                c, d = alpha * totals[r, s], alpha * totals[r, s + 1]
                e, f = alpha * totals[r, s + 2], alpha * totals[r, s + 3]
                if beta != 0:
                    four = load4(out, (i + r, j + s))
                    c, d = c + beta * four[0], d + beta * four[1]
                    e, f = e + beta * four[2], f + beta * four[3]
                store4(out, (i + r, j + s), (c, d, e, f))

    return vector_port


vector_text = """extern "C" __global__ void vector_port(int m, int n, int k, float alpha,
    const float *x, const float *y, float beta, float *out) {
    __shared__ __align__(16) float xs[BK * BM];
    __shared__ __align__(16) float ys[BK * BN];
    unsigned top = blockIdx.y * BM, left = blockIdx.x * BN; x += top * k; y += left;
    int row = threadIdx.x / (BN / TN) * TM, column = threadIdx.x % (BN / TN) * TN;
    unsigned i = threadIdx.x / (BK / 4), u = threadIdx.x % (BK / 4) * 4;
    unsigned v = threadIdx.x / (BN / 4), j = threadIdx.x % (BN / 4) * 4;
    float totals[TM * TN];
    __align__(16) float a[TM], b[TN]; float4 four;
    for (int r = 0; r < TM; ++r)
        for (int s = 0; s < TN; ++s)
            totals[r * TN + s] = 0;
    for (unsigned start = 0; start < k; start += BK) {
        for (unsigned step = 0; step < X_STEPS; ++step) {
            unsigned row_of_x = i + step * X_ROWS;
            four = *(const float4 *)&x[row_of_x * k + u];
            xs[u * BM + row_of_x] = four.x; xs[(u + 1) * BM + row_of_x] = four.y;
            xs[(u + 2) * BM + row_of_x] = four.z; xs[(u + 3) * BM + row_of_x] = four.w; }
        for (unsigned step = 0; step < Y_STEPS; ++step) {
            four = *(const float4 *)&y[(v + step * Y_ROWS) * n + j];
            *(float4 *)&ys[(v + step * Y_ROWS) * BN + j] = four; }
        __syncthreads(); x += BK; y += BK * n;
        for (unsigned t = 0; t < BK; ++t) {
            for (unsigned r = 0; r < TM; r += 4)
                *(float4 *)&a[r] = *(float4 *)&xs[t * BM + row + r];
            for (unsigned s = 0; s < TN; s += 4)
                *(float4 *)&b[s] = *(float4 *)&ys[t * BN + column + s];
            for (unsigned r = 0; r < TM; ++r)
                for (unsigned s = 0; s < TN; ++s)
                    totals[r * TN + s] += a[r] * b[s]; }
        __syncthreads(); }
    i = top + row; j = left + column;
    for (unsigned r = 0; r < TM; ++r)
        for (unsigned s = 0; s < TN; s += 4) {
            float c = alpha * totals[r * TN + s], d = alpha * totals[r * TN + s + 1];
            float e = alpha * totals[r * TN + s + 2], f = alpha * totals[r * TN + s + 3];
            if (READS_OUT) {
                four = *(const float4 *)&out[(i + r) * n + j + s];
                c += beta * four.x; d += beta * four.y;
                e += beta * four.z; f += beta * four.w; }
            *(float4 *)&out[(i + r) * n + j + s] = make_float4(c, d, e, f); } }
"""


def arrays(n, alpha, beta):
    """The ports' arguments for matrices of n × n; the third number is how many terms a sum has."""
    x, y, out = (np.zeros((n, n), np.float32) for _ in range(3))
    return n, n, n, np.float32(alpha), x, y, np.float32(beta), out


def product(name, port, text, grid, block, alpha, beta, **constants):
    return Pair(
        name=f"product, {name}",
        port=port,
        text=text,
        grid=grid,
        block=block,
        arguments=lambda: arrays(N, alpha, beta),
        flops=2 * N**3,
        bytes=4 * N**2 * (4 if beta else 3),
        constants={"T": T} | constants,
    )


def boehm(name, port, text, grid, block, **constants):
    """As siboehm/SGEMM_CUDA launches it: alpha 0.5, beta 3."""
    return product(name, port, text, grid, block, alpha=0.5, beta=3.0, **constants)


def yencal(name, port, text, grid, block, **constants):
    """As yencal/gpu-gemm launches it: alpha 1, beta 0."""
    return product(name, port, text, grid, block, alpha=1.0, beta=0.0, **constants)


def steps(BM, BN, BK, TM, TN, each=1):
    """The sizes of a register tile, and what follows of them, as the texts name it."""
    threads = BM // TM * (BN // TN)
    sizes = {"BM": BM, "BN": BN, "BK": BK, "TM": TM, "TN": TN}
    sizes |= {"X_STEPS": BM * BK // threads // each, "Y_STEPS": BK * BN // threads // each}
    return sizes | {"X_ROWS": each * threads // BK, "Y_ROWS": each * threads // BN}


def tiles(side):
    return N // side, N // side


PRODUCTS = (
    boehm("naive", naive_port, naive_text, tiles(32), (32, 32)),
    boehm("coalesced", coalesced_port(True), coalesced_text, tiles(32), (1024,),
          ROWS_FIRST=1, INDEX="int"),
    boehm("shared tile", shared_port(True), shared_text, tiles(32), (1024,), ROWS_FIRST=1),
    boehm("8 to a thread", column_port(64, 64, 8, 8), column_text, tiles(64), (512,),
          BM=64, BN=64, BK=8, TM=8),
    boehm("8 × 8 to a thread", square_port(128, 128, 8, 8, 8), square_text, tiles(128), (256,),
          BOUNDS="__launch_bounds__(256,1)", **steps(128, 128, 8, 8, 8)),
    boehm("vectorized", vector_port(128, 128, 8, 8, 8), vector_text, tiles(128), (256,),
          READS_OUT=1, **steps(128, 128, 8, 8, 8, each=4)),
    yencal("coalesced, along rows", coalesced_port(False), coalesced_text, tiles(32), (1024,),
           ROWS_FIRST=0, INDEX="unsigned"),
    yencal("shared tile, along rows", shared_port(False), shared_text, tiles(32), (1024,),
           ROWS_FIRST=0),
    yencal("8 × 8 to a thread, blocks of 64", square_port(64, 64, 8, 8, 8), square_text, tiles(64),
           (64,), BOUNDS="", **steps(64, 64, 8, 8, 8)),
    yencal("vectorized, 16 deep", vector_port(128, 128, 16, 8, 8), vector_text, tiles(128), (256,),
           READS_OUT="beta != 0", **steps(128, 128, 16, 8, 8, each=4)),
)  # fmt: skip
