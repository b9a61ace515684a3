"""How often machine instructions run: against counts that are known, and in code made by hand."""

import math

import numpy as np
import pytest
from numba import cuda, float32

from warplens import trace
from warplens.code.cuda import CannotCompile, ptx_of, types_of
from warplens.code.sass import disassembler, machine_code
from warplens.model.modelling import modelled
from warplens.model.rounds import rounds
from warplens.model.sampling import ITERATIONS, sampled

try:
    disassembler()
    from cuda.bindings import nvjitlink as nvjitlink
except (CannotCompile, ImportError) as missing:
    pytest.skip(f"machine code is needed: {missing}", allow_module_level=True)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def machine(kernel, *arguments, capability=(8, 0), sizes=(1, 32)):
    """(machine code, how often an average warp issues each instruction)"""
    sample = sampled(trace(kernel, iterations=ITERATIONS)[sizes](*arguments))
    code = machine_code(ptx_of(kernel, types_of(arguments), capability), capability)
    return code, rounds(code, sample)


def issued(code, iterations, *opcodes):
    """How often instructions of these names are issued."""
    return sum(
        times
        for instruction, times in zip(code.instructions, iterations, strict=True)
        if instruction.opcode.split(".")[0] in opcodes
    )


def dot_kernel(x, y, out):
    total = float32(0)
    for k in range(x.size):
        total += x[k] * y[k]
    out[cuda.threadIdx.x] = total


def check_dot(length, capability=(8, 0)):
    """A multiply-add and two reads each turn, however the compiler unrolls the loop."""
    code, iterations = machine(dot_kernel, zeros(length), zeros(length), zeros(32),
                          capability=capability)  # fmt: skip
    assert code.loops
    assert issued(code, iterations, "LDG") == pytest.approx(2 * length, rel=0.02, abs=1e-6)
    assert issued(code, iterations, "FFMA") == pytest.approx(length, rel=0.02, abs=1e-6)
    assert issued(code, iterations, "STG") == 1


def test_an_unrolled_loop_and_its_remainder_run_as_often_as_the_source_says():
    check_dot(67)


@pytest.mark.nightly
def test_unrolled_loops_of_any_length_on_any_generation():
    for capability in ((7, 5), (8, 0), (9, 0)):
        for length in (0, 1, 3, 4, 5, 64, 1023):
            check_dot(length, capability)


def test_a_loop_without_memory_is_known_by_its_flops():
    def power_kernel(x, n, out):
        i, value = cuda.threadIdx.x, float32(1)
        for _ in range(n):
            value = value * x[0] + float32(0.5)
        out[i] = value

    code, iterations = machine(power_kernel, zeros(1), 500, zeros(32))
    assert issued(code, iterations, "FFMA") == pytest.approx(500, rel=0.02)


def test_what_a_quarter_of_the_warps_does_is_a_quarter_on_average():
    def some_kernel(x, out):
        t = cuda.threadIdx.x
        if t < 32:
            total = float32(0)
            for k in range(x.size):
                total += x[k] * x[k]
            out[t] = total

    code, iterations = machine(some_kernel, zeros(400), zeros(32), sizes=(1, 128))
    assert issued(code, iterations, "FFMA") == pytest.approx(100, rel=0.02)


def test_exp_is_told_by_its_machine_instruction_not_by_its_single_operation():
    def growing_kernel(x, out):
        i = cuda.grid(1)
        t = x[i]
        for _ in range(1000):
            t = math.exp(t) * float32(0.5)
        out[i] = t

    x = np.zeros(1 << 18, np.float32)
    found = modelled(growing_kernel, on="A100")[1024, 256](x, np.zeros_like(x))
    once = 1000 * 32 / 16 * (1 << 13) / 108 / 1.41e9  # each exp a turn of the SFU, for each warp
    assert found.bounds["SFU"] == pytest.approx(once, rel=0.1)
