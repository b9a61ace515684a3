"""Machine code beside the source, and what it is made of: matrix products, as text and page."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons import assembly
from gpulessons.ops import matmul as matmul_kernels
from warplens.code import sass
from warplens.code.cuda import CannotCompile
from warplens.code.mix import Mix
from warplens.code.operands import multiply_adds

X = np.ones((64, 64), np.float32)


def product(name):
    return assembly(getattr(matmul_kernels, name), X, X, X, capability=(8, 6))


@pytest.fixture(scope="module")
def vectorized():
    return product("vector_kernel")


@pytest.fixture(scope="module")
def tiled():
    return product("tile_kernel")


def test_the_vectorized_product_computes_512_multiply_adds_a_turn_from_wide_loads(vectorized):
    hot = vectorized.mix.hot
    assert hot.multiply_adds == hot.pipes["fp32"] == 8 * 8 * 8
    assert hot.memory["LDS.128"] == 32
    assert hot.memory["LDG.128"] == 2
    assert hot.bytes == {"global": 32, "shared": 512}
    assert hot.integer < 0.1 * hot.multiply_adds
    assert hot.loads == 34


def test_the_tiled_product_loads_twice_for_each_multiply_add(tiled):
    hot = tiled.mix.hot
    assert hot.multiply_adds == 16
    assert hot.memory["LDS.32"] + hot.memory.get("LDS.128", 0) * 4 == 2 * 16
    assert tiled.mix.whole.instructions > hot.instructions


def test_the_mix_reads_as_text_page_and_data(vectorized):
    mix = vectorized.mix
    assert "instructions for 512 multiply-adds" in mix.headline()
    assert "LDS.128" in repr(mix)
    assert "<table>" in mix._repr_html_()
    assert Mix.from_json(mix.to_json()) == mix
    assert json.loads(mix.to_json())["hot"]["memory"]["LDS.128"] == 32


def test_each_line_of_the_source_has_its_instructions(vectorized):
    told = vectorized.listing
    blocks = told.split("totals[r, s] += a[k, r] * b[k, s]\n")[1].splitlines()[:512]
    assert all("FFMA" in line and line.startswith("    ▌") for line in blocks)
    assert told.count("BAR.SYNC") == 2
    every = [one for one in vectorized.code.instructions if one.opcode != "NOP"]
    assert sum(
        " " in line and line.lstrip(" ▌·")[:5].isalnum() for line in told.splitlines()
    ) >= len(every)


def test_the_short_form_says_where_the_instructions_are(vectorized):
    text = repr(vectorized)
    (line,) = (line for line in text.splitlines() if "totals[r, s] += " in line)
    assert line.split()[-4:] == ["512", "512", "512", "FFMA"]
    assert len(text.splitlines()) < 50
    assert ".entry" not in text and ".entry" in vectorized.ptx
    assert ".loc" not in vectorized.ptx


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_its_page_is_whole_and_needs_no_script(vectorized):
    page = Page()
    page.feed(vectorized._repr_html_())
    assert page.open == []
    assert {"details", "summary", "table"} <= page.seen
    assert "script" not in page.seen
    assert "color" not in vectorized._repr_html_()  # the page's own, light or dark


@cuda.jit
def compares(x, out):
    i = cuda.grid(1)
    if i < x.size and x[i] < float32(1):
        out[i] = x[i]


@cuda.jit
def rests(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i % out.size]  # with long integers: a function, with registers of its own


def test_registers_are_those_that_a_launch_takes():
    made = assembly(rests, X[0], X[0], capability=(8, 6))
    assert "CALL.ABS" in made.listing
    alone = int(re.search(r"SHI_REGISTERS=(\d+)", entry_of(sass.listing(made.cubin)))[1])
    assert made.registers == made.code.registers > alone


def entry_of(text):
    """The head of the kernel's own part of a listing."""
    (part,) = (part for part in text.split(".section") if "STO_CUDA_ENTRY" in part)
    return part


def test_what_the_source_says_is_escaped_and_no_loop_is_said():
    made = assembly(compares, X[0], X[0])
    assert "i &lt; x.size" in made._repr_html_()
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
    for asked in ("code", "mix", "listing", "summary"):
        with pytest.raises(CannotCompile, match="pip install nvidia-cuda-nvdisasm"):
            getattr(made, asked)


@pytest.mark.parametrize(
    ("opcode", "number"),
    [("FFMA.RM", 1), ("FFMA2", 2), ("HMMA.1688.F32.TF32", 32), ("HMMA.16816.F32", 64),
     ("DMMA.8x8x4", 8), ("FADD", 0), ("IMAD", 0)],
)  # fmt: skip
def test_multiply_adds_of_a_thread(opcode, number):
    assert multiply_adds(opcode) == number
