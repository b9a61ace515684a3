"""Slices that are set, and local arrays made in loops."""

import numpy as np
from numba import cuda, float32

from warplens import trace


def test_every_thread_sets_a_slice_of_its_own_length():
    def kernel(m):
        i = cuda.threadIdx.x
        m[i, i : 2 * i] = i
        if i % 2:
            m[i, -1:] = 100

    m, n = np.zeros((2, 40, 80), np.float32)
    t = trace(kernel)[1, 40](m)
    for i in range(40):
        n[i, i : 2 * i] = i
        n[i, -1] = 100 * (i % 2)
    assert np.array_equal(m, n) and t.races().cells == 0
    assert t.work().writes * 40 == sum(range(40)) + 20


def test_a_local_array_in_a_loop_that_threads_leave_one_by_one():
    def kernel(n, out):
        i = cuda.threadIdx.x
        total = 0.0
        k = 0
        while k < n[i]:
            own = cuda.local.array(3, float32)
            own[0] = k
            own[1] = own[0] + i
            if i % 3 == 0:
                k += 1
                continue
            total += own[1]
            k += 1
        if n[i] > 0:
            out[i] = total + own[0]

    n, out = np.arange(40) % 7, np.zeros(40)
    trace(kernel)[1, 40](n, out)
    for i in range(40):
        total = 0 if i % 3 == 0 else sum(k + i for k in range(n[i]))
        assert out[i] == (total + n[i] - 1 if n[i] else 0)


def test_a_local_array_begins_each_turn_with_nothing_in_it():
    def kernel(out):
        i = cuda.threadIdx.x
        for k in range(2):
            own = cuda.local.array(1, float32)
            if k == 0:
                own[0] = i
            elif i > 5:
                out[i] = own[0]

    t = trace(kernel)[1, 8](np.zeros(8, np.float32))
    assert [(w.kind, w.times) for w in t.warnings] == [("uninitialized", 2)]
