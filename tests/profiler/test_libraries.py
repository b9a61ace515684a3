"""What oneDNN and MKL print about themselves, read from their lines and heard from real steps."""

import sys

import pytest

from gpulessons import library_calls
from gpulessons.profiler.libraries import summed

hearing = pytest.mark.skipif(sys.platform == "win32", reason="Windows gives no way to catch them")
LINES = """onednn_verbose,v1,info,oneDNN v3.12.0 (commit 80afa71049cd)
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,exec_time
onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,src:f32:a,attr:x,alg:convolution_direct,mb64_ic3oc16,8.5
onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,src:f32:a,attr:x,alg:convolution_direct,mb64_ic3oc16,1.5
onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd,,,16x3x3x3,0.25
MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture, Lnx 2.10GHz
MKL_VERBOSE SGEMM(N,T,256,128,64,0x7ffd,0x5597,256,0x5598,64,0x7ffe,0x5599,256) 415.5us CNR:OFF Dyn:0
""".splitlines()  # noqa: E501


@pytest.fixture(scope="module", autouse=True)
def loaded():
    global torch
    torch = pytest.importorskip("torch")


def test_lines_are_read_and_calls_of_one_shape_summed():
    convolution, product, reorder = summed(LINES)
    assert (convolution.library, convolution.routine) == ("oneDNN", "convolution forward_training")
    assert (convolution.code, convolution.shape) == ("jit:avx512_core", "mb64_ic3oc16")
    assert (convolution.calls, convolution.seconds) == (2, pytest.approx(10e-3))
    assert (product.library, product.routine) == ("MKL", "SGEMM")
    assert product.shape == "N,T,256,128,64,256,64,256"
    assert product.seconds == pytest.approx(415.5e-6)
    assert (reorder.routine, reorder.calls) == ("reorder", 1)


@hearing
def test_the_libraries_name_their_own_calls():
    layer, x, a = torch.nn.Conv2d(3, 8, 3), torch.randn(4, 3, 20, 20), torch.randn(64, 64)
    found = {call.library: call.routine for call in library_calls(lambda: (layer(x), a @ a))}
    if torch.backends.mkldnn.is_available():
        assert "convolution" in found["oneDNN"] or "reorder" in found["oneDNN"]
    if torch.backends.mkl.is_available():
        assert found["MKL"] == "SGEMM"
    assert len(library_calls(lambda: torch.ones(3) + 1)) == 0
