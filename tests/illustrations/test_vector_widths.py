"""One loop at both widths: what is counted is what the assembly says, and no machine is refused."""

import subprocess

import pytest

from gpulessons.hardware import vectors
from gpulessons.hardware.hot_loop import Loop, measured
from gpulessons.illustrations import vector_widths
from gpulessons.illustrations.vector_widths import AtWidth, both, kinds, verdict


def at_width(bits, register, seconds=1e-6):
    lines = (
        f"vaddps\t(%rcx,%r9,4), %{register}0, %{register}0",
        f"vaddps\t64(%rcx,%r9,4), %{register}1, %{register}1",
        "addq\t$64, %r9",
    )
    return AtWidth(bits, measured("total", lines), seconds)


def test_the_registers_of_a_line_are_read():
    assert kinds("vextractf128 $1, %ymm0, %xmm1") == ["y", "x"]
    assert kinds("vaddps 64(%rcx,%r9,4), %zmm31, %zmm31") == ["z", "z"]
    assert kinds("addq $64, %r9") == kinds("fadd v0.4s, v0.4s, v1.4s") == []


def test_instructions_are_counted_by_their_widest_register():
    lines = "vextractf128 $1, %ymm0, %xmm1", "vaddps %xmm0, %xmm1, %xmm0", "addq $1, %r9"
    loop = Loop("total", lines, 1, 0, 4, 1)
    assert AtWidth(256, loop, 1.0).registers == {"xmm, 128 bits": 1, "ymm, 256 bits": 1}
    assert "2 with zmm, 512 bits" in repr(at_width(512, "zmm"))


@pytest.mark.parametrize(("seconds", "said"), [
    (0.5e-6, "16 numbers an instruction instead of 8: 2× as fast."),
    (2e-6, "2× as long. Here the full width does not pay."),
    (1e-6, "the same time within 15%: no claim."),
    (0.9e-6, "the same time within 15%: no claim."),
    (1.1e-6, "the same time within 15%: no claim."),
])  # fmt: skip
def test_the_verdict_follows_the_times(seconds, said):
    assert said in verdict((at_width(256, "ymm"), at_width(512, "zmm", seconds)))


def test_where_the_compiler_chose_one_width_the_verdict_says_so():
    assert verdict((at_width(256, "ymm"), at_width(512, "ymm"))).endswith("the same width.")


def test_without_avx_512_there_is_one_sentence(monkeypatch):
    monkeypatch.setattr(vectors, "host_features", lambda: {"avx2": True})
    assert both() == ()
    assert verdict(()).startswith("This CPU has no AVX-512")


@pytest.mark.skipif(not vectors.has_512(), reason="this CPU has no AVX-512")
def test_each_width_has_registers_of_its_own():
    narrow, wide = both()
    assert list(narrow.registers) == ["ymm, 256 bits"] and list(wide.registers) == ["zmm, 512 bits"]
    assert wide.loop.lanes == 2 * narrow.loop.lanes == 16


def test_what_the_other_python_said_last_is_told(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "Traceback\nImportError: no numba")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(RuntimeError, match="for 256 bits failed: ImportError: no numba"):
        vector_widths.compiled(256)
