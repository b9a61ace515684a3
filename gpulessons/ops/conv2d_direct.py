"""The direct convolution on a CPU: a product whose matrix of pixels is never written down.

A picture is one line of numbers, row after row, and the pixels under one weight are that line begun
a little later. So a convolution is a sum of shifted lines, each times one number, without columns.
It is the product's six rows: six filters, whose sums wait in registers from the first weight to the
last, and in the place of row k of y the line that begins at starts[k].
"""

import math

import numpy as np
from numba import njit, prange

from .common import PARALLEL, SERIAL, aligned_empty, ceil_div
from .matmul_cpu import SIX, pack_rows, six_rows
from .vectors import LANES, load

TAPS, GROUP = 192, 11  # weights whose lines stay in the first cache while 66 filters pass by


def polyphase(x, stride, padding):
    """x with its border as (batch, channels, stride, stride, high, wide): pixels a stride apart
    stand side by side, because neighboring outputs read them. (Its polyphase components.)"""
    return as_line(fill_one_core, x, stride, padding, 0)[1]


def as_line(fill, x, stride, padding, room):
    """All pictures as one line, with so many zeros behind it; and the line as in `polyphase`."""
    high, wide = (ceil_div(n + 2 * padding, stride) for n in x.shape[2:])
    shape = *x.shape[:2], stride, stride, high, wide
    line = np.zeros(math.prod(shape) + room, x.dtype)
    planes = line[: math.prod(shape)].reshape(shape)
    fill(x, padding, planes)
    return line, planes


def lines(fill, x, w, stride, padding):
    """The line; how much of it is one picture; where in that each weight's pixels begin; and how
    far it is from one row to the next."""
    room = LANES + w.shape[3]  # to read on past the end: a piece, begun a kernel's width late
    line, planes = as_line(fill, x, stride, padding, room)
    c, ky, kx = np.indices(w.shape[1:]).reshape(3, -1)
    begin = c, ky % stride, kx % stride, ky // stride, kx // stride
    starts = np.ravel_multi_index(begin, planes.shape[1:])
    return line[None], planes[0].size, starts, planes.shape[-1]


def fill_loop(x, padding, planes):
    channels, stride = planes.shape[1:3]
    for part in prange(len(x) * channels):
        b, c = part // channels, part % channels
        for i in range(x.shape[2]):
            for first in range(stride):
                row, column = i + padding, first + padding
                line = planes[b, c, row % stride, column % stride, row // stride]
                for j in range(ceil_div(x.shape[3] - first, stride)):
                    line[column // stride + j] = x[b, c, i, first + j * stride]


fill_one_core, fill_every_core = njit(**SERIAL)(fill_loop), njit(**PARALLEL)(fill_loop)


@njit(**SERIAL)
def shifted(line, k, place):
    """What stands under weight k: the line, begun a little later."""
    starts, first = place
    return load(line, 0, first + starts[k])


add_six = six_rows(shifted)  # filters


@njit(**SERIAL)
def put_back(sums, first, width, out):
    """The piece of each filter's line that begins at `first`, into the rows of out."""
    filters, rows, columns = out.shape
    for f in range(filters):
        for i in range(first // width, min(rows, (first + LANES - 1) // width + 1)):
            here = i * width - first
            for j in range(max(0, -here), min(columns, LANES - here)):
                out[f, i, j] = sums[f, here + j]


def direct_loop(line, size, starts, width, weights, out):
    pieces, groups = ceil_div(out.shape[2] * width, LANES), ceil_div(len(weights), GROUP)
    for part in prange(out.shape[0] * pieces * groups):
        image, piece, group = part // groups // pieces, part // groups % pieces, part % groups
        panels = weights[group * GROUP : (group + 1) * GROUP]
        sums = aligned_empty((len(panels) * SIX, LANES), weights.dtype)
        sums[...] = 0
        for k in range(0, starts.size, TAPS):
            for p in range(len(panels)):
                place = starts[k : k + TAPS], image * size + piece * LANES
                add_six(panels[p, k : k + TAPS], 0, line, place, sums, p * SIX, 0)
        filters = slice(group * GROUP * SIX, (group + 1) * GROUP * SIX)
        put_back(sums, piece * LANES, width, out[image, filters])


def direct(fill, options):
    """The convolution on one core or on every one."""
    loop = njit(**options)(direct_loop)

    def convolve(x, w, stride, padding, out):
        weights = np.empty((ceil_div(len(w), SIX), w[0].size, SIX), w.dtype)
        pack_rows(w.reshape(len(w), -1), weights)
        loop(*lines(fill, x, w, stride, padding), weights, out)

    return convolve


one_core, every_core = direct(fill_one_core, SERIAL), direct(fill_every_core, PARALLEL)
