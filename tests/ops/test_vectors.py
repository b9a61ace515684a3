"""Vectors: what they load, multiply and store, with a compiler and without one."""

import numpy as np
import pytest
from numba import njit

from gpulessons.hardware.hot_loop import hot_loop
from gpulessons.ops.vectors import LANES, fma, full_width, load, store


@njit
def multiply_add(x, y, out, i, j):
    total = load(out, i, j)
    for k in range(len(y)):
        total = fma(x[k], load(y, k, j), total)
    store(total, out, i, j)


def problem(dtype=np.float32):
    rng = np.random.default_rng(3)
    shapes = 5, (5, LANES + 9), (3, LANES + 9)
    return (rng.standard_normal(shape).astype(dtype) for shape in shapes)


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
@pytest.mark.parametrize("form", (multiply_add, multiply_add.py_func), ids=("Numba", "Python"))
def test_a_vector_is_a_piece_of_a_row_and_nothing_beside_it_is_written(form, dtype):
    x, y, out = problem(dtype)
    want = out.copy()
    want[1, 4 : 4 + LANES] += x @ y[:, 4 : 4 + LANES]
    form(x, y, out, 1, 4)
    assert np.allclose(out, want, rtol=1e-5, atol=1e-6)
    changed = np.zeros(out.shape, bool)
    changed[1, 4 : 4 + LANES] = True
    assert np.array_equal(out[~changed], want[~changed])


@pytest.mark.skipif(LANES < 64, reason="of no other CPU does LLVM take half")
def test_a_loop_that_asks_for_it_has_the_full_width():
    @njit
    def scale(x, out):
        full_width()
        for i in range(x.size):
            out[i] = x[i] * x[i]

    x = np.ones(64, np.float32)
    scale(x, np.empty_like(x))
    assert hot_loop(scale).lanes == 16 and scale.py_func(x, np.empty_like(x)) is None


def test_a_loaded_vector_is_no_view():
    _, y, _ = problem()
    vector = load(y, 0, 0)
    y[0] = 7
    assert not (vector == 7).any()
