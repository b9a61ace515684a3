"""load4 and store4: counted as accesses of 16 bytes, checked for bounds and for alignment."""

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons.ops.load4 import load4, store4
from warplens import Misaligned, OutOfBounds, trace
from warplens.code.cuda import assembly

ROWS, COLUMNS = 4, 128


@cuda.jit
def copy4(x, out):
    i = 4 * cuda.grid(1)
    store4(out, (0, i), load4(x, (0, i)))


def numbers(columns=COLUMNS):
    return np.arange(columns, dtype=np.float32).reshape(1, -1), np.zeros((1, columns), np.float32)


def test_a_warp_moves_512_bytes_in_one_request():
    x, out = numbers()
    t = trace(copy4)[1, 32](x, out)
    assert np.array_equal(x, out)
    for array in ("x", "out"):
        moved = t.coalescing(array)
        assert (moved.requests, moved.sectors, moved.lines) == (1, 16, 4)
        assert moved.bytes_asked == moved.bytes_moved == 512
    assert (t.work().reads, t.work().writes) == (1, 1)


def test_four_beyond_the_end_are_out_of_bounds_though_the_first_is_not():
    x, out = numbers(126)
    with pytest.raises(OutOfBounds) as caught:
        trace(copy4)[1, 32](x, out)
    assert (caught.value.array, caught.value.index) == ("x", (0, 127))
    assert caught.value.thread == (31, 0, 0)


def test_a_start_that_is_no_multiple_of_16_bytes_stops_the_kernel():
    x, out = np.zeros((2, 6), np.float32), np.zeros((2, 6), np.float32)

    @cuda.jit
    def row_by_row(x, out):
        i = cuda.threadIdx.x
        store4(out, (i, 0), load4(x, (i, 0)))

    with pytest.raises(Misaligned, match=r"thread 1 of block 0 reads four numbers from x\[1, 0\]"):
        trace(row_by_row)[1, 2](x, out)


@cuda.jit
def down_the_rows(x, out):
    tile = cuda.shared.array((ROWS, COLUMNS), float32, 16)
    t = cuda.threadIdx.x
    store4(tile, (t % 4, t // 4 * 4), load4(x, (t % 4, t // 4 * 4)))
    cuda.syncthreads()
    store4(out, (t // 32, t % 32 * 4), load4(tile, (t // 32, t % 32 * 4)))


def test_16_bytes_a_lane_take_a_quarter_of_a_warp_at_a_time():
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS), np.float32)
    out = np.zeros_like(x)
    t = trace(down_the_rows)[1, 128](x, out)
    assert np.array_equal(x, out)
    read, written = t.banks("tile", "read"), t.banks("tile", "write")
    assert (read.requests, read.wavefronts, read.conflicts) == (4, 16, 0)
    assert (written.requests, written.wavefronts, written.worst) == (4, 64, 4)
    assert t.races().cells == 0


def test_they_are_one_instruction_each():
    x, out = numbers()
    ptx = assembly(copy4, x, out).ptx
    assert ptx.count("ld.global.v4.f32") == ptx.count("st.global.v4.f32") == 1
