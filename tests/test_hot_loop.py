"""Reading assembly: real loops as LLVM wrote them for several processors, and one made here."""

import numpy as np
import pytest
from numba import njit

from gpulessons.hardware.hot_loop import hot_loop, innermost, lanes_of, measured

# The same two functions, a sum in order and a sum in any order, then a + s b.
IN_ORDER = """
.LBB0_5:
	vaddss	(%rcx,%rdx,4), %xmm0, %xmm0
	vaddss	4(%rcx,%rdx,4), %xmm0, %xmm0
	addq	$2, %rdx
	cmpq	%rdx, %r8
	jne	.LBB0_5
"""
ANY_ORDER = """
.LBB0_8:
	vaddps	(%rax,%rsi,4), %zmm1, %zmm1
	vaddps	64(%rax,%rsi,4), %zmm0, %zmm0
	vaddps	128(%rax,%rsi,4), %zmm2, %zmm2
	vaddps	192(%rax,%rsi,4), %zmm3, %zmm3
	addq	$64, %rsi
	cmpq	%rsi, %rcx
	jne	.LBB0_8
"""
ARM_LINUX = """
.LBB0_7:
	ldp	q26, q25, [x10, #-96]
	fadd	v1.4s, v1.4s, v26.4s
	fadd	v2.4s, v2.4s, v25.4s
	subs	x11, x11, #8
	b.ne	.LBB0_7
"""
ARM_MAC = """
LBB0_7:
	ldp	q27, q26, [x10, #-96]
	fadd.4s	v1, v1, v27
	fadd.4s	v4, v4, v26
	subs	x11, x11, #8
	b.ne	LBB0_7
"""
TRIAD = """
.LBB0_8:
	vmulps	(%rcx,%r10,4), %zmm1, %zmm2
	vaddps	(%rdx,%r10,4), %zmm2, %zmm2
	vmovups	%zmm2, (%rax,%r10,4)
	addq	$16, %r10
	cmpq	%r10, %rsi
	jne	.LBB0_8
"""


def only(text):
    (lines,) = innermost(text)
    return measured("f", lines)


LOOPS = (  # text, packed, scalar, lanes, chains
    (IN_ORDER, 0, 2, 1, 1),
    (ANY_ORDER, 4, 0, 16, 4),
    (ARM_LINUX, 2, 0, 4, 2),
    (ARM_MAC, 2, 0, 4, 2),
    (TRIAD, 2, 0, 16, 0),
)


def test_packed_and_scalar_instructions_and_chains_are_told_apart():
    for text, packed, scalar, lanes, chains in LOOPS:
        loop = only(text)
        found = loop.packed, loop.scalar, loop.lanes, loop.chains
        assert found == (packed, scalar, lanes, chains), text
        assert loop.at_once == lanes * chains


LANES = {
    "vfmadd231ps\t%ymm1, %ymm2, %ymm0": 8,
    "vfmadd231sd\t%xmm1, %xmm2, %xmm0": 1,
    "vmaxps\t%zmm1, %zmm2, %zmm0 {%k1}": 16,
    "vcmpltps\t(%rax), %zmm1, %k1": 16,
    "fmla\tv0.2d, v1.2d, v2.2d": 2,
    "fmla.4s\tv0, v1, v2": 4,
    "fmadd\ts0, s1, s2, s3": 1,
    "fadd\tz0.s, p0/m, z0.s, z1.s": 4,  # at least
    "vmovups\t%zmm2, (%rax)": 0,
    "vpaddd\t%zmm1, %zmm2, %zmm2": 0,
    "subs\tx11, x11, #8": 0,
    "faddp\tv0.4s, v0.4s, v0.4s": 0,
    "vaddsubps\t%ymm1, %ymm2, %ymm0": 0,
}


def test_a_line_computes_so_many_numbers_at_once():
    assert {line: lanes_of(line) for line in LANES} == LANES


# Compiled here, whatever processor this is


def in_order(x):
    total = np.float32(0)
    for value in x:
        total += value
    return total


def compiled(function, **options):
    made = njit(**options)(function)
    made(np.ones(100, np.float32))
    return made


def test_a_float_sum_gets_vectors_only_when_its_order_may_change():
    strict = hot_loop(compiled(in_order))
    assert (strict.packed, strict.chains) == (0, 1)
    free = hot_loop(compiled(in_order, fastmath={"reassoc"}))
    assert free.packed >= 1
    assert free.lanes >= 2
    assert free.chains >= 1


def nothing(x):
    return x.size


def test_what_has_no_hot_loop_is_refused_in_words():
    with pytest.raises(TypeError, match="put @njit above it"):
        hot_loop(in_order)
    with pytest.raises(ValueError, match="call it once"):
        hot_loop(njit(in_order))
    with pytest.raises(ValueError, match="No loop of nothing computes with floats"):
        hot_loop(compiled(nothing))
