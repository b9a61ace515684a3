"""Laws: what holds for an op whatever the numbers, in every version. Hypothesis tries to refute."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gpulessons import bias_gelu, copy, gelu, leaky_relu, relu, sigmoid, tanh, triad
from gpulessons.backends import host, torch_cpu

CLOSE = 4e-6  # twice what each side of a law may be off
FLAT_OR_NOT = array_shapes(max_dims=2, max_side=40)
MATRICES = array_shapes(min_dims=2, max_dims=2, max_side=30)


def numbers(limit):
    limit = float(np.float32(limit))
    return st.floats(-limit, limit, width=32)


def floats(limit, shapes=FLAT_OR_NOT):
    """Arrays of float32 up to a limit, of one or two dimensions."""
    return arrays(np.float32, shapes, elements=numbers(limit))


def lines(limit):
    return floats(limit, st.integers(1, 70))


def for_every_version(op):
    """The names of its CPU versions; torch.compile's has its own test, once: it takes seconds."""
    names = [v.name for v in op.versions.values()
             if v.backend in (host, torch_cpu) and "compiled" not in v.name]  # fmt: skip
    return pytest.mark.parametrize("name", names)


def run(op, name, *inputs):
    version = op.versions[name]
    put, get = version.backend.put, version.backend.get
    return get(version(*map(put, inputs)))


def assert_close(got, want):
    scale = np.maximum(1, np.abs(want))
    assert np.all(np.abs(got.astype(np.float64) - want) <= CLOSE * scale)


@for_every_version(relu)
@given(x=floats(1e30))
def test_relu_twice_is_relu_once(name, x):
    once = run(relu, name, x)
    assert np.array_equal(run(relu, name, once), once)
    assert np.all(once >= 0) and np.array_equal(once - run(relu, name, -x), x)


@for_every_version(leaky_relu)
@given(x=lines(1e30))
def test_leaky_relu_keeps_order_and_can_be_undone(name, x):
    y = run(leaky_relu, name, np.sort(x))
    assert np.all(np.diff(y) >= 0)
    assert_close(np.where(y < 0, y.astype(np.float64) / np.float32(0.01), y), np.sort(x))


@for_every_version(sigmoid)
@given(x=floats(300))
def test_sigmoid_of_minus_x_is_what_is_missing_to_one(name, x):
    y = run(sigmoid, name, x)
    assert_close(run(sigmoid, name, -x), 1 - y.astype(np.float64))
    assert np.all((y >= 0) & (y <= 1))


@for_every_version(tanh)
@given(x=floats(300))
def test_tanh_is_odd_and_a_stretched_sigmoid(name, x):
    y = run(tanh, name, x)
    assert np.array_equal(run(tanh, name, -x), -y)
    assert np.all(np.abs(y) <= 1)
    assert_close(2 * run(sigmoid, name, 2 * x).astype(np.float64) - 1, y)


@for_every_version(gelu)
@given(x=floats(1e4))
def test_gelu_of_x_less_gelu_of_minus_x_is_x(name, x):
    y = run(gelu, name, x)
    assert_close(y.astype(np.float64) - run(gelu, name, -x), x)
    assert np.all(y >= -0.1701)  # its only minimum, near -0.75


@for_every_version(bias_gelu)
@given(x=floats(1e4, MATRICES))
def test_without_a_bias_fused_gelu_is_gelu(name, x):
    none = np.zeros(x.shape[1], np.float32)
    assert_close(run(bias_gelu, name, x, none), gelu.reference(x))


@for_every_version(copy)
@given(x=lines(3e38))
def test_a_copy_is_the_same_bits(name, x):
    assert run(copy, name, x).tobytes() == x.tobytes()


@for_every_version(triad)
@given(a=lines(1e15), s=numbers(1e3), t=numbers(1e3))
def test_triad_is_linear(name, a, s, t):
    b, s, t = a[::-1].copy(), np.float32(s), np.float32(t)
    zero = np.zeros_like(a)
    assert np.array_equal(run(triad, name, a, b, np.float32(0)), a)
    size = np.abs(a) + (abs(s) + abs(t)) * np.abs(b)
    both = run(triad, name, run(triad, name, a, b, s), b, t).astype(np.float64)
    assert np.all(np.abs(both - (a + (np.float64(s) + t) * b)) <= 1e-6 * size + 1e-30)
    assert_close(run(triad, name, zero, b, s), np.float64(s) * b)
