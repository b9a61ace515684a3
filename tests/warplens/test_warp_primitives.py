"""Warp primitives against their definitions, lane by lane."""

import numpy as np
import pytest
from numba import cuda, float64

from warplens import trace

FULL = 0xFFFFFFFF
VALUES = np.random.default_rng(0).integers(0, 4, 64)


def run(kernel, dtype=np.int64):
    out = np.zeros(64, dtype)
    t = trace(kernel)[1, 64](VALUES, out)
    return out.reshape(2, 32), t


@pytest.mark.parametrize("delta", [1, 5, 16])
def test_shuffles(delta):
    def kernel(x, out):
        i = cuda.grid(1)
        v = x[i] * 100 + i
        up = cuda.shfl_up_sync(FULL, v, delta)
        down = cuda.shfl_down_sync(FULL, v, delta)
        across = cuda.shfl_xor_sync(FULL, v, delta)
        out[i] = up + 10**4 * down + 10**8 * across + 10**12 * cuda.shfl_sync(FULL, v, delta)

    out, t = run(kernel)
    value = (VALUES * 100 + np.arange(64)).reshape(2, 32)
    lane = np.arange(32)
    up = value[:, np.where(lane < delta, lane, lane - delta)]
    down = value[:, np.where(lane + delta > 31, lane, lane + delta)]
    broadcast = value[:, [delta] * 32]
    assert np.array_equal(
        out, up + 10**4 * down + 10**8 * value[:, lane ^ delta] + 10**12 * broadcast
    )
    assert not t.warnings


def test_votes():
    def kernel(x, out):
        i = cuda.grid(1)
        p = x[i] > 0
        ballot = cuda.popc(cuda.ballot_sync(FULL, p))
        out[i] = ballot + 100 * cuda.any_sync(FULL, p) + 1000 * cuda.all_sync(FULL, x[i] < 9)

    out, _ = run(kernel)
    p = VALUES.reshape(2, 32) > 0
    assert np.array_equal(out, np.repeat(p.sum(1)[:, None] + 1100, 32, axis=1))


def test_bits():
    def kernel(x, out):
        i = cuda.grid(1)
        n = np.int32(i * 3)
        out[i] = cuda.clz(n) * 100 + cuda.ffs(n)

    out, _ = run(kernel)
    n = [i * 3 for i in range(64)]
    expected = [(32 - k.bit_length()) * 100 + ((k & -k).bit_length()) for k in n]
    assert out.ravel().tolist() == expected


def test_a_shuffle_from_lanes_that_do_not_take_part_is_a_caution():
    def kernel(x, out):
        i = cuda.grid(1)
        if i % 32 < 8:
            out[i] = cuda.shfl_down_sync(FULL, float64(i), 4)

    out, t = run(kernel, np.float64)
    assert out[0, :4].tolist() == [4, 5, 6, 7] and np.isnan(out[0, 4:8]).all()
    assert {w.kind for w in t.warnings} >= {"shuffle", "warp mask"}
    assert {w.line for w in t.warnings} == {kernel.__code__.co_firstlineno + 3}


def test_a_mask_of_the_lanes_that_run_is_no_caution():
    def kernel(x, out):
        i = cuda.grid(1)
        if i % 32 < 8:
            out[i] = cuda.shfl_xor_sync(0xFF, i, 4)

    out, t = run(kernel)
    assert out[0, :8].tolist() == [4, 5, 6, 7, 0, 1, 2, 3] and not t.warnings


