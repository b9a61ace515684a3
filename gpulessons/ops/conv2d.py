"""Convolution: the same few weights, laid on every place of a picture.

    conv2d(x, w)[b, f, i, j] = sum over c, ky, kx of w[f, c, ky, kx] x[b, c, row, column],
    row = stride · i + ky − padding, column = stride · j + kx − padding

Outside the picture x is zero. (Mathematicians turn w around first. Networks never did: LeCun et al.
1989.) Each output stands alone, so all can be made at once. And neighbors use nearly the same
pixels: as with a matrix product, who fetches a number anew for every use waits for memory.
"""

from functools import cache
from itertools import product

import numpy as np
from numba import njit, prange

from gpulessons.backends import allow_tf32, gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops import conv2d_direct
from gpulessons.ops import conv2d_kernels as kernels
from gpulessons.ops.activations import blocks
from gpulessons.ops.im2col import bordered, im2col, output_size, patches
from gpulessons.ops.matmul import fast, multiply

# (batch, channels, filters), kernel, stride, padding: a layer of ResNet (He et al. 2015), and small
# ones that find out whoever mixes up two of these numbers.
RESNET = (1, 64, 64), (3, 3), 1, 1
AWKWARD = (
    ((2, 2, 5), (1, 1), 2, 0),
    ((2, 2, 9), (3, 3), 1, 1),
    ((1, 2, 1), (2, 2), 3, 3),  # corners that see nothing but padding
    ((1, 1, 2), (7, 5), 1, 3),
    ((2, 3, 4), (5, 2), 2, 1),
)


def layer(size, rng):
    """x, w, stride, padding. ResNet's layer where 7 divides the size, as in ResNet it always does;
    else one of the awkward ones, on a picture wider than high."""
    if size % 7 == 0:
        return problem(rng, (size, size), *RESNET)
    return problem(rng, (size, size + 16), *AWKWARD[size % len(AWKWARD)])


def problem(rng, pixels, dims, kernel, stride, padding):
    batch, channels, filters = dims
    x = rng.standard_normal((batch, channels, *pixels), np.float32)
    w = rng.standard_normal((filters, channels, *kernel), np.float32)
    return x, w / np.float32(w[0].size ** 0.5), stride, padding  # results are around 1


def flops(x, w, stride, padding):
    """A multiplication and an addition for each weight at each position, padding included."""
    rows, columns = output_size(x, w.shape[2:], stride, padding)
    return 2 * x.shape[0] * rows * columns * w.size


@op(
    inputs=layer,
    flops=flops,
    sizes=(7, 14, 28, 56),
    rtol=1e-5,  # sums of 576 products
    unit="pixels a side",
    awkward=(26, 19, 8, 5, 2, 1),
    signature="(batch, channels, height, width), (filters, channels, ky, kx)",
)
def conv2d(x, w, stride, padding):
    """Every filter at every position. x: (batch, channels, height, width), w: (filters, channels,
    kernel height, kernel width), of one dtype; returns (batch, filters, rows, columns).

    Raises ValueError where the kernel is larger than the picture with its padding.
    """
    output_size(x, w.shape[2:], stride, padding)
    view = patches(bordered(x, padding), w.shape[2:], stride)
    return np.einsum("bcklij,fckl->bfij", view, w, optimize=True)


@conv2d.version("Python loop", on=host)
def python_loop(x, w, stride, padding, out):
    height, width = x.shape[2:]
    for b, f, i, j in product(*map(range, out.shape)):
        total = 0.0
        for c, ky, kx in product(*map(range, w.shape[1:])):
            row, column = stride * i + ky - padding, stride * j + kx - padding
            if 0 <= row < height and 0 <= column < width:
                total += w[f, c, ky, kx] * x[b, c, row, column]
        out[b, f, i, j] = total


# -- By way of a matrix: columns, then a product.


@conv2d.version("NumPy, im2col", on=host)
def numpy_im2col(x, w, stride, padding, out):
    columns = im2col(x, w.shape[2:], stride, padding)
    np.matmul(w.reshape(len(w), -1), columns, out=out.reshape(*out.shape[:2], -1))


@conv2d.version("NumPy, im2col by rows", on=host)
def numpy_im2col_by_rows(x, w, stride, padding, out):
    """A product for each row of the kernel. All share one set of columns, begun a row lower each
    time: a pixel is copied three times for a 3 × 3 kernel, not nine."""
    lines = patches(bordered(x, padding), (1, w.shape[3]), 1)[..., ::stride]
    lines = lines.reshape(len(x), -1, *lines.shape[4:])  # written down
    flat = out.reshape(*out.shape[:2], -1)
    flat[...] = 0
    for ky in range(w.shape[2]):
        seen = lines[:, :, ky : ky + stride * out.shape[2] : stride]
        flat += w[:, :, ky].reshape(len(w), -1) @ seen.reshape(*lines.shape[:2], -1)


@njit(parallel=True, **fast)
def copy_patches(padded, stride, columns):
    """columns: (channels, ky, kx, rows, columns) of one picture (channels, height, width)."""
    channels, high, wide, rows, across = columns.shape
    for row in prange(channels * high * wide):
        c, ky, kx = row // (high * wide), row // wide % high, row % wide
        for i in range(rows):
            for j in range(across):
                columns[c, ky, kx, i, j] = padded[c, i * stride + ky, j * stride + kx]


@conv2d.version("Numba, im2col", on=host)
def numba_im2col(x, w, stride, padding, out):
    flat = w.reshape(len(w), -1)
    columns = np.empty((*w.shape[1:], *out.shape[2:]), x.dtype)
    for picture, result in zip(bordered(x, padding), out, strict=True):
        copy_patches(picture, stride, columns)
        multiply(flat, columns.reshape(flat.shape[1], -1), result.reshape(len(w), -1))


# -- Directly: no columns are written.

conv2d.version("Numba, direct, one core", on=host)(conv2d_direct.one_core)
conv2d.version("Numba, direct", on=host)(conv2d_direct.every_core)


# -- By way of frequencies: there a convolution is a product of single numbers, so that a kernel of
# -- any size costs the same. Of a correlation with a real w, the spectrum is X times conjugate W.


@conv2d.version("NumPy, FFT", on=host)
def numpy_fft(x, w, stride, padding, out):
    padded = bordered(x, padding)
    size, (rows, columns) = padded.shape[2:], out.shape[2:]
    first = np.fft.rfft2(padded), np.fft.rfft2(w, size).conj()  # w on as many pixels as x
    x_hat, w_hat = (np.moveaxis(spectra, (2, 3), (0, 1)) for spectra in first)
    both = np.moveaxis(x_hat @ w_hat.swapaxes(2, 3), (0, 1), (2, 3))  # a product per frequency
    result = np.fft.irfft2(both, size)[:, :, ::stride, ::stride]
    out[...] = result[:, :, :rows, :columns]  # beyond, the filters reached around the edge


# -- On the GPU.


@conv2d.version("CUDA, a thread per output", on=gpu)
def launch_direct(x, w, stride, padding, out):
    threads = kernels.THREADS
    kernels.direct_kernel[blocks(out.size, threads), threads](x, w, stride, padding, out)


@conv2d.version("CUDA, shared tiles", on=gpu)
def launch_tiles(x, w, stride, padding, out):
    kernel = tiles_kernel(*w.shape[2:], stride)
    across, down = blocks(out.shape[3], kernels.LANES), blocks(out.shape[2], kernels.ROWS)
    groups = blocks(out.shape[1], kernels.FILTERS)
    grid = across, down, groups * out.shape[0]
    kernel[grid, (kernels.LANES, kernels.WARPS)](x, w, padding, out)


tiles_kernel = cache(kernels.tiles_kernel)


# -- PyTorch: oneDNN on a CPU, cuDNN on an NVIDIA GPU.


@conv2d.version("PyTorch on GPU", on=torch_gpu)
@conv2d.version("PyTorch on CPU", on=torch_cpu)
def pytorch(x, w, stride, padding, tf32=False):
    """In float32 as it is: cuDNN rounds a convolution's factors to 11 bits unless forbidden."""
    import torch

    with allow_tf32(torch.backends.cudnn, tf32):
        return torch.conv2d(x, w, stride=stride, padding=padding)


@conv2d.version("PyTorch, TF32, GPU", on=torch_gpu, rtol=5e-3)
def pytorch_tf32(x, w, stride, padding):
    return pytorch(x, w, stride, padding, tf32=True)


def shaped(dims, kernel, *, padding=None, name="conv2d"):
    """conv2d, with the versions it has, for another layer: dims are (batch, channels, filters),
    kernel (height, width); an odd, square kernel's padding keeps the size unless told."""
    padding = kernel[0] // 2 if padding is None else padding
    other = conv2d.like(
        lambda size, rng: problem(rng, (size, size), dims, kernel, 1, padding),
        sizes=(28, 56, 112),
    )
    other.name = name
    return other
