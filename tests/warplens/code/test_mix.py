"""What machine code is made of: matrix products, as text and page."""

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons import assembly
from gpulessons.ops import matmul as matmul_kernels
from warplens.code import sass
from warplens.code.cuda import CannotCompile
from warplens.code.operands import multiply_adds

X = np.ones((64, 64), np.float32)


@pytest.fixture(scope="module")
def vectorized():
    return assembly(matmul_kernels.vector_kernel, X, X, X, capability=(8, 6))


def test_the_vectorized_product_computes_512_multiply_adds_a_turn_from_wide_loads(vectorized):
    hot = vectorized.mix.hot
    assert hot.multiply_adds == hot.pipes["fp32"] == 8 * 8 * 8
    assert hot.memory["LDS.128"] == 32
    assert hot.memory["LDG.128"] == 2
    assert hot.bytes == {"global": 32, "shared": 512}
    assert hot.integer < 0.1 * hot.multiply_adds
    assert hot.loads == 34


def test_the_mix_reads_as_text_and_page(vectorized):
    mix = vectorized.mix
    assert "instructions for 512 multiply-adds" in mix.headline()
    assert "LDS.128" in repr(mix)
    assert "<table>" in mix._repr_html_()
    assert mix.hot.memory["LDS.128"] == 32


@cuda.jit
def compares(x, out):
    i = cuda.grid(1)
    if i < x.size and x[i] < float32(1):
        out[i] = x[i]


def test_where_there_is_no_loop_none_is_said():
    made = assembly(compares, X[0], X[0])
    assert "<table>" in made._repr_html_()
    assert made.mix.hot is None and made.mix.main is made.mix.whole
    assert "no loop" in made.mix.headline()
    assert "hot" not in repr(made.mix).splitlines()[1]
    assert "no multiply-adds" in made.mix.headline()


def test_without_a_disassembler_the_rest_is_as_before(monkeypatch):
    monkeypatch.setattr(sass.sysconfig, "get_path", lambda name: "/nowhere")
    monkeypatch.setenv("PATH", "")
    made = assembly(compares, X[0], X[0])
    assert made.registers > 0 and made.instructions
    for shown in (repr(made), made._repr_html_()):
        assert "pip install nvidia-cuda-nvdisasm" in shown and ".entry" in shown
    for asked in ("code", "mix"):
        with pytest.raises(CannotCompile, match="pip install nvidia-cuda-nvdisasm"):
            getattr(made, asked)


def test_multiply_adds_of_a_thread():
    known = {"FFMA.RM": 1, "FFMA2": 2, "HMMA.1688.F32.TF32": 32, "HMMA.16816.F32": 64,
             "DMMA.8x8x4": 8, "FADD": 0, "IMAD": 0}  # fmt: skip
    assert {opcode: multiply_adds(opcode) for opcode in known} == known
