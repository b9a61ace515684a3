"""The direct convolution on a CPU: a sum of shifted lines.

A picture is one line of numbers, row after row, and the pixels under one weight are that line begun
a little later. So a convolution is a sum of shifted lines, each times one number, without columns.
The loop along the line becomes vectors. Each number that it loads serves four filters, and each sum
takes in six terms before it is stored: 24 weights wait in registers.
"""

import numpy as np
from numba import njit, prange

from .common import PARALLEL, SERIAL, aligned_empty, ceil_div

LENGTH = 512  # outputs of a line made at once: with four filters, 8 kB of sums in the first cache
FILTERS_HELD, TAPS = 4, 6  # whose weights wait in registers meanwhile; a tap is one of a filter's


def polyphase(x, stride, padding):
    """x with its border as (batch, channels, stride, stride, high, wide): pixels a stride apart
    stand side by side, because neighboring outputs read them. (Its polyphase components.)"""
    edges = [(padding, padding + -(n + 2 * padding) % stride) for n in x.shape[2:]]
    padded = np.pad(x, [(0, 0), (0, 0), *edges])
    high, wide = (n // stride for n in padded.shape[2:])
    return padded.reshape(*x.shape[:2], high, stride, wide, stride).transpose(0, 1, 3, 5, 2, 4)


def as_lines(x, kernel, stride, padding):
    """lines: (batch, …), a picture each; starts: (channels · ky · kx,), where each weight's pixels
    begin; width: from one row of a line to the next."""
    planes = polyphase(x, stride, padding)
    room = LENGTH + kernel[1]  # to read on past the end: a piece, begun a kernel's width late
    lines = np.zeros((len(x), planes[0].size + room), x.dtype)
    lines[:, :-room].reshape(planes.shape)[...] = planes
    c, ky, kx = np.indices((x.shape[1], *kernel)).reshape(3, -1)
    begin = c, ky % stride, kx % stride, ky // stride, kx // stride
    return lines, np.ravel_multi_index(begin, planes.shape[1:]), planes.shape[-1]


def in_groups(starts, w):
    """starts: (steps, taps), weights: (groups, steps, filters, taps): rounded up with zeros."""
    groups, steps = ceil_div(len(w), FILTERS_HELD), ceil_div(starts.size, TAPS)
    weights = np.zeros((groups * FILTERS_HELD, steps * TAPS), w.dtype)
    weights[: len(w), : starts.size] = w.reshape(len(w), -1)
    weights = weights.reshape(groups, FILTERS_HELD, steps, TAPS).swapaxes(1, 2)
    starts = np.append(starts, np.zeros(-starts.size % TAPS, starts.dtype))
    return starts.reshape(steps, TAPS), np.ascontiguousarray(weights)


@njit(**SERIAL)
def add_six_taps(line, starts, weights, sums):
    """Add six shifted lines, times their weights, to the sums (4 · LENGTH,) of four filters."""
    first, second, third = line[starts[0] :], line[starts[1] :], line[starts[2] :]
    fourth, fifth, sixth = line[starts[3] :], line[starts[4] :], line[starts[5] :]
    for j in range(LENGTH):
        a, b, c, d, e, f = first[j], second[j], third[j], fourth[j], fifth[j], sixth[j]
        for n in range(FILTERS_HELD):
            w = weights[n]
            total = sums[n * LENGTH + j] + w[0] * a + w[1] * b + w[2] * c
            sums[n * LENGTH + j] = total + w[3] * d + w[4] * e + w[5] * f


@njit(**SERIAL)
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
    pieces, groups = ceil_div(out.shape[2] * width, LENGTH), weights.shape[0]
    for part in prange(out.shape[0] * pieces * groups):
        image, first = part // groups // pieces, part // groups % pieces * LENGTH
        group = part % groups
        sums = aligned_empty((FILTERS_HELD * LENGTH,), np.float32)
        sums[:] = 0
        for step in range(weights.shape[1]):
            add_six_taps(lines[image, first:], starts[step], weights[group, step], sums)
        put_back(sums, first, width, out[image, FILTERS_HELD * group :][:FILTERS_HELD])


def direct(options):
    """The convolution with its loop compiled so: on one core or on every one."""
    loop = njit(**options)(direct_loop)

    def convolve(x, w, stride, padding, out):
        lines, starts, width = as_lines(x, w.shape[2:], stride, padding)
        loop(lines, width, *in_groups(starts, w), out)

    return convolve


one_core, every_core = direct(SERIAL), direct(PARALLEL)
