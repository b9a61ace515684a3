"""The convolution on a CPU: its columns never written down, or only as many as fit a cache.

A picture is one line of numbers, row after row, and the pixels under one weight are that line begun
a little later. So a convolution is a sum of shifted lines, each times one number, without columns.
It is the product's six rows: six filters, whose sums wait in registers from the first weight to the
last, and in the place of row k of y the line that begins at starts[k]. im2col writes those down, in
vectors and in the product's order: LANES columns, which all filters use before the next are made.
"""

import math

import numpy as np
from numba import get_num_threads, njit, prange

from .common import PARALLEL, SERIAL, aligned_empty, ceil_div
from .matmul_cpu import SIX, add_product, pack_rows, six_rows, zeros
from .vectors import LANES, load, store

TAPS, GROUP = 144, 11  # weights whose lines stay in the first cache while 66 filters pass by
PIECE = 512  # sums of a filter that are written at a time: the second cache has room for 66 times


def lines(x, w, stride, padding):
    """All pictures with borders as one line, in which pixels a stride apart stand side by side, as
    neighboring outputs read them (its polyphase components); how much of it is one picture; where
    in that each weight's pixels begin; and how far it is from one row to the next."""
    high, wide = (ceil_div(n + 2 * padding, stride) for n in x.shape[2:])
    shape = *x.shape[:2], stride, stride, high, wide
    line = np.empty(math.prod(shape) + LANES + w.shape[3], x.dtype)  # room to read on: for nobody
    planes = line[: math.prod(shape)].reshape(shape)
    fill(x, padding, planes)
    return line[None], planes[0].size, starts_of(w, planes), wide


@njit(**SERIAL)
def starts_of(w, planes):
    stride, high, wide = planes.shape[3:]
    starts = np.empty(w[0].size, np.int64)
    for k, (c, ky, kx) in enumerate(np.ndindex(w.shape[1:])):
        plane = (c * stride + ky % stride) * stride + kx % stride
        starts[k] = (plane * high + ky // stride) * wide + kx // stride
    return starts


@njit(**PARALLEL)
def fill(x, padding, planes):
    _, channels, stride, _, high, _ = planes.shape
    for part in prange(len(x) * channels):
        b, c = part // channels, part % channels
        planes[b, c] = 0
        for across in range(stride):
            skip = max(0, ceil_div(padding - across, stride))
            for down in range(stride):
                for n in range(high):
                    i, j = n * stride + down - padding, skip * stride + across - padding
                    if 0 <= i < x.shape[2]:
                        line = planes[b, c, down, across, n, skip:]
                        if stride == 1:
                            copy(x[b, c, i, j:], line)  # in vectors
                        else:
                            copy(x[b, c, i, j::stride], line)


@njit(**SERIAL)
def copy(row, line):
    for j in range(row.size):
        line[j] = row[j]


@njit(**SERIAL)
def shifted(line, k, place):
    """What stands under weight k: the line, begun a little later."""
    starts, first = place
    return load(line, 0, first + starts[k])


add_six = six_rows(shifted)  # filters


@njit(**SERIAL)
def write_columns(line, place, panel):
    """LANES columns, each of TAPS pixels of a patch: a panel of the product's."""
    for k in range(len(place[0])):
        store(shifted(line, k, place), panel, k, 0)


@njit(**SERIAL)
def put_back(sums, first, width, out):
    """The piece of each filter's line that begins at `first`, into the rows of out."""
    filters, rows, columns = out.shape
    for f in range(min(filters, len(sums))):
        for i in range(first // width, min(rows, (first + sums.shape[1] - 1) // width + 1)):
            here = i * width - first
            begin = min(columns, max(0, -here))  # a piece may begin in the border
            end = max(begin, min(columns, sums.shape[1] - here))
            copy(sums[f, here + begin : here + end], out[f, i, begin:end])


@njit(**PARALLEL)
def add_lines(line, size, starts, width, weights, cores, columns, out):
    vectors, groups = ceil_div(out.shape[2] * width, LANES), ceil_div(len(weights), GROUP)
    each = ceil_div(vectors, ceil_div(vectors * LANES, PIECE * cores) * cores)  # as many for all
    pieces = ceil_div(vectors, each)
    for part in prange(out.shape[0] * pieces * groups):
        image, piece, group = part // groups // pieces, part // groups % pieces, part % groups
        panels = weights[group * GROUP : (group + 1) * GROUP]
        first, long = piece * each * LANES, min(each, vectors - piece * each) * LANES
        sums = zeros(len(panels) * SIX, long, weights.dtype)
        panel = aligned_empty((1, TAPS, LANES), weights.dtype)
        for k in range(0, starts.size, TAPS):
            for j in range(0, long, LANES):
                place = starts[k : k + TAPS], image * size + first + j
                if columns:
                    write_columns(line, place, panel[0])
                    add_product(panels[:, k : k + TAPS], panel, sums[:, j:])
                else:
                    for p in range(len(panels)):
                        add_six(panels[p, k : k + TAPS], 0, line, place, sums, p * SIX, j)
        put_back(sums[:, :long], first, width, out[image, group * GROUP * SIX :])


def direct(x, w, stride, padding, out, columns=False):
    weights = np.empty((ceil_div(len(w), SIX), w[0].size, SIX), w.dtype)
    pack_rows(w.reshape(len(w), -1), weights)
    add_lines(*lines(x, w, stride, padding), weights, get_num_threads(), columns, out)


def by_columns(x, w, stride, padding, out):
    direct(x, w, stride, padding, out, columns=True)
