"""Layer norm: against float64 and PyTorch's autograd, by its laws; and broken on purpose."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gpulessons import check
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.ops.layer_norm import EPS, layer_norm, layer_norm_backward
from warplens import tracing

SHAPES = ((1, 1), (5, 1), (1, 7), (5, 31), (9, 33), (70, 40), (3, 257), (2, 1009))
SMALL = array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=40)


def named(op, *backends):
    versions = [v for v in op.versions.values() if v.backend in backends]
    return pytest.mark.parametrize("version", versions, ids=lambda v: v.name)


def run(version, *inputs):
    """A version's answer as a tuple; a GPU's in the microscope."""
    put, get = version.backend.put, version.backend.get
    if version.backend is gpu:
        with tracing():
            result = version(*map(put, inputs))
    else:
        result = version(*map(put, inputs))
    return tuple(map(get, result if isinstance(result, tuple) else (result,)))


def problem(shape, scale=1, seed=0):
    """x, gain, bias, dy: float32, with no two columns alike."""
    rng = np.random.default_rng(seed)
    x, dy = rng.normal(0, scale, shape), rng.normal(0, 1, shape)
    gain, bias = rng.normal(1, 0.3, shape[1]), rng.normal(0, 1, shape[1])
    return tuple(a.astype(np.float32) for a in (x, gain, bias, dy))


def plain(version, x):
    """Rows with mean 0 and variance 1: neither gain nor bias."""
    ones = np.ones(x.shape[1], np.float32)
    return run(version, x, ones, 0 * ones)[0]


@named(layer_norm, host, torch_cpu, gpu)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_number_is_that_of_float64(version, shape):
    for scale in (1, 300):
        x, gain, bias, _ = problem(shape, scale, seed=shape[1])
        (got,) = run(version, x, gain, bias)
        assert layer_norm.error(got, layer_norm.reference(x, gain, bias)) < 3e-6


@named(layer_norm, host, torch_cpu, gpu)
def test_a_row_of_equal_numbers_becomes_the_bias(version):
    _, gain, bias, _ = problem((1, 37))
    x = np.repeat(np.float32([[0], [-7], [300], [1e5]]), 37, axis=1)
    assert np.abs(run(version, x, gain, bias)[0] - bias).max() < 1e-5 / np.sqrt(EPS)


@named(layer_norm, host, torch_cpu, gpu)
def test_a_small_spread_around_a_large_mean_survives(version):
    """The mean of squares minus the square of the mean would be all rounding here."""
    x = 1e4 + np.random.default_rng(0).integers(-4, 5, (3, 333)).astype(np.float32)
    assert np.abs(plain(version, x) - plain(layer_norm.versions["NumPy"], x - 1e4)).max() < 2e-3


@named(layer_norm, host, torch_cpu)
@settings(max_examples=25)
@given(x=arrays(np.int16, SMALL, elements=st.integers(-100, 100)), shift=st.integers(-500, 500),
       power=st.integers(-2, 5))  # fmt: skip
def test_neither_a_shift_nor_a_scale_of_a_row_shows(version, x, shift, power):
    x = x.astype(np.float32)
    x[:, 0] = x[:, 1:].sum(axis=1) + 50  # some spread in every row, much more than eps
    stretched = np.float32(2.0**power) * (x + np.float32(shift))
    assert np.abs(plain(version, stretched) - plain(version, x)).max() < 1e-4


@named(layer_norm, host, torch_cpu)
@settings(max_examples=25)
@given(x=arrays(np.float32, SMALL, elements=st.floats(-300, 300, width=32)))
def test_a_row_s_mean_is_zero_and_its_variance_one_unless_it_had_none(version, x):
    y = plain(version, x).astype(np.float64)
    had = x.astype(np.float64).var(axis=1)
    # The mean's last digit is lost, and divided by the row's spread (or by sqrt(eps) where all are
    # alike).
    lost = np.finfo(np.float32).eps * np.abs(x).max(axis=1) / np.sqrt(had + EPS)
    assert (np.abs(y.mean(axis=1)) < 4 * lost + 1e-5).all()
    assert np.allclose(y.var(axis=1)[had > 1e-3], (had / (had + EPS))[had > 1e-3], atol=1e-4)


@named(layer_norm_backward, host, torch_cpu, gpu)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_gradients_are_autograd_s(version, shape):
    x, gain, bias, dy = problem(shape, 2, seed=shape[0])
    leaves = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (x, gain, bias)]
    y = torch.nn.functional.layer_norm(leaves[0], gain.shape, *leaves[1:], EPS)
    y.backward(torch.tensor(dy, dtype=torch.float64))
    got = run(version, x, gain, dy)
    wants = tuple(leaf.grad.numpy() for leaf in leaves)
    assert layer_norm_backward.error(got, wants) < (1e-4 if shape[1] == 1 else 5e-6)


@named(layer_norm_backward, host, torch_cpu)
@settings(max_examples=25)
@given(x=arrays(np.int8, SMALL), seed=st.integers(0, 99))
def test_the_gradient_by_x_neither_shifts_a_row_nor_stretches_it(version, x, seed):
    """No shift and no scale of a row changes the result, so neither has a part in dx."""
    x = x.astype(np.float32)
    x[:, 0] = x[:, 1:].sum(axis=1) + 50
    _, gain, _, dy = problem(x.shape, seed=seed)
    dx, *_ = run(version, x, gain, dy)
    limit = 1e-5 * np.abs(dx).max(axis=1) * np.abs(x).max(axis=1) * x.shape[1] + 1e-6
    assert np.all(np.abs(dx.sum(axis=1)) <= limit)
    assert np.all(np.abs((dx * x).sum(axis=1)) <= limit + 1e-4)


# -- Faults: each is a line that one might well write.


def faulty(square_of):
    """Layer norm, but for how it finds the variance of the centered rows."""

    def attempt(x, gain, bias):
        centered = x - x.mean(axis=1, keepdims=True)
        return centered / np.sqrt(square_of(x, centered) + np.float32(EPS)) * gain + bias

    return attempt


FAULTS = {
    "none: right": lambda x, c: (c * c).mean(axis=1, keepdims=True),
    "n - 1 instead of n": lambda x, c: (c * c).sum(1, keepdims=True) / max(1, x.shape[1] - 1),
    "down the columns": lambda x, c: (c * c).mean(axis=0, keepdims=True),
    "eps is left out": lambda x, c: (c * c).mean(axis=1, keepdims=True) - np.float32(EPS),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_variance_is_refused(fault):
    with np.errstate(all="ignore"):
        assert check(layer_norm, faulty(FAULTS[fault])).passed == fault.endswith("right")


def test_the_square_of_the_mean_taken_off_the_mean_of_squares_cancels():
    x = 1e4 + np.random.default_rng(0).integers(-4, 5, (3, 333)).astype(np.float32)
    assert np.abs((x * x).mean(1) - x.mean(1) ** 2 - x.var(1)).max() > 1  # of a variance of 7


def test_a_gradient_without_its_second_mean_is_refused():
    def attempt(x, gain, dy):
        dx, dgain, dbias = layer_norm_backward(x, gain, dy)
        return dx + np.float32(1e-3) * (x - x.mean(axis=1, keepdims=True)), dgain, dbias

    assert not check(layer_norm_backward, attempt).passed
