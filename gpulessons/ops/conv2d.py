"""Convolution: the same few weights, laid on every place of a picture.

    conv2d(x, w)[b, f, i, j] = sum over c, ky, kx of w[f, c, ky, kx] x[b, c, row, column],
    row = stride · i + ky − padding, column = stride · j + kx − padding

Outside the picture x is zero (LeCun et al. 1989). Each output stands alone, so all can be made at
once. And neighbors use nearly the same pixels: as with a matrix product, a program that loads a
number anew for every use waits for memory.

With x's patches written down as columns (im2col.py), y = w · columns: a product.
"""

from functools import cache, partial

import numpy as np
from numba import cuda, float32

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .common import THREADS, ceil_div, grid
from .conv2d_direct import by_columns, direct
from .im2col import bordered, im2col, output_size, patches


def layer(height, rng, width=None, batch=1, channels=64, filters=64, kernel=(3, 3), stride=1,
          padding=1):  # fmt: skip
    """x, w, stride, padding: a layer of ResNet (He et al. 2015) on a square picture by default."""
    x = rng.standard_normal((batch, channels, height, width or height), np.float32)
    w = rng.standard_normal((filters, channels, *kernel), np.float32)
    return x, w / np.float32(w[0].size ** 0.5), stride, padding  # results are around 1


def flops(x, w, stride, padding):
    """A multiplication and an addition for each weight at each position, padding included."""
    rows, columns = output_size(x, w.shape[2:], stride, padding)
    return 2 * x.shape[0] * rows * columns * w.size


EDGES = (  # small layers in which no two of these numbers can be mixed up
    Case(26, width=42, batch=2, channels=2, filters=9),
    Case(19, width=35, batch=2, channels=3, filters=4, kernel=(5, 2), stride=2),
    Case(8, width=24, channels=1, filters=2, kernel=(7, 5), padding=3),
    Case(5, width=21, batch=2, channels=2, filters=5, kernel=(1, 1), stride=2, padding=0),
    Case(2, width=18, channels=2, filters=1, kernel=(2, 2), stride=3, padding=3),  # blank corners
    Case(1, width=17, batch=2, channels=2, filters=9),
)


@op(inputs=layer, flops=flops, sizes=(7, 14, 28, 56), rtol=1e-5,  # sums of 576 products
    unit="pixels a side", edge_cases=EDGES,
    signature="(batch, channels, height, width), (filters, channels, ky, kx)")  # fmt: skip
def conv2d(x, w, stride, padding):
    """Every filter at every position. x: (batch, channels, height, width), w: (filters, channels,
    kernel height, kernel width), of one dtype; returns (batch, filters, rows, columns).
    """
    view = patches(bordered(x, padding), w.shape[2:], stride)
    return np.einsum("bcklij,fckl->bfij", view, w, optimize=True)


@conv2d.version("NumPy, im2col", on=host)
def numpy_im2col(x, w, stride, padding, out):
    for picture, result in zip(x, out, strict=True):
        columns = im2col(picture[None], w.shape[2:], stride, padding)[0]
        np.matmul(w.reshape(len(w), -1), columns, out=result.reshape(len(w), -1))


conv2d.version("Numba, im2col", on=host)(by_columns)  # only as many as fit a cache
conv2d.version("Numba, direct", on=host)(direct)


# -- On the GPU: a thread per output fetches both factors each time; then a block shares them.


@cuda.jit(device=True)
def place(n, out):
    """Picture, row and column of place n; with channels, picture and channel are one number."""
    row, column = n // out.shape[3], n % out.shape[3]
    return row // out.shape[2], row % out.shape[2], column


@cuda.jit
def direct_kernel(x, w, stride, padding, out):
    n = cuda.grid(1)
    if n < out.size:
        plane, i, j = place(n, out)
        b, f = plane // out.shape[1], plane % out.shape[1]
        total = float32(0)
        for ky in range(w.shape[2]):
            for kx in range(w.shape[3]):
                row, column = stride * i + ky - padding, stride * j + kx - padding
                if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                    c = 0
                    while c < w.shape[1]:  # not range(): notebook 05 says why
                        total += w[f, c, ky, kx] * x[b, c, row, column]
                        c += 1
        out[b, f, i, j] = total


@conv2d.version("CUDA, a thread per output", on=gpu)
def launch_direct(x, w, stride, padding, out):
    direct_kernel[ceil_div(out.size, THREADS), THREADS](x, w, stride, padding, out)


LANES, WARPS_DOWN, EACH = 32, 4, 4  # a warp lies along a row of outputs; a thread makes four
BLOCK_ROWS = WARPS_DOWN * EACH
FILTERS = 8  # each number that a thread takes from the patch serves eight filters


@cuda.jit(device=True)
def fetch_patch(x, b, c, top, left, width, patch, thread):
    """A channel's pixels from (top, left) on, `width` a row, zeros outside; all threads call it."""
    for n in range(thread, patch.size, LANES * WARPS_DOWN):
        row, column = top + n // width, left + n % width
        inside = 0 <= row < x.shape[2] and 0 <= column < x.shape[3]
        patch[n] = x[b, c, row, column] if inside else float32(0)


@cuda.jit(device=True)
def fetch_weights(w, first, c, taps, wide, weights, thread):
    """Of eight filters from the first on: their weights for one channel."""
    for n in range(thread, weights.size, LANES * WARPS_DOWN):
        f, tap = first + n // taps, n % taps
        weights[n] = w[f, c, tap // wide, tap % wide] if f < w.shape[0] else float32(0)


@cache
def tiles_kernel(high, wide, stride):
    """16 rows by 32 columns of outputs, of eight filters: 32 sums a thread, kept in registers.
    Compiled for a filter's size and a stride: shared arrays must have a known size."""
    taps = high * wide
    weights_size = FILTERS * taps
    width = (LANES - 1) * stride + wide
    patch_size = ((BLOCK_ROWS - 1) * stride + high) * width
    sums_size = FILTERS * EACH

    @cuda.jit
    def tiles(x, w, padding, out):
        patch = cuda.shared.array(patch_size, float32)
        weights = cuda.shared.array(weights_size, float32)
        sums = cuda.local.array(sums_size, float32)
        pixels = cuda.local.array(EACH, float32)
        groups = (out.shape[1] + FILTERS - 1) // FILTERS
        b, first = cuda.blockIdx.z // groups, cuda.blockIdx.z % groups * FILTERS
        lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
        left, above = cuda.blockIdx.x * LANES, cuda.blockIdx.y * BLOCK_ROWS
        thread = warp * LANES + lane
        for k in range(FILTERS * EACH):
            sums[k] = float32(0)
        for c in range(x.shape[1]):
            top, begin = above * stride - padding, left * stride - padding
            fetch_patch(x, b, c, top, begin, width, patch, thread)
            fetch_weights(w, first, c, taps, wide, weights, thread)
            cuda.syncthreads()  # patch and weights are complete
            ky = 0
            while ky < high:  # not range(): notebook 05 says why
                kx = 0
                while kx < wide:
                    for r in range(EACH):
                        row = (warp * EACH + r) * stride + ky
                        pixels[r] = patch[row * width + kx + lane * stride]
                    for f in range(FILTERS):  # 4 pixels and 8 weights for 32 multiplications
                        weight = weights[f * taps + ky * wide + kx]
                        for r in range(EACH):
                            sums[f * EACH + r] += weight * pixels[r]
                    kx += 1
                ky += 1
            cuda.syncthreads()  # no thread needs them any more
        for f in range(FILTERS):
            for r in range(EACH):
                i, j = above + warp * EACH + r, left + lane
                if first + f < out.shape[1] and i < out.shape[2] and j < out.shape[3]:
                    out[b, first + f, i, j] = sums[f * EACH + r]

    return tiles


@conv2d.version("CUDA, shared tiles", on=gpu)
def launch_tiles(x, w, stride, padding, out):
    across, down = ceil_div(out.shape[3], LANES), ceil_div(out.shape[2], BLOCK_ROWS)
    blocks = across, down, ceil_div(out.shape[1], FILTERS) * out.shape[0]
    tiles_kernel(*w.shape[2:], stride)[blocks, (LANES, WARPS_DOWN)](x, w, padding, out)


# -- As a product: weights (filters, depth) times columns (depth, places), where depth is channels ·
# -- ky · kx, and places are those of all pictures. Implicit GEMM writes no columns: where a block
# -- fetches a tile of them, it takes each number from its pixel.

BM, BN, BK, EACH_WAY = 64, 64, 16, 4  # filters, places and depth of a tile; 4 × 4 sums a thread


@cuda.jit(device=True)
def pixel(x, high, wide, stride, padding, k, b, i, j):
    """Row k of the columns at place (b, i, j); zero outside a picture, and beyond the last."""
    c, ky, kx = k // (high * wide), k // wide % high, k % wide
    row, column = stride * i + ky - padding, stride * j + kx - padding
    inside = 0 <= row < x.shape[2] and 0 <= column < x.shape[3]
    return x[b, c, row, column] if inside and b < x.shape[0] and c < x.shape[1] else float32(0)


@cache
def implicit_kernel(high, wide):
    """The register tile of notebook 05, whose second matrix is not there. w: (filters, depth).

    Compiled for a filter's size: to divide by a known number takes no division.
    """

    @cuda.jit
    def implicit(x, w, stride, padding, out):
        ws = cuda.shared.array((BM, BK), float32, 16)
        xs = cuda.shared.array((BK, BN), float32, 16)
        totals = cuda.local.array((EACH_WAY, EACH_WAY), float32)
        held = cuda.local.array(EACH_WAY, float32)
        for r in range(EACH_WAY):
            for s in range(EACH_WAY):
                totals[r, s] = 0
        t, first, left = cuda.threadIdx.x & 255, cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
        b, i, j = place(left + t % BN, out)  # whose numbers this thread fetches
        start = 0
        while start < w.shape[1]:
            for step in range(4):  # 256 threads fetch 1,024 weights and 1,024 pixels
                f, k = t // BK + 16 * step, t % BK
                inside = first + f < w.shape[0] and start + k < w.shape[1]
                ws[f, k] = w[first + f, start + k] if inside else float32(0)
                k = t // BN + 4 * step
                xs[k, t % BN] = pixel(x, high, wide, stride, padding, start + k, b, i, j)
            cuda.syncthreads()
            for k in range(BK):
                for s in range(EACH_WAY):
                    held[s] = xs[k, t % 16 + 16 * s]
                for r in range(EACH_WAY):
                    weight = ws[t // 16 + 16 * r, k]
                    for s in range(EACH_WAY):
                        totals[r, s] += weight * held[s]
            cuda.syncthreads()
            start += BK
        for s in range(EACH_WAY):
            b, i, j = place(left + t % 16 + 16 * s, out)
            for r in range(EACH_WAY):
                f = first + t // 16 + 16 * r
                if f < out.shape[1] and b < out.shape[0]:
                    out[b, f, i, j] = totals[r, s]

    return implicit


@conv2d.version("CUDA, implicit GEMM", on=gpu, prepares=True)
def launch_implicit(x, w, stride, padding, out):
    places = out.shape[0] * out.shape[2] * out.shape[3]
    blocks, flat = grid((w.shape[0], places), BM, BN), w.reshape(w.shape[0], -1)
    kernel = implicit_kernel(*w.shape[2:])
    return lambda: kernel[blocks, THREADS](x, flat, stride, padding, out)


@cache
def columns_kernel(high, wide):
    """A thread for each channel and place writes ky · kx numbers, as Caffe does."""

    @cuda.jit
    def write_columns(x, stride, padding, columns):
        n, channels = cuda.grid(1), x.shape[1]
        plane, i, j = place(n, columns)
        b, c = plane // channels, plane % channels
        if b < x.shape[0]:
            for tap in range(high * wide):
                k = c * high * wide + tap
                columns[b, k, i, j] = pixel(x, high, wide, stride, padding, k, b, i, j)

    return write_columns


def columns_first(name, multiply):
    """Columns are written, and then multiplied: to a filter of 1 × 1 they are just a picture."""

    @conv2d.version(name, on=gpu, prepares=True)
    def launch_columns(x, w, stride, padding, out):
        columns = gpu.empty((x.shape[0], w.size // w.shape[0], *out.shape[2:]), x.dtype)
        blocks = ceil_div(columns.size // (w.shape[2] * w.shape[3]), THREADS)
        write = columns_kernel(*w.shape[2:])
        product = multiply(columns, w.reshape(w.shape[0], -1, 1, 1), 1, 0, out)

        def call():
            write[blocks, THREADS](x, stride, padding, columns)
            product()

        return call


columns_first("CUDA, im2col, no tile", partial(partial, launch_direct))
columns_first("CUDA, im2col", launch_implicit)


# PyTorch: oneDNN on a CPU, cuDNN on an NVIDIA GPU, which would round factors to TF32 by default.
@conv2d.version("PyTorch, TF32, GPU", on=torch_gpu, rtol=5e-3, arithmetic="TF32", prepares=True)
@conv2d.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@conv2d.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(x, w, stride, padding):
    import torch

    return partial(torch.conv2d, x, w, stride=stride, padding=padding)


def shaped(dims, kernel, *, padding=None):
    """conv2d for another layer: dims are (batch, channels, filters), kernel (height, width); the
    padding of an odd, square kernel keeps the size unless told."""
    padding = kernel[0] // 2 if padding is None else padding
    numbers = dict(zip(("batch", "channels", "filters"), dims, strict=True))
    inputs = partial(layer, **numbers, kernel=kernel, padding=padding)
    return conv2d.like(inputs, sizes=(28, 56, 112))
