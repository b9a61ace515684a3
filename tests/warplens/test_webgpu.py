"""The same kernels by WebGPU: right as the microscope has it, or refused with line and reason."""

import math
import os

import numpy as np
import pytest
from numba import cuda, float32, float64, int8, int32, uint32
from random_kernels import compared, compiled, launched

from warplens import trace, webgpu
from warplens.webgpu.arrays import Found

pytestmark = pytest.mark.skipif(bool(webgpu.why_not()), reason=webgpu.why_not() or "there")
X = (np.random.default_rng(0).integers(-9, 9, 300) / 2).astype(np.float32)
N = np.arange(-150, 150, dtype=np.int32)
FULL = 0xFFFFFFFF


@cuda.jit
def floors(n, out):
    i = cuda.grid(1)
    if i < n.size:
        out[0, i], out[1, i], out[2, i] = n[i] // 7, n[i] % 7, n[i] // 8 + n[i] % -5


@cuda.jit
def from_the_end(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[-1] + x[i - 1]


@cuda.jit
def axes(out):
    x, y, z = cuda.grid(3)
    out[z, y, x] = x + 10 * y + 100 * z + 1000 * cuda.gridDim.y + cuda.blockDim.z


@cuda.jit
def atomics(x, counts, sums):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, i % 8, 1)
        cuda.atomic.max(counts, 8, int32(i))
        cuda.atomic.max(sums, 0, x[i])
        cuda.atomic.min(sums, 1, x[i])
        cuda.atomic.add(sums, 2, float32(1))


@cuda.jit
def warps(x, out):
    i, lane = cuda.grid(1), cuda.laneid
    out[0, i] = cuda.shfl_down_sync(FULL, x[i], 3)
    out[1, i] = cuda.shfl_up_sync(FULL, x[i], 5)
    out[2, i] = cuda.shfl_sync(FULL, x[i], lane // 2)
    out[3, i] = cuda.popc(cuda.ballot_sync(FULL, x[i] % 3 == 0))
    out[4, i] = 1 if cuda.any_sync(FULL, x[i] == 70) else 0


@cuda.jit
def leaving(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    total = float32(0)
    for k in range(i, x.size):
        if x[k] < float32(-1):
            continue
        if k - i > 20 or x[k] > float32(2):
            break
        total += x[k]
    out[i] = total + float32(k)


@cuda.jit
def reversed_(x, out):
    part, t, i = cuda.shared.array(100, float32), cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i]
    cuda.syncthreads()
    out[i] = part[cuda.blockDim.x - 1 - t]


@cuda.jit
def before_it_is_changed(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + cuda.atomic.add(x, i, float32(1))


@cuda.jit
def mathematics(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i], out[1, i] = math.exp(x[i]), math.log1p(abs(x[i]))
        out[2, i], out[3, i] = math.tanh(float32(50) * x[i]), math.sqrt(abs(x[i]))


SAME = [
    (floors, 2, 160, (N, np.zeros((3, 300), np.int32))),
    (floors, 2, 160, (N[150:278].astype(np.int8), np.zeros((3, 300), np.int32))),
    (from_the_end, 2, 160, (X, np.zeros(300, np.float32))),
    (axes, (2, 2, 2), (4, 2, 2), (np.zeros((4, 4, 8), np.int32),)),
    (atomics, 4, 96, (X, np.zeros(9, np.int32), np.zeros(4, np.float32))),
    (warps, 3, 64, (np.arange(192, dtype=np.int32), np.zeros((5, 192), np.int32))),
    (leaving, 2, 160, (X, np.zeros(300, np.float32))),
    (reversed_, 3, 100, (X, np.zeros(300, np.float32))),
    (before_it_is_changed, 2, 160, (X, np.zeros(300, np.float32))),
    (mathematics, 2, 160, (X, np.zeros((4, 300), np.float32))),
]


@pytest.mark.parametrize("kernel, grid, block, given", SAME, ids=[c[0].__name__ for c in SAME])
def test_a_kernel_gives_what_the_microscope_gives(kernel, grid, block, given):
    want = [a.copy() for a in given]
    trace(kernel)[grid, block](*want)
    for got, expected in zip(launched(kernel, grid, block, given), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-6)


@cuda.jit
def part_of_a_block(x):
    if cuda.threadIdx.x < x[0]:
        cuda.syncthreads()


@cuda.jit
def part_of_a_warp(x):
    if cuda.threadIdx.x < x[0]:
        x[0] = cuda.shfl_sync(FULL, x[1], 0)


@cuda.jit
def many_bits(x):
    i = cuda.grid(1)
    x[i] = 1 if x[i] * x[i] > 1000 else 0


@cuda.jit
def warps_apart(x):
    cuda.syncthreads()
    if cuda.threadIdx.x < x[0]:
        x[0] = cuda.shfl_sync(FULL, x[1], 0)


@pytest.mark.parametrize("kernel, line, value, says, kind", [
    (warps_apart, 2, 32, "warps of one block go different ways", webgpu.Refused),
    (part_of_a_block, 1, 5, "do not agree where they have to meet", Found),
    (part_of_a_warp, 1, 5, "do not agree where they have to meet", Found),
    (many_bits, 2, 50_000, "more than the 32 bits", webgpu.Refused),
])  # fmt: skip
def test_what_only_shows_while_it_runs_comes_back_with_its_line(kernel, line, value, says, kind):
    here = kernel.py_func.__code__.co_firstlineno + 1 + line
    with pytest.raises(kind, match=f"{kernel.__name__}, line {here}: .*{says}"):
        launched(kernel, 1, 64, [np.full(64, value, np.int32)])
    assert launched(many_bits, 1, 64, [np.full(64, 40, np.int32)])[0].all()  # and is forgotten


BODIES = {
    "out[i] = 0.5 * x[i]": "the Python float 0.5 makes float64",
    "out[i] = i * x[i]": "an integer and a float32 make float64",
    "out[i] = x[i] + 1": "write float32(1)",
    "total = 0.0": "total is a Python float",
    "out[i] = float64(x[i])": "float64",
    "out[i] = uint32(i) * uint32(i) > uint32(7)": "uint32 has 64 bits in Numba",
    "out[i] = i / 2": "a quotient of integers is float64",
    "y = x[i : i + 2]": "a slice inside a kernel",
    "cuda.threadfence()": "cuda.threadfence",
    "out[i] = cuda.shfl_sync(1, x[i], 0)": "a part of a warp",
    "x, out = out, x": "different arrays",
    "out[i] = x[i] % float32(2)": "`%` of float32",
    "while cuda.atomic.cas(out, 0, 0, 1) != 0:\n        pass": "atomic.cas",
    "out[i] = TABLE[0]": "ndarray from outside",
    "out[i] = x[SMALL]": "int8 from outside the kernel",
    "print(i)": "print",
    "out[i] = x[0] if i - 9 < 3_000_000_000 else x[1]": "the number 3000000000",
    "out[i] = x[i] / 3": "write float32(3)",
    "out[i] = x[1 << i]": "a shift but of an integer by a known number",
    "out[i] = x[int8(i)]": "int8, which WGSL has not",
    "out[i] = x[~uint32(i)]": "minus or ~ of anything but a signed number",
}
TABLE = np.zeros(3, np.float32)


@pytest.mark.parametrize("body", BODIES)
def test_what_wgsl_does_not_do_as_numba_means_it_is_refused_with_its_line(body):
    names = {"float64": float64, "uint32": uint32, "int8": int8, "TABLE": TABLE,
             "SMALL": np.int8(1)}  # fmt: skip
    text = f"def kernel(x, out):\n    i = cuda.grid(1)\n    {body}\n"
    kernel = compiled(text, names)
    with pytest.raises(webgpu.Refused) as why:
        launched(kernel, 2, 160, (X, X.copy()))
    assert "line 3" in str(why.value) and BODIES[body] in str(why.value)


@pytest.mark.parametrize("given, says", [
    (np.zeros(3), "an array of float64"), (np.array([2**40]), "needs 64 bits"),
    (np.zeros(3, np.uint8), "make it int32"), (np.array([-1], np.int8), "negative numbers"),
    (0.5, "a float64: pass np.float32"), (2**40, "needs 64 bits"), ((1, 2), "tuple"),
    (np.int8(1), "type int8"),
])  # fmt: skip
def test_an_argument_of_64_bits_is_refused(given, says):
    kernel = compiled("def kernel(x, out):\n    pass\n")
    with pytest.raises(webgpu.Refused, match=says):
        launched(kernel, 1, 32, (given, X.copy()))


def test_of_int8_a_kernel_only_reads():
    with pytest.raises(webgpu.Refused, match="only read"):
        launched(floors, 1, 32, (N, np.zeros((3, 300), np.int8)))


def test_host_arrays_come_back_and_parts_of_one_allocation_stay_parts():
    x, before = X.copy(), (cuda.to_device, cuda.jit)
    with webgpu.running():
        from_the_end[2, 160](x, out := np.zeros(300, np.float32))
        there = cuda.to_device(np.arange(12, dtype=np.int64).reshape(3, 4))
        there[1:, ::2].copy_to_device(np.full((2, 2), -1))
        assert there[0, 3] == 3 and cuda.to_device != before[0]
    assert (cuda.to_device, cuda.jit) == before and out[1] == x[-1] + x[0]
    assert there.copy_to_host().tolist() == [[0, 1, 2, 3], [-1, 5, -1, 7], [-1, 9, -1, 11]]


@pytest.mark.parametrize("first, count", [
    (0, 60), pytest.param(5000, 1000, marks=pytest.mark.nightly)])  # fmt: skip
def test_random_kernels_are_right_or_refused(first, count):
    found = [compared(seed) for seed in range(first, first + count)]
    assert not [f"{text}{why}" for state, text, why in found if state == "DIFFERENT"]
    assert sum(state == "same" for state, _, _ in found) > count / 3


@pytest.mark.skipif("VK_ICD_FILENAMES" in os.environ, reason="one driver was asked for")
def test_a_driver_that_ends_loops_is_found_out():
    kernel = compiled(
        "def kernel(n, out):\n    c = 0\n    while c < n:\n        c += 1\n    out[0] = c\n"
    )
    try:
        assert launched(kernel, 1, 1, (70_000, np.zeros(1, np.int32)))[1][0] == 70_000
    except webgpu.Refused as why:
        assert "line 3" in str(why) and "end loops" in str(why)
