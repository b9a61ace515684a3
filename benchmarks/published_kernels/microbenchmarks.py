"""Kernels of a few lines, as microbenchmarks have them, with what somebody measured of each.

After gpu-benches (te42kyfo/gpu-benches): a stream of float64 numbers with two blocks on each
multiprocessor, however small they are; scaled arrays, launch after launch; loads that hit L1. Their
machine code is Numba's, not that of the CUDA C++ that was timed: they are one line of work.

    MEASURED        each published figure as a Measured: a kernel, its launch, and its seconds
    model(one)      what the model says of that launch
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import cuda, uint32

from gpulessons.evidence import published
from warplens import trace
from warplens.code.cuda import types_of
from warplens.lanes.launch import extent
from warplens.model.devices import GPU, named
from warplens.model.modelling import code_of, of_sample
from warplens.model.occupancy import limits_of
from warplens.model.sampling import ITERATIONS, chosen, sampled
from warplens.model.value import Modelled

NUMBERS = 2**27  # float64 numbers of a stream's array: 1 GiB
ROUNDS, LOADS = 10_000, 8  # of a warp that loads from L1
CARDS = {"V100": "V100 PCIe"}  # it ran at 1,380 MHz, the clock of that card
ROUNDING = 0.02  # of what is printed: pairs that are no further apart are not told apart


@cuda.jit
def init_kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0.25


@cuda.jit
def read_kernel(out, x):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        if value == -1.0:  # never, which no compiler knows
            out[i] = value


@cuda.jit
def scale_kernel(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 1.5 * x[i]


@cuda.jit
def triad_kernel(out, x, y):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 1.5 * x[i] + y[i]


@cuda.jit
def strided_kernel(out, x, stride, rounds, nothing):
    at = uint32(cuda.threadIdx.x % 64 * stride)
    total = x[0]
    for _ in range(rounds):
        at = uint32(at + nothing)  # so that no load leaves the loop
        total += x[at] * x[at + uint32(4)]
        total += x[at + uint32(8)] * x[at + uint32(12)]
        total += x[at + uint32(16)] * x[at + uint32(20)]
        total += x[at + uint32(24)] * x[at + uint32(28)]
    if total == -1.0:
        out[at] = total


STREAMS = {"init": (init_kernel, 1), "read": (read_kernel, 1), "scale": (scale_kernel, 2),
           "triad": (triad_kernel, 3)}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One published figure, as the time of one launch of one of the kernels."""

    kind: str
    name: str
    gpu: GPU
    seconds: float
    fitted: bool  # does a parameter of the model come from it?
    kernel: Any
    grid: int
    block: int
    arguments: Callable[[], tuple]
    bytes: int  # that must move; 0: all of it stays in L1
    resident: int | None = None  # blocks of a multiprocessor, where that was held down
    within: float = ROUNDING
    flops: int = 0

    @property
    def ladder(self) -> str:
        return f"{self.kind}, {self.name.partition(',')[0]}, {self.gpu.name}"


def streams():
    for row in published("bandwidth by occupancy"):
        kernel, arrays = STREAMS[row.what]
        block, moved = int(row.sizes["threads"]) // 2, 8 * NUMBERS * arrays
        many = block >= 768
        yield Measured(
            "streams", f"{row.what}, blocks of {block}", named(CARDS.get(row.device, row.device)),
            moved / row.value, many or row.device in ("V100", "A40"), kernel,
            -(-NUMBERS // block), block, lambda kernel=kernel: zeros(kernel, NUMBERS), moved, 2,
        )  # fmt: skip


def small():
    for row in published("launch", what="scale, in a stream"):
        block, numbers = int(row.sizes["block"]), int(row.sizes["elements"])
        moved = int(row.sizes["bytes"])
        yield Measured(
            "small kernels", f"blocks of {block}, {numbers} numbers", named(row.device),
            moved / row.value, True, scale_kernel,
            numbers // block + 1, block, lambda n=numbers: zeros(scale_kernel, n), moved,
        )  # fmt: skip


def strides(warps=32):
    """The clocks of a load, as the seconds of a launch whose loads take so many each."""
    for row in published("strides", what="a load that hits L1"):
        gpu, stride = named(row.device), int(row.sizes["stride"])
        seconds = row.value * warps * ROUNDS * LOADS / gpu.boost
        x = np.zeros(64 * stride + 32, row.dtype)
        yield Measured(
            "strides in L1", f"{row.dtype}, stride {stride}", gpu, seconds, row.device != "H200",
            strided_kernel, 2 * gpu.multiprocessors, 16 * warps,
            lambda x=x, stride=stride: (x.copy(), x, stride, ROUNDS, 0), 0,
        )  # fmt: skip


def zeros(kernel, numbers):
    """An array for each argument; large ones take memory only where they are touched."""
    return tuple(np.zeros(numbers) for _ in range(kernel.py_func.__code__.co_argcount))


SAMPLES: dict[tuple, tuple] = {}  # one sample serves every GPU


def traced(one: Measured) -> tuple:
    """(sample, launch) of a kernel, its launch and its arguments."""
    key = one.kernel, one.grid, one.block, one.name
    if key not in SAMPLES:
        blocks = chosen(extent(one.grid, "the grid"))
        found = trace(one.kernel, blocks, ITERATIONS)[one.grid, one.block](*one.arguments())
        SAMPLES[key] = sampled(found), found.launch
    return SAMPLES[key]


def model(one: Measured) -> Modelled:
    sample, launch = traced(one)
    code = code_of(launch.function, types_of(launch.arguments), one.gpu.capability)
    if one.resident:  # as if each block took its part of all shared memory
        limits = limits_of(one.gpu)
        code = replace(code, shared=limits.shared // one.resident - limits.reserved)
    return of_sample(sample, code, one.gpu)


MEASURED = (*streams(), *small(), *strides())
