"""The matrix product on the CPU: any shape, any numbers, within the bound that rounding allows."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from gpulessons.backends import host, torch_cpu
from gpulessons.hardware.hot_loop import hot_loop
from gpulessons.ops import matmul as home
from gpulessons.ops.common import aligned_empty
from gpulessons.ops.matmul import COLUMNS, DEPTH, ROWS, matmul, multiply, multiply_one_core

ON_CPU = [name for name, v in matmul.versions.items() if v.backend in (host, torch_cpu)]
ROUNDING = 2.0**-24  # half the distance from 1 to the next float32
each = pytest.mark.parametrize("name", ON_CPU)

# (m, k, n): lone rows and columns, primes, tall, wide, and one past each edge of a tile.
SHAPES = [
    (1, 1, 1), (1, 1, 7), (7, 1, 1), (1, 7, 1), (1, 300, 1), (1, 65, 300), (300, 65, 1), (2, 3, 5),
    (3, 70, 17), (4, 4, 16), (5, 5, 17), (31, 37, 29), (40, 1, 40), (500, 3, 2), (2, 3, 700),
    (130, 65, 131), (ROWS, DEPTH, COLUMNS), (ROWS + 1, DEPTH + 1, COLUMNS + 1),
    (2 * ROWS - 1, 2 * DEPTH - 1, 15), (3, DEPTH - 1, 2 * COLUMNS + 1),
]  # fmt: skip


def normal(m, k, n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)


def run(name, x, y):
    version = matmul.versions[name]
    return version.backend.get(version(*map(version.backend.put, (x, y))))


def assert_product(got, x, y):
    """Within k roundings of the sum of |x| |y|: true of any order of adding, fused or not."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    bound = x.shape[1] * ROUNDING * (np.abs(x) @ np.abs(y)) + x.shape[1] * 1e-45
    assert got.dtype == np.float32 and got.shape == bound.shape
    assert np.all(np.abs(got - x @ y) <= 1.01 * bound)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_version_multiplies_every_shape(shape):
    x, y = normal(*shape)
    for name in ON_CPU:
        if name != "Python loop" or np.prod(shape) < 300_000:
            assert_product(run(name, x, y), x, y)


@pytest.mark.parametrize("shape", [(1, 1, 1), (130, 65, 131), (257, 129, 513)], ids=str)
def test_torch_agrees(shape):
    torch = pytest.importorskip("torch")
    x, y = normal(*shape, seed=1)
    want = (torch.tensor(x).double() @ torch.tensor(y).double()).numpy()
    out = np.empty(want.shape, np.float32)
    for function in (multiply, multiply_one_core):
        function(x, y, out)
        assert np.abs(out - want).max() < 1e-4


# -- Laws.

sides = st.integers(1, 24)
seeds = st.integers(0, 2**31)
few = settings(max_examples=15, deadline=None)


def assert_close(got, want, size):
    assert np.all(np.abs(got.astype(np.float64) - want) <= 4e-6 * np.maximum(1, size))


@each
@few
@given(m=sides, k=sides, n=sides, seed=seeds)
def test_the_transposed_product_is_the_product_of_the_transposed(name, m, k, n, seed):
    x, y = normal(m, k, n, seed)
    other = run(name, np.ascontiguousarray(y.T), np.ascontiguousarray(x.T))
    assert_close(run(name, x, y).T, other, np.abs(y.T) @ np.abs(x.T))


@each
@few
@given(m=sides, k=sides, n=sides, seed=seeds, scale=st.sampled_from([-4.0, 0.5, 1024.0]))
def test_it_is_linear(name, m, k, n, seed, scale):
    (x, y), (_, z) = normal(m, k, n, seed), normal(m, k, n, seed + 1)
    scale = np.float32(scale)
    assert np.array_equal(run(name, scale * x, y), scale * run(name, x, y))  # a power of two
    apart = run(name, x, y).astype(np.float64) + run(name, x, z)
    assert_close(run(name, x, y + z), apart, np.abs(x) @ (np.abs(y) + np.abs(z)))


@each
@few
@given(m=sides, k=sides, seed=seeds)
def test_the_identity_changes_nothing(name, m, k, seed):
    x, _ = normal(m, k, 1, seed)
    assert np.array_equal(run(name, x, np.eye(k, dtype=np.float32)), x)
    assert np.array_equal(run(name, np.eye(m, dtype=np.float32), x), x)


@each
@few
@given(m=sides, k=sides, n=sides, p=sides, seed=seeds)
def test_it_is_associative_up_to_rounding(name, m, k, n, p, seed):
    (x, y), (_, z) = normal(m, k, n, seed), normal(m, n, p, seed + 1)
    left, right = run(name, run(name, x, y), z), run(name, x, run(name, y, z))
    assert_close(left, right, np.abs(x) @ np.abs(y) @ np.abs(z))


# -- Numbers that are hard to add up.


@each
def test_rows_and_columns_of_any_scale_keep_their_digits(name):
    x, y = normal(70, 67, 35)
    x *= np.logspace(-18, 17, 70, dtype=np.float32)[:, None]
    y *= np.logspace(18, -17, 35, dtype=np.float32)
    assert_product(run(name, x, y), x, y)


@each
@pytest.mark.parametrize("m", [1, 6])
def test_infinities_and_nans_spread_as_far_as_they_must_and_no_further(name, m):
    x, y = normal(m, 66, 21)
    x[m // 2, 65], y[3, 20], y[64, 2] = np.inf, np.nan, -np.inf
    x[0, 64], y[65, 7] = 0, 0  # zero times infinity is no number
    with np.errstate(invalid="ignore"):
        got, want = run(name, x, y), matmul.reference(x, y)
    for among in (np.isnan, np.isposinf, np.isneginf):
        assert np.array_equal(among(got), among(want))


# -- What other ops rely on.


@pytest.mark.parametrize("m", [2, 133])
def test_multiply_takes_transposed_and_strided_matrices(m):
    x, y = normal(m, 67, 259)
    apart = np.full((2 * m, 2 * 259), np.nan, np.float32)
    out, x_apart = apart[::2, ::2], np.repeat(x, 2, axis=1)[:, ::2]
    multiply_one_core(x_apart, np.repeat(y.T, 3, axis=1)[:, ::3].T, out)
    assert_product(out, x, y)
    assert np.isnan(apart[1::2]).all() and np.isnan(apart[:, 1::2]).all()


def test_a_tile_is_written_whole_and_nothing_beside_it():
    x, y = normal(ROWS + 9, 67, 2 * COLUMNS + 5)
    whole = np.empty((ROWS + 9, 2 * COLUMNS + 5), np.float32)
    multiply(x, y, whole)
    for i, j in ((0, COLUMNS), (ROWS, 0), (ROWS, 2 * COLUMNS)):
        out = np.full_like(whole, np.nan)
        home.multiply_tile(x, y, out, i, j)
        tile = np.s_[i : i + ROWS, j : j + COLUMNS]
        assert np.array_equal(out[tile], whole[tile])
        out[tile] = np.nan
        assert np.isnan(out).all()


def test_compiled_code_can_call_multiply():
    @njit
    def twice(x, y, z, between, out):
        multiply(x, y, between)
        multiply_one_core(between, z, out)

    (x, y), (_, z) = normal(5, 6, 7), normal(5, 7, 8)
    between, out = np.empty((5, 7), np.float32), np.empty((5, 8), np.float32)
    twice(x, y, z, between, out)
    assert_product(out, between, z)


def test_the_hot_loop_of_the_blocked_product_is_fused_multiply_adds_on_vectors():
    multiply_one_core(*normal(8, 8, 16), np.empty((8, 16), np.float32))
    loop = hot_loop(multiply_one_core)
    fused = [line for line in loop.lines if re.match("vfmadd|fmla", line)]
    assert len(fused) == loop.packed >= 16 and loop.scalar == 0 and loop.lanes >= 4


def test_the_inputs_are_square_and_their_product_is_around_one():
    for size in (256, 250):
        x, y = matmul.inputs(size)
        assert x.shape == y.shape == (size, size) and x.dtype == y.dtype == np.float32
        assert 0.9 < matmul(x, y).std() < 1.1
    assert [a.shape for a in matmul.inputs(33, k=16, n=36)] == [(33, 16), (16, 36)]
    assert matmul.flops(*matmul.inputs(33, k=16, n=36)) == 2 * 33 * 16 * 36


@pytest.fixture(params=[False, True])
def tf32(request):
    """PyTorch's flags as a user may have left them."""
    flags = pytest.importorskip("torch").backends.cuda.matmul
    before, flags.allow_tf32 = flags.allow_tf32, request.param
    yield request.param
    flags.allow_tf32 = before


@pytest.mark.parametrize("name, wanted", [("PyTorch on GPU", False), ("PyTorch, TF32, GPU", True)])
def test_torch_may_round_to_tf32_only_where_the_name_says_so(monkeypatch, tf32, name, wanted):
    import torch

    seen = []

    def refuse(*arrays, out):
        seen.append(torch.backends.cuda.matmul.allow_tf32)
        raise RuntimeError("stopped")

    monkeypatch.setattr(torch, "mm", refuse)
    with pytest.raises(RuntimeError, match="stopped"):
        matmul.versions[name](torch.ones(2, 2), torch.ones(2, 2), out=torch.empty(2, 2))
    assert seen == [wanted] and torch.backends.cuda.matmul.allow_tf32 == tf32


@pytest.mark.parametrize("name", ["PyTorch, cast to bf16, GPU", "PyTorch, cast to fp16, GPU"])
def test_sixteen_bits_stay_within_their_tolerance(name):
    torch = pytest.importorskip("torch")
    x, y = matmul.inputs(512)
    out = torch.empty(512, 512)
    matmul.versions[name].function(torch.tensor(x), torch.tensor(y), out)
    error = matmul.error(out.numpy(), matmul.reference(x, y))
    assert matmul.rtol < error <= matmul.versions[name].rtol


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5,), (1, 3), (2, 3, 100)])
def test_room_for_vectors_begins_on_a_cache_line(shape, dtype):
    """malloc gives multiples of 16 or 32 bytes, as it happens: many, so that none is by chance."""
    rooms = [aligned_empty(shape, np.dtype(dtype)) for _ in range(50)]
    assert {room.ctypes.data % 64 for room in rooms} == {0}
    assert {(room.shape, room.dtype) for room in rooms} == {(shape, np.dtype(dtype))}
    rooms[0][...], rooms[1][...] = 1, 2
    assert (rooms[0] == 1).all()


class Watched(np.ndarray):
    """An array that counts who takes single numbers out of it."""

    taken = 0

    def __getitem__(self, key):
        Watched.taken += 1
        return super().__getitem__(key)


def test_the_loop_in_python_runs_over_lists_and_boxes_no_number_of_an_array():
    x, y = (a.view(Watched) for a in matmul.inputs(16))
    Watched.taken = 0
    matmul.versions["Python loop"](x, y, out=np.empty((16, 16), np.float32))
    assert Watched.taken == 0
