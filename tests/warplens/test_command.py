"""Whole programs as their authors wrote them: `python -m warplens`, and `pytest --warplens`."""

import subprocess
import sys

import pytest

MATMUL = '''
"""Matrix product with shared memory, as in Numba's documentation."""
import numpy as np
from numba import cuda, float32

TPB = 16

@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bpg = cuda.gridDim.x
    tmp = float32(0.)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp

x_h = np.arange(115).reshape([5, 23]).astype(np.float32)
y_h = np.ones([23, 7], dtype=np.float32)
x_d, y_d = cuda.to_device(x_h), cuda.to_device(y_h)
z_d = cuda.to_device(np.zeros([5, 7], dtype=np.float32))
fast_matmul[(2, 2), (TPB, TPB)](x_d, y_d, z_d)
print(np.abs(z_d.copy_to_host() - x_h @ y_h).max())
'''
HISTOGRAM = """
import numpy as np
from numba import cuda

@cuda.jit("void(uint8[:], int32[:])")
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        bins[values[i]] += 1

values = np.arange(1000).astype(np.uint8)
bins = cuda.to_device(np.zeros(256, np.int32))
histogram[-(-values.size // 256), 256](values, bins)
"""
RANDOM = """
from numba.cuda.random import create_xoroshiro128p_states

create_xoroshiro128p_states(64, seed=1)
"""
OUTSIDE = HISTOGRAM.replace("zeros(256", "zeros(100").replace("bins[values[i]] += 1", "bins[i] = 1")


def run(tmp_path, program):
    (tmp_path / "script.py").write_text(program)
    command = [sys.executable, "-m", "warplens", "script.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("program", "status", "texts"),
    [
        (MATMUL, 0, ["0.0\n", "1 launches, 0 findings"]),
        (HISTOGRAM, 1, ["script.py:9: histogram: race: bins[0]: thread 0", "at 256 cells in all"]),
        (OUTSIDE, 1, ["script.py:9: OutOfBounds: line 9: ", "outside its shape (100,)"]),
        (RANDOM, 2, ["script.py:4: ", "does not follow a device array of"]),
    ],
    ids=["matmul", "histogram", "outside", "random"],
)
def test_a_program_is_run_and_what_is_wrong_has_its_line(tmp_path, program, status, texts):
    done = run(tmp_path, program)
    assert done.returncode == status, done
    assert all(text in done.stdout for text in texts), done.stdout


TESTS = """
import numpy as np
from numba import cuda

@cuda.jit("void(float32[:])")
def fill(x):
    x[cuda.grid(1) % x.size] = cuda.threadIdx.x

def test_clean():
    fill[1, 8](np.zeros(8, np.float32))

def test_racy():
    fill[1, 8](np.zeros(4, np.float32))
"""


def test_a_test_fails_where_its_kernel_races(tmp_path):
    (tmp_path / "test_fill.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "warplens.pytest_plugin", "--warplens"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout and "test_fill.py:7: fill: race: x[0]" in done.stdout
