"""Functions, instructions and types that a variable holds, and sizes that a caller gives."""

import numpy as np
import pytest
from numba import cuda, float32

from warplens import Unsupported, trace


@cuda.jit(device=True)
def plus_one(v):
    return v + 1


@cuda.jit(device=True)
def met(function, x):
    cuda.syncthreads()
    return function(x)


@cuda.jit(device=True)
def updated(update, array, i, by, kind):
    return update(array, i, kind(by))


@cuda.jit
def through_names(x, total):
    i = cuda.grid(1)
    step = plus_one
    x[i] = met(step, x[i]) + met(float32, 0.1)
    updated(cuda.atomic.add, total, 0, 2.9, int)


def test_a_name_may_hold_a_function_an_instruction_or_a_type():
    x, total = np.arange(64.0), np.zeros(1, np.int64)
    trace(through_names)[1, 64](x, total)
    assert (x == np.arange(64) + 1 + float(np.float32(0.1))).all() and total[0] == 128


@cuda.jit
def called_number(x):
    f = 3
    x[0] = f(1)


def test_calling_a_number_is_refused():
    with pytest.raises(Unsupported, match="calling int"):
        trace(called_number)[1, 1](np.zeros(1))


@cuda.jit(device=True)
def reversed_of(x, size, kind):
    room = cuda.shared.array(size, kind)
    i = cuda.threadIdx.x
    room[i] = x[i]
    cuda.syncthreads()
    x[i] = room[size - 1 - i]


@cuda.jit
def constant_size(x):
    reversed_of(x, 32, float32)


@cuda.jit
def size_of_an_argument(x, n):
    reversed_of(x, n, float32)


def test_a_caller_s_constant_is_a_shape_and_its_argument_is_none():
    x = np.arange(32.0)
    trace(constant_size)[1, 32](x)
    assert (x == np.arange(32)[::-1]).all()
    with pytest.raises(Unsupported, match="that is no constant: give it a name outside"):
        trace(size_of_an_argument)[1, 32](x, 32)
