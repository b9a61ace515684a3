"""Reports read as text and HTML; requests and steps for pictures; what an import loads."""

import re
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda, float32

from warplens import trace
from warplens.report.steps import request_of, steps_of


@cuda.jit
def mixed(x, y):
    s = cuda.shared.array(64, float32)
    i, tid = cuda.grid(1), cuda.threadIdx.x
    s[tid] = x[2 * i]
    if i % 2:
        s[tid] += s[(tid + 1) % 64]
    cuda.syncthreads()
    y[i] = s[tid * 2 % 64]


@pytest.fixture(scope="module")
def traced():
    return trace(mixed)[2, 64](np.ones(256, np.float32), np.zeros(128, np.float32))


def test_every_report_reads_as_text_and_html(traced):
    for name in ("coalescing", "banks", "atomics", "divergence", "work", "races"):
        report = getattr(traced, name)()
        bare = re.sub(r"<[^>]+>", " ", report._repr_html_())
        assert all(word in bare for word in report.headline().split()), name
        assert repr(report).startswith(report.headline()), name
    assert "1 of 8 branches" not in repr(traced) and "races at" in repr(traced)


def test_filters_name_what_is_there(traced):
    line = mixed.py_func.__code__.co_firstlineno + 4
    assert traced.coalescing(line=line).requests == traced.coalescing("x").requests == 4
    assert traced.coalescing(access="write").sites[0].array == "y"
    with pytest.raises(KeyError, match="no array 'z' in this trace; it has s, x, y"):
        traced.coalescing("z")
    with pytest.raises(ValueError, match='"read", "write" or "atomic"'):
        traced.banks(access="reads")


def test_requests_and_steps_of_the_first_block(traced):
    request = request_of(traced, "global", "x", number=1)
    assert request.lanes == tuple(range(32)) and request.bytes[:2] == (512, 520)
    with pytest.raises(ValueError, match="no request 4 of x in this trace"):
        request_of(traced, "global", "x", number=4)
    steps = steps_of(traced)
    assert {c for s in steps if s.array == "y" for c in s.cells} == {(i,) for i in range(64)}
    assert {s.warp for s in steps} == {0, 1}


def test_importing_it_loads_no_heavy_library_and_nothing_of_the_course():
    heavy = ("torch", "matplotlib", "ipywidgets", "numba", "gpulessons")
    program = f"import sys, warplens; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
