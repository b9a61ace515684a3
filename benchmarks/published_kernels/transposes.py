"""Transposes of a square matrix: scattered writes, and four ways to mend them.

out[j, i] = x[i, j], float32, n by n. After the benchmark in yencal/gpu-matrix-transpose, which
follows Harris, "An Efficient Matrix Transpose in CUDA C/C++", 2013.
"""

import numpy as np
from numba import cuda, float32

from .pairs import Pair
from .wide import load4, store4

N = 32768
TILE = 32
PADDED = TILE + 1  # one spare column puts a tile's column into 32 different banks


@cuda.jit
def naive_port(x, out, n):
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if j < n and i < n:
        out[j, i] = x[i, j]


naive_text = """extern "C" __global__
void naive_port(const float *__restrict__ x, float *__restrict__ out, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < n && i < n)
        out[j * n + i] = x[i * n + j]; }
"""


def tile_port(WIDTH):
    """Through a tile whose rows are WIDTH long: TILE or PADDED."""

    @cuda.jit
    def tile_port(x, out, n):
        tile = cuda.shared.array((TILE, WIDTH), float32)
        lane, row = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.blockIdx.x * TILE + lane, cuda.blockIdx.y * TILE + row
        if j < n and i < n:
            tile[row, lane] = x[i, j]
        cuda.syncthreads()
        i, j = cuda.blockIdx.y * TILE + lane, cuda.blockIdx.x * TILE + row
        if i < n and j < n:
            out[j, i] = tile[lane, row]

    return tile_port


tile_text = """extern "C" __global__
void tile_port(const float *__restrict__ x, float *__restrict__ out, int n) {
    __shared__ float tile[TILE][WIDTH];
    int lane = threadIdx.x, row = threadIdx.y;
    int j = blockIdx.x * TILE + lane, i = blockIdx.y * TILE + row;
    if (j < n && i < n)
        tile[row][lane] = x[i * n + j];
    __syncthreads();
    i = blockIdx.y * TILE + lane; j = blockIdx.x * TILE + row;
    if (i < n && j < n)
        out[j * n + i] = tile[lane][row]; }
"""


def coarse_port(ROWS):
    """Through a padded tile, by TILE × ROWS threads: each moves TILE / ROWS numbers."""

    @cuda.jit
    def coarse_port(x, out, n):
        tile = cuda.shared.array((TILE, PADDED), float32)
        lane, row = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.blockIdx.x * TILE + lane, cuda.blockIdx.y * TILE + row
        for step in range(0, TILE, ROWS):
            tile[row + step, lane] = x[i + step, j]
        cuda.syncthreads()
        i, j = cuda.blockIdx.y * TILE + lane, cuda.blockIdx.x * TILE + row
        for step in range(0, TILE, ROWS):
            out[j + step, i] = tile[lane, row + step]

    return coarse_port


coarse_text = """extern "C" __global__
void coarse_port(const float *__restrict__ x, float *__restrict__ out, int n) {
    __shared__ float tile[TILE][PADDED];
    int lane = threadIdx.x, row = threadIdx.y;
    int j = blockIdx.x * TILE + lane, i = blockIdx.y * TILE + row;
    for (int step = 0; step < TILE; step += ROWS)
        tile[row + step][lane] = x[(i + step) * n + j];
    __syncthreads();
    i = blockIdx.y * TILE + lane; j = blockIdx.x * TILE + row;
    for (int step = 0; step < TILE; step += ROWS)
        out[(j + step) * n + i] = tile[lane][row + step]; }
"""


def vector_port(SIDE):
    """Through a padded tile of SIDE × SIDE, four numbers to a read and to a write; SIDE / 4 × 32
    threads."""
    WIDTH = SIDE + 1

    @cuda.jit
    def vector_port(x, out, n):
        tile = cuda.shared.array((SIDE, WIDTH), float32)
        lane, row = cuda.threadIdx.x * 4, cuda.threadIdx.y
        j, i = cuda.blockIdx.x * SIDE + lane, cuda.blockIdx.y * SIDE + row
        for step in range(0, SIDE, 32):
            a, b, c, d = load4(x, (i + step, j))
            tile[row + step, lane], tile[row + step, lane + 1] = a, b
            tile[row + step, lane + 2], tile[row + step, lane + 3] = c, d
        cuda.syncthreads()
        i, j = cuda.blockIdx.y * SIDE + lane, cuda.blockIdx.x * SIDE + row
        for step in range(0, SIDE, 32):
            a, b = tile[lane, row + step], tile[lane + 1, row + step]
            c, d = tile[lane + 2, row + step], tile[lane + 3, row + step]
            store4(out, (j + step, i), (a, b, c, d))

    return vector_port


vector_text = """extern "C" __global__
void vector_port(const float *__restrict__ x, float *__restrict__ out, int n) {
    __shared__ float tile[SIDE][WIDTH]; float4 four;
    int lane = threadIdx.x * 4, row = threadIdx.y;
    int j = blockIdx.x * SIDE + lane, i = blockIdx.y * SIDE + row;
    for (int step = 0; step < SIDE; step += 32) {
        four = *(const float4 *)&x[(i + step) * n + j];
        tile[row + step][lane] = four.x; tile[row + step][lane + 1] = four.y;
        tile[row + step][lane + 2] = four.z; tile[row + step][lane + 3] = four.w; }
    __syncthreads();
    i = blockIdx.y * SIDE + lane; j = blockIdx.x * SIDE + row;
    for (int step = 0; step < SIDE; step += 32) {
        four.x = tile[lane][row + step]; four.y = tile[lane + 1][row + step];
        four.z = tile[lane + 2][row + step]; four.w = tile[lane + 3][row + step];
        *(float4 *)&out[(j + step) * n + i] = four; } }
"""


def arrays(n):
    """(x, out, n): two matrices of n × n, zeros that take no memory until they are touched."""
    return np.zeros((n, n), np.float32), np.zeros((n, n), np.float32), n


def transpose(name, port, text, block, side=TILE, **constants):
    return Pair(
        name=f"transpose, {name}",
        port=port,
        text=text,
        grid=(N // side, N // side),
        block=block,
        arguments=lambda: arrays(N),
        flops=0,
        bytes=2 * 4 * N * N,
        constants={"TILE": TILE, "PADDED": PADDED} | constants,
    )


TRANSPOSES = (
    transpose("naive", naive_port, naive_text, (32, 32)),
    transpose("tile", tile_port(TILE), tile_text, (32, 32), WIDTH=TILE),
    transpose("padded tile", tile_port(PADDED), tile_text, (32, 32), WIDTH=PADDED),
    transpose("2 to a thread", coarse_port(16), coarse_text, (32, 16), ROWS=16),
    transpose("4 to a thread", coarse_port(8), coarse_text, (32, 8), ROWS=8),
    transpose("8 to a thread", coarse_port(4), coarse_text, (32, 4), ROWS=4),
    transpose("vectorized", vector_port(32), vector_text, (8, 32), SIDE=32, WIDTH=33),
    transpose("vectorized, tile of 64", vector_port(64), vector_text, (16, 32), side=64, SIDE=64,
              WIDTH=65),
)  # fmt: skip
