"""Whole programs: `with tracing()` stands in for a GPU and leaves the process as it was."""

import math

import numpy as np
import pytest
from numba import cuda, float32

from warplens import LaunchError, OutOfBounds, tracing


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def everything():
    """The state of the process that tracing() touches."""
    return dict(vars(cuda)), dict(vars(type(axpy)))


def program(n=100):
    stream = cuda.stream()
    start, end = cuda.event(), cuda.event(timing=True)
    pinned = cuda.pinned_array(n, dtype=np.float32)
    pinned[:] = np.arange(n)
    with stream.auto_synchronize():
        start.record(stream)
        x = cuda.to_device(pinned, stream=stream)
        y = cuda.device_array_like(x, stream=stream)
        y.copy_to_device(np.ones(n, np.float32), stream=stream)
        axpy[math.ceil(n / 32), 32, stream](float32(2), x, y)
        end.record(stream)
    end.synchronize()
    cuda.synchronize()
    assert math.isnan(cuda.event_elapsed_time(start, end)) and cuda.is_available()
    host = np.empty(n, np.float32)
    y.copy_to_host(host, stream=stream)
    axpy.forall(n)(float32(1), x, y)
    return host, y.copy_to_host()


def test_a_program_runs_and_its_launches_are_kept_in_order():
    with tracing() as launches:
        once, twice = program()
    assert np.array_equal(once, 2 * np.arange(100) + 1) and np.array_equal(
        twice, 3 * np.arange(100) + 1
    )
    assert [(t.kernel, t.grid[0], t.block[0]) for t in launches] == [
        ("axpy", 4, 32),
        ("axpy", 1, 256),
    ]
    assert launches[0].coalescing("x").sectors == 13


def test_the_process_is_as_it_was_after_an_exception():
    before = everything()
    with pytest.raises(OutOfBounds), tracing():
        wrong = cuda.jit(lambda_free_kernel)
        wrong[1, 32](np.zeros(3))
    assert everything() == before


def lambda_free_kernel(x):
    x[cuda.grid(1)] = 1


def test_nested_tracing_keeps_to_the_inner_list():
    with tracing() as outer:
        with tracing() as inner:
            axpy[1, 8](1, np.ones(8), np.ones(8))
        axpy[1, 8](1, np.ones(8), np.ones(8))
    assert (len(outer), len(inner)) == (1, 1)


def test_kernels_with_explicit_signatures_compile_lazily_and_type_their_arguments():
    with tracing() as launches:

        @cuda.jit("void(float32[:], float32, float32[:])")
        def scaled(x, a, out):
            i = cuda.grid(1)
            out[i] = a * x[i]

        @cuda.jit(["void(float32[:])", "void(float64[:])"])
        def either(x):
            x[cuda.grid(1)] = 1

        x = cuda.to_device(np.ones(8, np.float32))
        out = cuda.device_array(8, np.float32)
        scaled[1, 8](x, 0.1, out)
        assert (out.copy_to_host() == np.float32(0.1)).all()
        assert not launches[0].warnings  # 0.1 is a float32 here, so nothing is double
        either[1, 8](np.zeros(8))
        with pytest.raises(TypeError, match="do not match the kernel's signature"):
            scaled[1, 8](np.ones(8), 0.1, out)
        with pytest.raises(TypeError, match="do not match"):
            scaled[1, 8](x, 0.1)


def test_slices_of_device_arrays_share_memory_and_keep_their_alignment():
    with tracing() as launches:
        x = cuda.to_device(np.zeros(100, np.float32))
        axpy[2, 32](float32(1), cuda.to_device(np.ones(64, np.float32)), x[1:65])
        assert x.copy_to_host()[:66].tolist() == [0] + [1] * 64 + [0]
    assert launches[0].coalescing("y", "write").sectors_per_request == 5
    assert launches[0].coalescing("x").sectors_per_request == 4


def test_a_kernel_without_sizes_says_so():
    with tracing():
        with pytest.raises(ValueError, match="grid and a block"):
            axpy(1, np.ones(3), np.ones(3))
        with pytest.raises(ValueError, match="at least a grid and a block"):
            axpy[1](1, np.ones(3), np.ones(3))


def test_a_device_function_is_not_launched():
    with (
        tracing() as launches,
        pytest.raises(LaunchError, match="axpy is a device function"),
    ):
        cuda.jit(device=True)(axpy.py_func)[1, 32](float32(2), np.ones(3), np.ones(3))
    assert not launches
