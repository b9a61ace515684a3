"""For any affine index, the counts equal a brute-force reading of their definitions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, float64, int8

from warplens import trace

WIDTHS = {1: np.int8, 2: np.int16, 4: np.float32, 8: np.float64, 16: np.complex128}


def affine(x, y, a, b, c, limit):
    i, j = cuda.grid(2)
    if i < limit:
        y[a * i + b * j + c] = x[a * i + b * j + c]


def threads(grid, block):
    """Warps as lists of (i, j), in the order a GPU numbers threads."""
    for by in range(grid[1]):
        for bx in range(grid[0]):
            ids = [
                (bx * block[0] + t % block[0], by * block[1] + t // block[0])
                for t in range(block[0] * block[1])
            ]
            yield from (ids[w : w + 32] for w in range(0, len(ids), 32))


small = st.integers(0, 9)


@settings(max_examples=60, deadline=None)
@given(
    a=small,
    b=small,
    c=small,
    width=st.sampled_from(list(WIDTHS)),
    limit=st.integers(1, 40),
    block=st.tuples(st.integers(1, 40), st.integers(1, 4)),
    grid=st.tuples(st.integers(1, 3), st.integers(1, 2)),
)
def test_sectors_and_lines_of_affine_accesses(a, b, c, width, limit, block, grid):
    size = a * grid[0] * block[0] + b * grid[1] * block[1] + c + 1
    x = np.zeros(size, WIDTHS[width])
    t = trace(affine)[grid, block](x, x.copy(), a, b, c, limit)
    warps = [[a * i + b * j + c for i, j in warp if i < limit] for warp in threads(grid, block)]
    warps = [warp for warp in warps if warp]
    for array, access in (("x", "read"), ("y", "write")):
        got = t.coalescing(array, access)
        assert got.requests == len(warps)
        assert got.sectors == sum(len({p * width // 32 for p in warp}) for warp in warps)
        assert got.lines == sum(len({p * width // 128 for p in warp}) for warp in warps)
        assert got.bytes_asked == sum(len(warp) for warp in warps) * width
        assert got.bytes_used == sum(len(set(warp)) for warp in warps) * width
        side_by_side = sum(-(-len(warp) * width // 32) for warp in warps)
        assert got.total("ideal_sectors") == side_by_side


SIZE = 1024


def shared_bytes(out, a, c, limit):
    s = cuda.shared.array(SIZE, int8)
    i = cuda.threadIdx.x
    if i < limit:
        s[(a * i + c) % SIZE] = 1
    out[i] = 0


def shared_words(out, a, c, limit):
    s = cuda.shared.array(SIZE, float32)
    i = cuda.threadIdx.x
    if i < limit:
        s[(a * i + c) % SIZE] = 1
    out[i] = 0


def shared_doubles(out, a, c, limit):
    s = cuda.shared.array(SIZE, float64)
    i = cuda.threadIdx.x
    if i < limit:
        s[(a * i + c) % SIZE] = 1
    out[i] = 0


def shared_complex(out, a, c, limit):
    s = cuda.shared.array(SIZE, np.complex128)
    i = cuda.threadIdx.x
    if i < limit:
        s[(a * i + c) % SIZE] = 1
    out[i] = 0


def wavefronts(places, width):
    """One part of a warp: the most distinct words of one bank."""
    words = {(p * width + byte) // 4 for p in places for byte in range(0, width, 4)}
    return max((sum(w % 32 == bank for w in words) for bank in range(32)), default=0)


@settings(max_examples=60, deadline=None)
@given(
    a=st.integers(0, 70),
    c=small,
    limit=st.integers(1, 96),
    threads=st.integers(1, 96),
    case=st.sampled_from(
        [(shared_bytes, 1), (shared_words, 4), (shared_doubles, 8), (shared_complex, 16)]
    ),
)
def test_wavefronts_of_affine_shared_accesses(a, c, limit, threads, case):
    kernel, width = case
    t = trace(kernel)[1, threads](np.zeros(threads, np.float32), a, c, limit)
    parts = max(1, width // 4)
    places = [
        [(a * i + c) % SIZE for i in range(w, min(w + 32, threads)) if i < limit]
        for w in range(0, threads, 32)
    ]
    lanes = [list(range(w, min(w + 32, threads, limit))) for w in range(0, threads, 32)]
    served = [
        wavefronts(
            [
                p
                for p, lane in zip(places[w], lanes[w], strict=True)
                if lane % 32 * parts // 32 == part
            ],
            width,
        )
        for w in range(len(places))
        for part in range(parts)
    ]
    got = t.banks("s")
    assert got.wavefronts == sum(served)
    assert got.worst == max(served)
    assert got.conflicts == sum(served) - sum(n > 0 for n in served)
