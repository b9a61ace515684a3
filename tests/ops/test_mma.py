"""Tensor cores: the rounding, the instruction in the PTX, and the product that is built on it."""

import importlib.util
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

import warplens
from gpulessons import backends
from gpulessons.backends import NotHere, gpu, host
from gpulessons.grader.check import check
from gpulessons.measure.results import Absent
from gpulessons.measure.timings import timings
from gpulessons.operation import op
from gpulessons.ops import matmul_fp16, matmul_tensor_cores
from gpulessons.ops.common import ceil_div
from gpulessons.ops.matmul import matmul
from gpulessons.ops.matmul_tensor_cores import BM, BN, SLICE, WARPS
from warplens import trace
from warplens.code.cuda import assembly
from warplens.rounding import round_bf16, round_fp16, round_tf32

NAME = "CUDA, tensor cores (TF32)"
FP16 = "CUDA, tensor cores (fp16)"
INSTRUCTION = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
INSTRUCTION_FP16 = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"


# -- Rounding.


def patterns(step):
    """Every step-th float32 by its bits, of either sign: denormals, infinities and NaNs too."""
    return np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


def nearest(x, digits):
    """x to so many bits, ties away from zero, by arithmetic in float64."""
    x = x.astype(np.float64)
    exponent = np.maximum(np.frexp(x)[1], -125) - digits  # denormals have no digits to spare
    return np.ldexp(np.sign(x) * np.floor(np.abs(np.ldexp(x, -exponent)) + 0.5), exponent)


def test_tf32_is_the_nearest_number_of_eleven_bits_ties_away_from_zero():
    x = patterns(16381)
    x = np.concatenate([x, (x.view(np.uint32) >> 13 << 13 | 1 << 12).view(np.float32)])  # ties
    x = x[np.isfinite(x)]
    with np.errstate(over="ignore"):
        want = nearest(x, 11).astype(np.float32)
    assert np.array_equal(round_tf32(x).view(np.uint32), want.view(np.uint32))


def test_bf16_is_as_pytorch_rounds():
    torch = pytest.importorskip("torch")
    x = patterns(65521)
    x = np.concatenate([x, (x.view(np.uint32) >> 16 << 16 | 1 << 15).view(np.float32)])  # ties
    want = torch.from_numpy(x).to(torch.bfloat16).float().numpy()
    assert np.array_equal(round_bf16(x), want, equal_nan=True)


def test_fp16_is_as_pytorch_rounds():
    torch = pytest.importorskip("torch")
    x = patterns(65521)
    x = np.concatenate([x, (x.view(np.uint32) >> 13 << 13 | 1 << 12).view(np.float32)])  # ties
    assert np.array_equal(round_fp16(x), torch.from_numpy(x).half().float().numpy(), equal_nan=True)


@pytest.mark.parametrize(("rounded", "dropped"), [(round_tf32, 13), (round_bf16, 16)])
def test_what_is_rounded_stays_and_what_is_no_number_too(rounded, dropped):
    x = rounded(patterns(65537))
    assert not np.any(x.view(np.uint32) & ((1 << dropped) - 1))
    assert np.array_equal(rounded(x), x, equal_nan=True)
    payloads = np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(rounded(payloads)).all()
    assert rounded(np.float32(1 / 3)).shape == () and rounded([[1.0, 2.0]]).shape == (1, 2)


# -- The product. Exact up to float32's rounding, once the factors are rounded.


def product(kernel, m, k, n, rounded=round_tf32):
    """(trace, result, what it should be) of random matrices."""
    rng = np.random.default_rng(m + k + n)
    x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    out = np.full((m, n), np.nan, np.float32)
    t = trace(kernel)[(ceil_div(n, BN), ceil_div(m, BM)), (32, WARPS)](x, y, out)
    return t, out, rounded(x).astype(np.float64) @ rounded(y)


def right(out, want):
    return np.allclose(out, want, rtol=0, atol=2e-6 * np.abs(want).max())


BOTH = {
    "TF32": (matmul_tensor_cores.tensor_core_kernel, round_tf32),
    "fp16": (matmul_fp16.fp16_kernel, round_fp16),
}


@pytest.mark.parametrize("factors", BOTH)
@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 40, 9), (130, 33, 131)], ids=str)
def test_it_is_right_at_any_shape(shape, factors):
    kernel, rounded = BOTH[factors]
    t, out, want = product(kernel, *shape, rounded)
    assert right(out, want)
    assert not t.races().cells and not t.warnings


@pytest.fixture(scope="module", params=BOTH)
def whole(request):
    """One block's worth: nothing lies outside."""
    return product(BOTH[request.param][0], BM, 2 * SLICE, BN)[0]


def test_all_of_it_is_done_by_tensor_cores_without_conflicts_or_divergence(whole):
    assert whole.tensor_core_flops == whole.flops == 2 * BM * 2 * SLICE * BN
    assert whole.banks().conflicts == 0
    assert whole.divergence().divergent == 0
    assert whole.coalescing("x").sectors_per_request == 4
    assert whole.coalescing("y").sectors_per_request == 4


def test_it_reads_as_little_for_a_multiply_add_as_its_docstring_says(whole):
    work, words = whole.work(), 1 if whole.kernel == "tensor_core_kernel" else 2  # of two numbers
    assert work.shared_reads / (work.flops / 2) == 3 / 64 / words
    assert work.reads / (work.flops / 2) == 1 / 64


def shared_reads(name):
    """Of one version, for each multiply-add."""
    x, y = np.ones((128, 32), np.float32), np.ones((32, 128), np.float32)
    with warplens.tracing() as launches:
        matmul.versions[name](cuda.to_device(x), cuda.to_device(y))
    work = launches[-1].work()
    return work.shared_reads * work.threads / (128 * 32 * 128)


def test_it_reads_less_in_shared_memory_than_the_rungs_below():
    assert shared_reads(NAME) < shared_reads("CUDA, 2-D register tile") / 4


@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (12, 0)], ids=str)
def test_the_machine_multiplies_matrices_and_keeps_the_sums_in_registers(capability):
    x = np.ones((16, 16), np.float32)
    compiled = assembly(matmul_tensor_cores.tensor_core_kernel, x, x, x, capability=capability)
    assert sum(INSTRUCTION in line for line in compiled.ptx.splitlines()) >= 16
    assert "cvt.rna.tf32.f32" in compiled.ptx
    assert not [line for line in compiled.instructions if ".local" in line]
    assert compiled.spills == 0


def test_a_t4_multiplies_fp16_and_two_blocks_fit():
    x = np.ones((16, 16), np.float32)
    compiled = assembly(matmul_fp16.fp16_kernel, x, x, x, capability=(7, 5))
    assert sum(INSTRUCTION_FP16 in line for line in compiled.ptx.splitlines()) >= 16
    assert not compiled.spills and not compiled.local and not compiled.doubles
    assert 2 * 32 * WARPS * compiled.registers <= 65_536  # those of a multiprocessor


# -- On a GPU that has none.


@pytest.mark.parametrize(("name", "old", "new"), [(NAME, (7, 5), (8, 0)), (FP16, (7, 0), (7, 5))])
def test_an_older_gpu_is_refused_in_a_sentence(name, old, new):
    version, inputs = matmul.versions[name], matmul.inputs(19, k=9, n=22)
    words = r"{}\.{} \(.* this one has {}\.{}".format(*new, *old)
    with warplens.tracing(old), pytest.raises(NotHere, match=words):
        version(*map(cuda.to_device, inputs))
    with warplens.tracing(new) as launches:
        version(*map(cuda.to_device, inputs))
    assert len(launches) == 1


@pytest.mark.parametrize("capability", [(7, 5), (8, 0), None], ids=str)
def test_pytorch_is_not_asked_for_tf32_where_it_would_quietly_do_without(capability, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(backends, "compute_capability", lambda: capability)
    monkeypatch.setattr(backends, "why_no_tf32", backends.why_no_tf32.__wrapped__)
    with backends.allow_tf32(torch.backends.cuda.matmul, False):
        pass
    refused = pytest.raises(NotHere, match=r"TF32 needs .* 8\.0 .* this one has 7\.5")
    allowed = backends.allow_tf32(torch.backends.cuda.matmul, True)
    with refused if capability == (7, 5) else nullcontext(), allowed:
        assert torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cuda.matmul.allow_tf32


@cuda.jit
def double_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i]


@pytest.fixture
def double():
    """An op with two versions that are not here: one never, one only in the microscope."""
    calls = iter(range(5))

    @op(inputs=lambda n, rng: (rng.standard_normal(n, np.float32),), flops=lambda x: x.size,
        sizes=(4,), edge_cases=(5, 1, 7, 2, 3))  # fmt: skip
    def double(x):
        return x + x

    @double.version("elsewhere", on=host)
    def elsewhere(x):
        raise NotHere("this machine lacks it")

    @double.version("on an older GPU", on=gpu)
    def on_an_older_gpu(x, out):
        if next(calls, None) is None:
            raise NotHere("this machine lacks it")
        double_kernel[1, 32](x, out)

    return double


def test_a_version_that_cannot_be_here_is_absent_for_that_reason(double):
    (entry,) = timings(double, 4, "elsewhere")
    assert isinstance(entry, Absent) and entry.why == "this machine lacks it"


def test_check_says_what_it_could_not_try(double, monkeypatch):
    """The microscope stands in for the GPU, too: outside check's own tracing, this one applies."""
    monkeypatch.setattr(type(gpu), "why_not", lambda self: "")
    with warplens.tracing():
        verdict = check(double, double.versions["on an older GPU"])
    assert verdict.passed and "not on the GPU: this machine lacks it" in repr(verdict)


# -- Faults: each planted, each found.


def planted(tmp_path, old, new, file=matmul_tensor_cores.__file__):
    """The kernel, with a line of its file changed."""
    text = Path(file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / "planted.py"
    path.write_text(text.replace(old, new), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("gpulessons.ops.planted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("comment", ["both tiles are complete", "and have been read by all"])
def test_a_forgotten_barrier_is_found(tmp_path, comment):
    module = planted(tmp_path, f"cuda.syncthreads()  # {comment}", f"pass  # {comment}")
    assert product(module.tensor_core_kernel, 20, 64, 20)[0].races().cells


def test_a_forgotten_rounding_is_found(tmp_path):
    module = planted(tmp_path, "tf32(numbers[n])", "numbers[n]")
    t, out, want = product(module.tensor_core_kernel, 20, 64, 20)
    assert not right(out, want)
    assert {caution.kind for caution in t.warnings} == {"not rounded"}


@cuda.jit(device=True)
def swapped_fragment(tile, row, column):
    i, j = row + (cuda.laneid >> 2 & 7), column + (cuda.laneid & 3)
    return tile[i, j], tile[i, j + 4], tile[i + 8, j], tile[i + 8, j + 4]


def test_two_swapped_numbers_of_a_fragment_are_found(tmp_path):
    module = planted(tmp_path, "BM, BN, SLICE = 128", "BM, BN, SLICE = 128")
    module.left_fragment = swapped_fragment
    _, out, want = product(module.tensor_core_kernel, 20, 64, 20)
    assert not right(out, want)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k + xp + WORDS", "k + xp"),  # a pair of one number
        ("n * P_STEP", "n"),  # rows of words that others write
        ("column + 8 * j)", "column + 4 * j)"),
    ],
)
def test_a_wrong_pair_or_place_is_found(tmp_path, old, new):
    module = planted(tmp_path, old, new, matmul_fp16.__file__)
    _, out, want = product(module.fp16_kernel, 40, 64, 70, round_fp16)
    assert not right(out, want)


def test_half_warps_in_the_same_banks_are_found(tmp_path):
    old, new = "(warp & 3) + 8 * (warp >> 2) + 4 * (lane >> 4)", "2 * warp + (lane >> 4)"
    module = planted(tmp_path, old, new, matmul_fp16.__file__)
    t, out, want = product(module.fp16_kernel, 40, 64, 70, round_fp16)
    assert right(out, want) and t.banks().conflicts > 0


def test_rows_without_padding_are_found(tmp_path):
    module = planted(tmp_path, "SLICE + 4, BN + 8", "SLICE, BN")
    t, out, want = product(module.tensor_core_kernel, 20, 64, 20)
    assert right(out, want) and t.banks().conflicts > 0
