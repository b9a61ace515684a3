"""The direct convolution on a CPU: a sum of shifted lines.

A picture is one line of numbers, row after row, and the pixels under one weight are that line begun
a little later. So a convolution is a sum of shifted lines, each times one number, and no column is
ever written. The loop along the line becomes vectors. Each number that it loads serves four
filters, and each sum takes in four terms before it is stored.
"""

import numpy as np
from numba import njit, prange

from gpulessons.ops.matmul import fast

LENGTH = 512  # outputs of a line made at once: with four filters, 8 kB of sums in the first cache
FOUR = 4


def unzipped(x, stride, padding):
    """x with its border as (batch, channels, stride, stride, high, wide): pixels a stride apart
    stand side by side, because neighboring outputs read them."""
    edges = [(padding, padding + -(n + 2 * padding) % stride) for n in x.shape[2:]]
    padded = np.pad(x, [(0, 0), (0, 0), *edges])
    high, wide = (n // stride for n in padded.shape[2:])
    return padded.reshape(*x.shape[:2], high, stride, wide, stride).transpose(0, 1, 3, 5, 2, 4)


def as_lines(x, kernel, stride, padding):
    """lines: (batch, …), a picture each; starts: (channels · ky · kx,), where each weight's pixels
    begin; width: from one row of a line to the next."""
    planes = unzipped(x, stride, padding)
    lines = np.zeros((len(x), planes[0].size + LENGTH), x.dtype)  # room to read on past the end
    lines[:, :-LENGTH].reshape(planes.shape)[...] = planes
    c, ky, kx = np.indices((x.shape[1], *kernel)).reshape(3, -1)
    begin = c, ky % stride, kx % stride, ky // stride, kx // stride
    return lines, np.ravel_multi_index(begin, planes.shape[1:]), planes.shape[-1]


def in_fours(starts, w):
    """starts: (steps, 4), weights: (groups, steps, 4 filters, 4 taps): rounded up with zeros."""
    groups, steps = -(-len(w) // FOUR), -(-starts.size // FOUR)
    weights = np.zeros((groups * FOUR, steps * FOUR), w.dtype)
    weights[: len(w), : starts.size] = w.reshape(len(w), -1)
    weights = weights.reshape(groups, FOUR, steps, FOUR).swapaxes(1, 2)
    starts = np.append(starts, np.zeros(-starts.size % FOUR, starts.dtype))
    return starts.reshape(steps, FOUR), np.ascontiguousarray(weights)


@njit(**fast)
def add_four_taps(line, starts, weights, sums):
    """Add four shifted lines, times their weights, to the sums (4 · LENGTH,) of four filters."""
    first, second = line[starts[0] :], line[starts[1] :]
    third, fourth = line[starts[2] :], line[starts[3] :]
    for j in range(LENGTH):
        a, b, c, d = first[j], second[j], third[j], fourth[j]
        for f in range(FOUR):
            total = sums[f * LENGTH + j] + weights[f, 0] * a + weights[f, 1] * b
            sums[f * LENGTH + j] = total + weights[f, 2] * c + weights[f, 3] * d


@njit(**fast)
def put_back(sums, first, width, out):
    """The piece of four lines that begins at `first`, into the rows of out (up to 4, rows, …)."""
    filters, rows, columns = out.shape
    for f in range(filters):
        piece = sums[f * LENGTH :]
        for i in range(first // width, min(rows, (first + LENGTH - 1) // width + 1)):
            here = i * width - first
            for j in range(max(0, -here), min(columns, LENGTH - here)):
                out[f, i, j] = piece[here + j]


def direct_loop(lines, width, starts, weights, out):
    pieces, groups = -(-out.shape[2] * width // LENGTH), weights.shape[0]
    for part in prange(out.shape[0] * pieces * groups):
        image, first = part // groups // pieces, part // groups % pieces * LENGTH
        group = part % groups
        sums = np.zeros(FOUR * LENGTH, np.float32)
        for step in range(weights.shape[1]):
            add_four_taps(lines[image, first:], starts[step], weights[group, step], sums)
        put_back(sums, first, width, out[image, FOUR * group : FOUR * group + FOUR])


one_core_loop = njit(**fast)(direct_loop)
every_core_loop = njit(parallel=True, **fast)(direct_loop)


def one_core(x, w, stride, padding, out, loop=one_core_loop):
    lines, starts, width = as_lines(x, w.shape[2:], stride, padding)
    loop(lines, width, *in_fours(starts, w), out)


def every_core(x, w, stride, padding, out):
    one_core(x, w, stride, padding, out, every_core_loop)
