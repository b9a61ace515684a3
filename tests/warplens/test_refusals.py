"""What the microscope does not follow it refuses, by name and with the line."""

import linecache
import math
from textwrap import indent

import numpy as np
import pytest
from numba import cuda

from warplens import Unsupported, trace, tracing


def plain(x):
    x[0] += 1


@cuda.jit(device=True)
def again(n):
    return again(n - 1)


CASES = {  # a kernel's lines, the last of which is refused: what is named
    "x[0] = [1, 2][0]": "`[1, 2]`",
    "x[0] = sum([v + 1 for v in x])": "",
    "with x:\n    pass": "with",
    "x[0] = x @ x": "@",
    "x[0] = x.max()": ".max()",
    "y = x + 1": "arithmetic on",
    "x[1:3] = x[:2]": "slice",
    "x[0] = plain(x[0])": "cuda.jit(device=True)",
    "x[0] = np.linalg.norm(x)": "norm",
    "x[0] = cuda.no_such_thing()": "no_such_thing",
    "x[0] = cuda.libdevice.j0f(x[0])": "j0f",
    "s = cuda.shared.array(x.shape[0], np.float32)": "no constant",
    "s = cuda.shared.array(cuda.blockDim.x, np.float32)": "no constant",
    "x[0] = np.sqrt(x[0])": "write math.sqrt",
    "x[0] = x[0, 1]": "2 indices",
    "raise ValueError": "raise",
    "assert x[0] > 0": "assert",
    "f = lambda v: v": "lambda",
    "x[0] = again(3)": "calls itself",
    "x[0] = 1j": "1j",
    "x[0] = cuda.float32x2(1, 2).x": "cuda.float32x2",
    "x[0] = cuda.fp16.hadd(x[0], x[0])": "cuda.fp16.hadd",
    "for i, v in enumerate(x):\n    x[i] = v": "enumerate",
    "x[0] = 1 in (1, 2)": "the operators in and is",
    "x[0] = (1, 2)[cuda.threadIdx.x % 2]": "the index of a tuple",
    "x[0] = nowhere": "nowhere",
    "if x.size < 0:\n    y = 1\nx[0] = y": "before it is set",
    "x[0] = math.factorial(3)": "factorial",
    "x[1:3] = 0": "assigning to a slice",
    "for i in range(3):\n    pass\nelse:\n    x[0] = 1": "else behind a loop",
    "cuda.cg.this_grid().sync()": ".sync()",
    "x[0] = cuda.syncthreads_count(1)": "cuda.syncthreads_count",
    "x[0] = np.float16(x[0])": "float16",
}


def kernel_of(lines):
    text = f"def kernel(x):\n{indent(lines, '    ')}\n"
    linecache.cache[lines] = (len(text), None, text.splitlines(True), lines)
    names = {"cuda": cuda, "np": np, "math": math, "plain": plain, "again": again}
    exec(compile(text, lines, "exec"), names)
    return names["kernel"]


def test_unsupported_features_are_refused_by_name_and_line():
    for lines, words in CASES.items():
        with pytest.raises(Unsupported) as caught:
            trace(kernel_of(lines))[1, 4](np.ones(4, np.float32))
        assert words in str(caught.value), lines
        if "again" not in lines:  # whose own line is named
            assert "kernel" in str(caught.value) and 2 <= caught.value.line <= 4, lines
        assert isinstance(caught.value, NotImplementedError)


def test_devices_are_refused_what_they_have_not():
    with tracing():
        for name in ("mapped_array", "managed_array", "as_cuda_array"):
            with pytest.raises(Unsupported, match=f"cuda.{name}"):
                getattr(cuda, name)(3)
        with pytest.raises(Unsupported, match="a device array of complex64"):
            cuda.device_array(3, np.complex64)


def test_a_kernel_without_source_is_refused():
    space = {"cuda": cuda}
    exec("def kernel(x):\n    x[0] = 1", space)
    with pytest.raises(Unsupported, match="source cannot be found"):
        trace(space["kernel"])[1, 1](np.zeros(1))


def test_what_is_no_kernel_at_all():
    with pytest.raises(TypeError, match="takes a kernel"):
        trace(3)
    with pytest.raises(TypeError, match="grid and a block"):
        trace(plain)(np.zeros(3))
    with pytest.raises(TypeError, match="grid, block"):
        trace(plain)[3](np.zeros(3))
    with pytest.raises(TypeError, match="takes 1 arguments, not 2"):
        trace(plain)[1, 1](np.zeros(3), 2)
