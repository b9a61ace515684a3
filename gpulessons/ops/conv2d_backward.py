"""The convolution's gradients: two more products, on the same columns.

With the columns of x written down, a convolution is y = w · columns. So, as for every product,

    dw = dy · columnsᵀ          d columns = wᵀ · dy

and since each pixel stands in several columns, its gradient is the sum over them: that is col2im.
Nothing here is about pictures but the way to the columns and back.
"""

import numpy as np
from numba import njit, prange

from gpulessons.backends import allow_tf32, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops.conv2d import conv2d, copy_patches, flops, layer
from gpulessons.ops.im2col import bordered, col2im, im2col, inner, output_size
from gpulessons.ops.matmul import fast, multiply


def layer_and_gradient(size, rng):
    """x, w, dy, stride, padding: a problem of conv2d, and a gradient of its output."""
    x, w, stride, padding = layer(size, rng)
    shape = len(x), len(w), *output_size(x, w.shape[2:], stride, padding)
    dy = rng.standard_normal(shape, np.float32) / np.float32((shape[2] * shape[3]) ** 0.5)
    return x, w, dy, stride, padding


@op(
    inputs=layer_and_gradient,
    flops=lambda x, w, dy, stride, padding: 2 * flops(x, w, stride, padding),
    sizes=conv2d.sizes,
    rtol=2e-5,
    unit="pixels a side",
    awkward=conv2d.awkward,
    signature=f"{conv2d.signature}, (batch, filters, rows, columns)",
)
def conv2d_backward(x, w, dy, stride, padding):
    """(dx, dw): the gradients of x (batch, channels, height, width) and of w (filters, channels,
    kernel height, kernel width), from dy (batch, filters, rows, columns), the output's gradient."""
    kernel, flat = w.shape[2:], dy.reshape(*dy.shape[:2], -1)
    columns = im2col(x, kernel, stride, padding)
    dw = (flat @ columns.swapaxes(1, 2)).sum(axis=0).reshape(w.shape)
    d_columns = w.reshape(len(w), -1).T @ flat
    return col2im(d_columns, x.shape, kernel, stride, padding), dw


@njit(parallel=True, **fast)
def add_patches(columns, stride, padded):
    """col2im for one picture: channels run side by side, for they share no pixel."""
    channels, high, wide, rows, across = columns.shape
    for c in prange(channels):
        for ky in range(high):
            for kx in range(wide):
                for i in range(rows):
                    for j in range(across):
                        padded[c, i * stride + ky, j * stride + kx] += columns[c, ky, kx, i, j]


@conv2d_backward.version("Numba", on=host)
def numba(x, w, dy, stride, padding, out):
    """A picture at a time; the columns' memory serves for x and for its gradient."""
    dx, dw = out
    flat, part = w.reshape(len(w), -1), np.empty((len(w), w[0].size), w.dtype)
    columns = np.empty((*w.shape[1:], *dy.shape[2:]), x.dtype)
    matrix, turned = columns.reshape(w[0].size, -1), np.ascontiguousarray(flat.T)
    dw[...] = 0
    for n, picture in enumerate(bordered(x, padding)):
        above = dy[n].reshape(len(w), -1)
        copy_patches(picture, stride, columns)
        multiply(above, np.ascontiguousarray(matrix.T), part)
        dw += part.reshape(w.shape)
        multiply(turned, above, matrix)
        picture[...] = 0
        add_patches(columns, stride, picture)
        dx[n] = inner(picture, padding)


@conv2d_backward.version("PyTorch on GPU", on=torch_gpu)
@conv2d_backward.version("PyTorch on CPU", on=torch_cpu)
def pytorch(x, w, dy, stride, padding):
    """In float32 as it is; TF32 would be cuDNN's choice."""
    import torch

    with allow_tf32(torch.backends.cudnn, False):
        dx, dw, _ = torch.ops.aten.convolution_backward(
            dy, x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1,
            (True, True, False),
        )  # fmt: skip
    return dx, dw
