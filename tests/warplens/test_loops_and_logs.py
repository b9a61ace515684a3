"""Loops that never end are given up, those that only count are not run, logs stay small."""

import numpy as np
import pytest
from numba import cuda, float32

from warplens import NoProgress, Unsupported, trace
from warplens.lanes import flow, log

T = 8


def forever(x):
    while x[0] >= 0:
        x[0] += 1


def waits(x):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(x, 0, 7, 8) != 7:
            pass
    else:
        x[0] = 7


@pytest.mark.parametrize("kernel", [forever, waits])
def test_a_loop_that_does_not_end_is_given_up_with_its_line(kernel, monkeypatch):
    monkeypatch.setattr(flow, "TURN_LIMIT", 300)
    monkeypatch.setattr(flow, "PATIENCE", 0.0)
    loop = kernel.__code__.co_firstlineno + (1 if kernel is forever else 2)
    with pytest.raises(NoProgress, match=f"line {loop} turned 300 times") as caught:
        trace(kernel)[1, 32](np.zeros(1, np.int32))
    assert caught.value.line == loop
    assert ("cannot wait for each other" in str(caught.value)) == (kernel is waits)


def counted(x, n):
    one, other, third = cuda.threadIdx.x, 5, 0.5
    for i in range(n):  # noqa: B007
        one += 1
        other -= 3
    for i in range(n % 7):  # noqa: B007
        third += 1
    x[cuda.threadIdx.x] = one + other * third + i


def test_a_loop_that_only_counts_gives_the_same_without_being_run():
    x = np.zeros(32)
    t = trace(counted)[1, 32](x, 20_000_002)
    expected = np.arange(32) + 20_000_002 + (5 - 3 * 20_000_002) * (0.5 + 20_000_002 % 7)
    np.testing.assert_array_equal(x, expected + 20_000_002 % 7 - 1)
    assert max(b.instances for b in t.branches) == 20_000_003


@cuda.jit
def tiled(x, y, out, barrier):
    a = cuda.shared.array((T, T), float32)
    b = cuda.shared.array((T, T), float32)
    column, row = cuda.grid(2)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for t in range(x.shape[1] // T):
        a[i, j] = x[row, t * T + j]
        b[i, j] = y[t * T + i, column]
        cuda.syncthreads()
        for k in range(T):
            total += a[i, k] * b[k, j]
        if barrier:
            cuda.syncthreads()
    out[row, column] = total


def product(barrier=True, n=32):
    x = np.arange(n * n, dtype=np.float32).reshape(n, n)
    return trace(tiled)[(n // T, n // T), (T, T)](x, x, np.zeros_like(x), barrier)


def test_a_log_that_does_not_fit_says_what_would(monkeypatch):
    monkeypatch.setattr(log, "MEMORY_LIMIT", 10_000)
    with pytest.raises(Unsupported, match=r"trace a few blocks, as in trace\(…, blocks=\{0\}\)"):
        product()


def test_a_grid_of_too_many_blocks_is_refused_but_not_some_of_them():
    with pytest.raises(Unsupported, match=r"2,000,000,000 blocks at once.*blocks=\{0\}"):
        trace(counted)[2_000_000_000, 32](np.zeros(32), 3)
    assert trace(counted, blocks={7})[2_000_000_000, 32](np.zeros(32), 3).blocks == 1


