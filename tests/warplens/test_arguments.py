"""Arguments as Numba takes them."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import cuda

from warplens import Unsupported, trace, tracing

Point = namedtuple("Point", "x y")


def double(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = 2 * x[i]


NUMBERS = "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float32", "float64"


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numpy_arrays_of_every_type(dtype):
    x = np.arange(50).astype(dtype)
    y = np.zeros_like(x)
    trace(double)[2, 32](x, y)
    assert np.array_equal(y, 2 * x)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a[::2],
        lambda a: a[10:60],
        lambda a: a.reshape(10, 10)[:, 3],
        lambda a: a.reshape(10, 10)[3:6, 2],
    ],
)
def test_views_of_device_arrays(make):
    with tracing():
        x = make(cuda.to_device(np.arange(100.0)))
        y = np.zeros(len(x))
        trace(double)[4, 32](x, y)
        assert np.array_equal(y, 2 * x.copy_to_host())
        y = make(cuda.to_device(np.zeros(100)))
        trace(double)[4, 32](np.arange(100.0), y)
        assert np.array_equal(y.copy_to_host(), 2 * np.arange(100.0)[: len(y)])


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a[::2],
        lambda a: a[::-1],
        lambda a: a.reshape(10, 10)[:, 3],
        lambda a: a.reshape(10, 10)[2:5, 2:5],
    ],
)
def test_arrays_on_the_host_are_one_piece_of_memory_or_refused(make):
    """By the very function by which numba-cuda refuses them."""
    from numba.cuda.cudadrv.devicearray import sentry_contiguous

    x = make(np.arange(100.0))
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        sentry_contiguous(x)
    for attempt in (
        lambda: trace(double)[1, 32](x, np.zeros(100)),
        lambda: trace(double)[1, 32](np.zeros(100), x),
        lambda: trace(double)[1, 32]((x,), np.zeros(100)),
        lambda: cuda.to_device(x),
    ):
        with tracing(), pytest.raises(ValueError, match="non-contiguous buffer"):
            attempt()


def test_scalars_keep_their_type():
    def kernel(a, b, c, d, e, out):
        out[0] = a * b
        out[1] = c
        out[2] = d if e else 0

    out = np.zeros(3)
    trace(kernel)[1, 1](np.float32(0.1), np.float32(3), 7, 0.1, True, out)
    assert out.tolist() == [float(np.float32(0.1) * np.float32(3)), 7, 0.1]


def test_tuples_and_named_tuples():
    def kernel(pair, point, x):
        i = cuda.grid(1)
        x[i] = pair[0][i] + pair[1] + point.x * 10 + point[1]

    x = np.zeros(8)
    trace(kernel)[1, 8]((np.arange(8.0), 100), Point(2, 3.5), x)
    assert np.array_equal(x, np.arange(8) + 123.5)


@pytest.mark.nightly  # importing PyTorch takes longer than all of these tests
def test_torch_tensors_share_memory():
    import torch

    x, y = torch.arange(50.0), torch.zeros(50)
    trace(double)[2, 32](x, y)
    assert torch.equal(y, 2 * x)
    y = torch.zeros(50, requires_grad=True)
    trace(double)[2, 32](x, y)
    assert torch.equal(y.detach(), 2 * x)


@pytest.mark.parametrize("bad", [[1, 2, 3], "text", {1: 2}])
def test_what_a_kernel_cannot_take_is_named(bad):
    with pytest.raises(TypeError, match="the argument x"):
        trace(double)[1, 3](bad, np.zeros(3))


@pytest.mark.parametrize(
    "dtype", ["complex64", "longdouble", "U3", "datetime64[s]", ">i4", [("a", "f4"), ("b", "i4")]]
)
def test_values_that_are_not_followed_are_refused_by_their_type(dtype):
    with pytest.raises(Unsupported, match="the argument x: values of type"):
        trace(double)[1, 3](np.zeros(3, dtype), np.zeros(3))


def test_names_of_cuda_come_in_many_ways():
    import numba
    import numba.cuda as nc
    from numba.cuda import atomic, blockIdx, grid, shared, syncthreads
    from numba.cuda import threadIdx as thread

    def kernel(x):
        s = shared.array(4, numba.float32)
        s[thread.x] = numba.cuda.blockDim.x + blockIdx.x + 3
        syncthreads()
        x[grid(1)] = s[3 - nc.threadIdx.x]
        atomic.add(x, 0, np.float64(math.pi))

    x = np.zeros(4)
    trace(kernel)[1, 4](x)
    np.testing.assert_allclose(x, [7 + 4 * math.pi, 7, 7, 7])


TABLE = np.array([1.0, 4.0, 9.0])
SCALE = 10
SHAPE = (4, 2)


def test_globals_are_frozen_constants():
    def kernel(x):
        i = cuda.grid(1)
        table = cuda.const.array_like(TABLE)
        s = cuda.shared.array(SHAPE, np.float64)
        s[i, 1] = TABLE[i % 3] * SCALE
        x[i] = table[i % 3] + s[i, 1]

    x = np.zeros(4)
    t = trace(kernel)[1, 4](x)
    assert x.tolist() == [11, 44, 99, 11]
    assert t.work().constant_reads == 2
