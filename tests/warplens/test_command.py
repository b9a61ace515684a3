"""Whole programs as their authors wrote them: `python -m warplens`, and `pytest --warplens`."""

import os
import subprocess
import sys

import pytest

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
CLEAN = HISTOGRAM.replace("bins[values[i]] += 1", "cuda.atomic.add(bins, values[i], 1)")
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
        (CLEAN, 0, ["1 launches, 0 findings"]),
        (HISTOGRAM, 1, ["script.py:9: histogram: race: bins[0]: thread 0", "at 256 cells in all"]),
        pytest.param(OUTSIDE, 1, ["script.py:9: OutOfBounds: ", "outside its shape (100,)"],
                     marks=pytest.mark.nightly),
        (RANDOM, 2, ["script.py:4: ", "does not follow a device array of"]),
    ],
    ids=["clean", "histogram", "outside", "random"],
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
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout and "test_fill.py:7: fill: race: x[0]" in done.stdout
