"""Tensor cores: the rounding, the instruction in the PTX, and the product that is built on it."""

import importlib.util
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

import warplens
from gpulessons import backends, matmul
from gpulessons.backends import NotHere
from gpulessons.ops import matmul_tensor_cores as kernels
from gpulessons.ops.common import grid
from gpulessons.ops.matmul_tensor_cores import BLOCK_WARPS, BM, BN, SLICE
from warplens import trace
from warplens.code.cuda import assembly
from warplens.lanes.tensor_cores import round_tf32

TF32 = "CUDA, tensor cores (TF32)"


def patterns(step):
    """Every step-th float32 by its bits, of either sign: denormals, infinities and NaNs too."""
    return np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


def nearest(x, digits):
    """x to so many bits, ties away from zero, by arithmetic in float64."""
    x = x.astype(np.float64)
    exponent = np.maximum(np.frexp(x)[1], -125) - digits  # denormals have no digits to spare
    return np.ldexp(np.sign(x) * np.floor(np.abs(np.ldexp(x, -exponent)) + 0.5), exponent)


def test_tf32_is_the_nearest_number_of_eleven_bits_ties_away_from_zero():
    x = patterns(163811)
    x = np.concatenate([x, (x.view(np.uint32) >> 13 << 13 | 1 << 12).view(np.float32)])  # ties
    x = x[np.isfinite(x)]
    with np.errstate(over="ignore"):
        want = nearest(x, 11).astype(np.float32)
    assert np.array_equal(round_tf32(x).view(np.uint32), want.view(np.uint32))


# -- The product. Exact up to float32's rounding, once the factors are rounded.


def product(kernel, m, k, n):
    """(trace, result, what it should be) of random matrices."""
    rng = np.random.default_rng(m + k + n)
    x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    out = np.full((m, n), np.nan, np.float32)
    t = trace(kernel)[grid(out.shape, BM, BN), (32, BLOCK_WARPS)](x, y, out)
    return t, out, round_tf32(x).astype(np.float64) @ round_tf32(y)


def right(out, want):
    return np.allclose(out, want, rtol=0, atol=2e-6 * np.abs(want).max())


def test_it_is_right_at_any_shape():
    for shape in ((1, 1, 1), (17, 40, 9)):
        t, out, want = product(kernels.tensor_core_kernel, *shape)
        assert right(out, want) and not t.races().cells and not t.warnings


def test_tensor_cores_do_all_of_it_and_it_reads_as_its_docstring_says():
    t = product(kernels.tensor_core_kernel, BM, 2 * SLICE, BN)[0]
    work = t.work()
    assert t.tensor_core_flops == t.flops == 2 * BM * 2 * SLICE * BN
    assert (t.banks().conflicts, t.divergence().divergent) == (0, 0)
    assert [t.coalescing(array).sectors_per_request for array in ("x", "y")] == [4, 4]
    assert work.shared_reads / (work.flops / 2) == 3 / 64
    assert work.reads / (work.flops / 2) == 1 / 64


@pytest.mark.nightly
def test_the_machine_multiplies_matrices_and_keeps_the_sums_in_registers():
    x = np.ones((16, 16), np.float32)
    compiled = assembly(kernels.tensor_core_kernel, x, x, x, capability=(8, 0))
    assert compiled.ptx.count("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32") >= 16
    assert (compiled.spills, compiled.local, compiled.doubles) == (0, 0, ())


# -- On a GPU that has none.


def test_an_older_gpu_is_refused_in_a_sentence():
    version, inputs = matmul.versions[TF32], matmul.inputs(19, k=9, n=22)
    refused = pytest.raises(NotHere, match=r"8\.0 \(.* this one has 7\.5")
    with warplens.tracing((7, 5)), refused:
        version(*map(cuda.to_device, inputs))
    with warplens.tracing((8, 0)) as launches:
        version(*map(cuda.to_device, inputs))
    assert len(launches) == 1


@pytest.mark.parametrize("capability", [(7, 5), (8, 0), None], ids=str)
def test_pytorch_is_not_asked_for_tf32_where_it_would_quietly_do_without(capability, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(backends, "compute_capability", lambda: capability)
    monkeypatch.setattr(backends, "why_no_tf32", backends.why_no_tf32.__wrapped__)
    refused = pytest.raises(NotHere, match=r"TF32 needs .* 8\.0 .* this one has 7\.5")
    allowed = backends.allow_tf32(torch.backends.cuda.matmul, True)
    with refused if capability == (7, 5) else nullcontext(), allowed:
        assert torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cuda.matmul.allow_tf32


# -- Faults: each planted, each found.


@pytest.fixture
def planted(tmp_path):
    """planted(old, new): the file's kernels, with a line of it changed."""

    def plant(old, new):
        text = Path(kernels.__file__).read_text(encoding="utf-8")
        assert old in text
        path = tmp_path / "planted.py"
        path.write_text(text.replace(old, new), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("gpulessons.ops.planted", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return plant


@pytest.mark.parametrize("comment", ["both tiles are complete", "and have been read by all"])
def test_a_forgotten_barrier_is_found(planted, comment):
    module = planted(f"cuda.syncthreads()  # {comment}", f"pass  # {comment}")
    assert product(module.tensor_core_kernel, 20, 64, 20)[0].races().cells


def test_a_forgotten_rounding_is_found(planted):
    module = planted("tf32(numbers[n])", "numbers[n]")
    t, out, want = product(module.tensor_core_kernel, 20, 64, 20)
    assert not right(out, want)
    assert {caution.kind for caution in t.warnings} == {"not rounded"}


