"""Softmax: against float64 and PyTorch, by its laws, at the ends of float32; and broken on purpose.

Shares may be tiny, so they are compared relative to themselves here: op.error would call any share
of a long row right.
"""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numba import cuda, float32

from gpulessons import check
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.ops import rows
from gpulessons.ops import softmax as lesson
from gpulessons.ops.common import THREADS, WARP, ZERO
from gpulessons.ops.reduce import WARPS, warp_reduce_sum
from gpulessons.ops.softmax import overflowing, softmax, softmax_backward
from warplens import tracing

SHAPES = ((1, 1), (3, 1), (1, 7), (5, 31), (9, 33), (4, 129), (3, 257), (2, 1009))
SMALL = array_shapes(min_dims=2, max_dims=2, max_side=40)
TINY = 1e-36  # exp32 stops at 1.6e-38: what should be zero may be that


def named(op, *backends):
    versions = [v for v in op.versions.values() if v.backend in backends]
    return pytest.mark.parametrize("version", versions, ids=lambda v: v.name)


def run(version, *inputs):
    """A version's answer; a GPU's in the microscope."""
    put, get = version.backend.put, version.backend.get
    with np.errstate(all="ignore"):
        if version.backend is not gpu:
            return get(version(*map(put, inputs)))
        with tracing():
            return get(version(*map(put, inputs)))


def assert_close(got, want, rtol=2e-6):
    assert np.all(np.abs(got - want) <= rtol * np.abs(want) + TINY)


def scores(shape, scale, seed=0):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)


@named(softmax, host, torch_cpu, gpu)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_share_is_that_of_float64(version, shape):
    for scale in (1, 10):
        x = scores(shape, scale, seed=shape[1])
        assert_close(run(version, x), softmax.reference(x), rtol=1e-5)


@named(softmax, host, torch_cpu, gpu)
def test_scores_of_hundreds_neither_overflow_nor_vanish(version):
    x = np.array([[300, 299, -300], [-300, -301, -299], [88, 89, 90], [3e38, -3e38, 0]], np.float32)
    got = run(version, x)
    assert_close(got, softmax.reference(x))
    assert np.allclose(got.sum(axis=1), 1)


def test_the_textbook_s_softmax_overflows_where_ours_does_not():
    x = np.array([[100, 0]], np.float32)
    with np.errstate(all="ignore"):
        assert np.isnan(overflowing(x)).any()
    assert_close(overflowing(x / 10), softmax(x / 10))
    assert np.isfinite(softmax(x)).all()


@named(softmax, host, torch_cpu, gpu)
def test_what_is_masked_has_no_share(version):
    x = scores((4, 70), 3)
    x[:, ::2], x[1, 1:], x[1, 0] = -np.inf, -np.inf, 5
    x[0] = -np.inf  # nobody to share among: what comes out is 0/0, and must stay in its row
    assert_close(run(version, x)[1:], softmax.reference(x[1:]))


@named(softmax, host, torch_cpu)
def test_a_nan_spoils_its_own_row_and_no_other(version):
    for at in (0, 33, 69):
        x = scores((3, 70), 3)
        x[1, at] = np.nan
        assert np.isnan(run(version, x)).all(axis=1).tolist() == [False, True, False]


@named(softmax, host, torch_cpu)
@settings(max_examples=25)
@given(x=arrays(np.int16, SMALL, elements=st.integers(-300, 300)), shift=st.integers(-200, 200))
def test_a_shift_of_all_scores_changes_nothing_and_rows_add_up_to_one(version, x, shift):
    x = x.astype(np.float32)  # whole numbers: the shift itself does not round
    y = run(version, x)
    assert np.all(y >= 0) and np.allclose(y.sum(axis=1, dtype=np.float64), 1, atol=2e-6)
    assert_close(run(version, x + np.float32(shift)), y)


@named(softmax, host, torch_cpu)
@settings(max_examples=25)
@given(x=arrays(np.float32, SMALL, elements=st.floats(-80, 80, width=32)), seed=st.integers(0, 99))
def test_shares_follow_their_scores_into_any_order(version, x, seed):
    order = np.random.default_rng(seed).permutation(x.shape[1])
    assert_close(run(version, x[:, order]), run(version, x)[:, order], rtol=1e-5)


@named(softmax_backward, host, torch_cpu, gpu)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_gradient_is_autograd_s(version, shape):
    x, dy = torch.tensor(scores(shape, 2), dtype=torch.float64), scores(shape, 1, seed=1)
    x.requires_grad_()
    y = torch.softmax(x, 1)
    y.backward(torch.tensor(dy, dtype=torch.float64))
    got = run(version, y.detach().numpy().astype(np.float32), dy)
    assert np.abs(got - x.grad.numpy()).max() < 1e-6


# -- What the kernels are said to do.


def sectors(name):
    """Sectors to a request for x, by the kernel that this version launches."""
    x = scores((64, 256), 1)
    with tracing() as launches:
        softmax.versions[name](gpu.put(x))
    return launches[0].coalescing("x").sectors_per_request


def test_a_thread_per_row_is_uncoalesced_and_a_warp_per_row_is_not():
    assert sectors("CUDA, a thread per row, uncoalesced") == 32
    assert sectors("CUDA, a block per row") == sectors("CUDA, a warp per row, online") == 4


# -- Faults: each is a line that one might well write.


def no_mending(exp):
    return lambda top, total, other_top, other_total: (max(top, other_top), total + other_total)


def test_a_sum_that_is_not_mended_is_refused():
    join = no_mending(np.exp)

    def attempt(x):
        out = np.empty_like(x)
        for i, row in enumerate(x):
            top, total = lesson.LOWEST, 0.0
            for value in row:
                top, total = join(top, total, value, np.exp(value - max(top, value)))
            out[i] = np.exp(row - top) / total
        return out

    assert not check(softmax, attempt).passed


def test_a_maximum_over_everything_is_refused():
    def attempt(x):
        powers = np.exp(x - x.max())
        return powers / powers.sum(axis=1, keepdims=True)

    with np.errstate(all="ignore"):
        assert not check(softmax, attempt).passed
        assert not check(softmax, overflowing).passed


@cuda.jit
def hasty_kernel(x, out):
    """A block per row that does not wait for its warps before it reads what they found."""
    part = cuda.shared.array(WARPS, float32)
    i, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = ZERO
    for j in range(t, x.shape[1], THREADS):
        total += math.exp(x[i, j])
    total = warp_reduce_sum(total)
    if t % WARP == 0:
        part[t // WARP] = total
    total = warp_reduce_sum(part[t % WARP] if t % WARP < WARPS else ZERO)
    for j in range(t, x.shape[1], THREADS):
        out[i, j] = math.exp(x[i, j]) / total


def test_warps_that_do_not_wait_for_each_other_are_a_race():
    def attempt(x, out):
        hasty_kernel[rows.block_per_row(x.shape[0])](x, out)

    verdict = check(softmax, attempt, on=gpu)
    assert not verdict.passed and "race" in repr(verdict)
