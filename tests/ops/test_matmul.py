"""The matrix product: the blocked one of the CPU, what each kernel of the ladder reads, exactly."""

import importlib.util
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gpulessons import gpu, matmul
from gpulessons.backends import allow_tf32
from gpulessons.hardware.hot_loop import hot_loop
from gpulessons.ops import matmul as kernels
from gpulessons.ops import matmul_cpu
from gpulessons.ops.common import ceil_div
from gpulessons.ops.matmul_cpu import COLUMNS, DEPTH, ROWS, multiply, multiply_one_core
from gpulessons.ops.vectors import LANES
from warplens import OutOfBounds, trace, tracing
from warplens.code.cuda import assembly

# (m, k, n): lone rows and columns, nothing to add up, primes, tall, wide, one past each edge.
SHAPES = [(1, 1, 1), (1, 7, 1), (1, 65, 300), (300, 65, 1), (5, 5, 17), (130, 65, 131), (6, 0, 64),
          (ROWS + 1, DEPTH + 1, COLUMNS + 1), (3, DEPTH - 1, 2 * COLUMNS + 1)]  # fmt: skip


def factors(m, k, n):
    rng = np.random.default_rng(m + k + n)
    return rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)


def assert_product(got, x, y):
    """Within k roundings of the sum of |x| |y|: true of any order of adding, fused or not."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    bound = x.shape[1] * 2.0**-24 * (np.abs(x) @ np.abs(y)) + x.shape[1] * 1e-45
    assert got.dtype == np.float32 and np.all(np.abs(got - x @ y) <= 1.01 * bound)


# -- On the CPU.


def test_the_products_multiply_every_shape():
    for shape in SHAPES:
        x, y = factors(*shape)
        for function in (multiply, multiply_one_core):
            out = np.full((len(x), y.shape[1]), np.nan, np.float32)
            function(x, y, out)
            assert_product(out, x, y)


def test_multiply_takes_transposed_and_strided_matrices():
    m = 133
    x, y = factors(m, 67, 259)
    apart = np.full((2 * m, 2 * 259), np.nan, np.float32)
    out, x_apart = apart[::2, ::2], np.repeat(x, 2, axis=1)[:, ::2]
    multiply_one_core(x_apart, np.repeat(y.T, 3, axis=1)[:, ::3].T, out)
    assert_product(out, x, y)
    assert np.isnan(apart[1::2]).all() and np.isnan(apart[:, 1::2]).all()


def test_a_tile_is_written_whole_and_nothing_beside_it():
    x, y = factors(ROWS + 9, 67, COLUMNS + 5)
    whole = np.empty((ROWS + 9, COLUMNS + 5), np.float32)
    multiply_one_core(x, y, whole)
    panels = matmul_cpu.packed(y)
    for n in range(matmul_cpu.tiles_of(len(x), panels)):
        out = np.full_like(whole, np.nan)
        tile = matmul_cpu.fill_tile.py_func(n, x, panels, out)
        assert np.array_equal(out[tile], whole[tile])
        out[tile] = np.nan
        assert np.isnan(out).all()


def test_without_a_compiler_the_micro_kernel_is_numpy():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((7, 8), np.float32), rng.standard_normal((7, LANES), np.float32)
    found, want = np.ones((2, 6, LANES + 3), np.float32)
    matmul_cpu.add_six.py_func(x, 2, y, 0, found, 0, 3)
    matmul_cpu.add_six(x, 2, y, 0, want, 0, 3)
    assert np.allclose(found, want, atol=1e-5)
    assert np.allclose(want[:, 3:], 1 + x[:, 2:].T @ y, atol=1e-5)


def test_the_hot_loop_of_the_product_is_fused_multiply_adds_and_stores_nothing():
    multiply_one_core(*factors(8, 8, 16), np.empty((8, 16), np.float32))
    loop = hot_loop(matmul_cpu.add_product)
    fused = [line for line in loop.lines if re.match("vfmadd|fmla", line)]
    assert loop.chains == 6 * LANES // loop.lanes and loop.scalar == 0 and loop.lanes >= 4
    assert len(fused) == loop.packed and loop.packed in (loop.chains, 2 * loop.chains)  # unrolled
    stores = r"vmov\w*\s+%[xyz]mm\d+, .*\(|st[rp]\s"
    assert not [line for line in loop.lines if re.match(stores, line)]


@pytest.mark.parametrize("name, wanted", [("PyTorch on GPU", False), ("PyTorch, TF32, GPU", True)])
def test_torch_may_round_to_tf32_only_where_the_name_says_so(monkeypatch, name, wanted):
    torch = pytest.importorskip("torch")
    flags, seen = torch.backends.cuda.matmul, []

    def stop(*arrays, out):
        seen.append(flags.allow_tf32)
        raise RuntimeError("stopped")

    monkeypatch.setattr(torch, "mm", stop)
    for before in (False, True):
        with allow_tf32(flags, before):
            with pytest.raises(RuntimeError, match="stopped"):
                matmul.versions[name](torch.ones(2, 2), torch.ones(2, 2), out=torch.empty(2, 2))
            assert seen.pop() == wanted and flags.allow_tf32 == before


# -- The ladder on a GPU.

VERSIONS = {  # and a kernel's, by its name
    "naive": "CUDA, naive",
    "coalesced": "CUDA, coalesced",
    "tile": "CUDA, shared tile",
    "square": "CUDA, 2-D register tile",
    "vector": "CUDA, vectorized loads",
}
FOURS = ("vector",)  # its rows must be whole fours


@cache
def launched(step, m, k, n):
    """(the trace of one product, the product)"""
    with tracing() as launches:
        out = matmul.versions[VERSIONS[step]](*map(gpu.put, factors(m, k, n)))
    return launches[0], gpu.get(out)


@pytest.mark.parametrize("step, asked, brought, shared", [
    ("naive", 2, 2, 0),
    ("coalesced", 2, 2, 0),
    ("tile", 1 / 8, 1 / 8, 2),
    ("square", 1 / 64, 1 / 64, 1 / 4),
    ("vector", 1 / 256, 1 / 64, 1 / 16),
])  # fmt: skip
def test_reads_per_multiply_fall_from_kernel_to_kernel(step, asked, brought, shared):
    t, out = launched(step, 128, 16, 128)
    products = 128 * 16 * 128
    assert np.allclose(out, np.matmul(*factors(128, 16, 128)), rtol=1e-4, atol=1e-4)
    assert t.work().reads * t.threads / products == asked
    assert t.coalescing(access="read").bytes_asked == 4 * brought * products
    assert t.work().shared_reads * t.threads / products == shared
    assert (t.banks().conflicts, t.races().cells, t.warnings) == (0, 0, ())
    costs = f"{Fraction(asked)} global" + (f", {Fraction(shared)} shared" if shared else "")
    assert getattr(kernels, f"{step}_kernel").py_func.__doc__.startswith(costs)


def test_sectors_per_request_fall_when_neighbors_read_neighbors():
    sectors = {step: [launched(step, 64, 64, 64)[0].coalescing(a).sectors_per_request
                      for a in ("x", "y", "out")] for step in ("naive", "coalesced", "tile")}
    assert sectors == {"naive": [16, 1, 16], "coalesced": [2, 2, 4], "tile": [4, 4, 4]}


@pytest.mark.nightly
@pytest.mark.parametrize("step", VERSIONS)
def test_it_is_right_at_awkward_shapes(step):
    for shape in [(1, 8, 72), (17, 12, 68)] if step in FOURS else [(1, 40, 70), (17, 33, 65)]:
        t, out = launched(step, *shape)
        assert t.kernel == f"{step}_kernel" and t.races().cells == 0
        assert np.allclose(out, np.matmul(*factors(*shape)), rtol=1e-4, atol=1e-4)
    if step in FOURS:
        assert launched(step, 4, 5, 8)[0].kernel == launched(step, 4, 4, 7)[0].kernel
        assert launched(step, 4, 5, 8)[0].kernel == "square_kernel"


@pytest.mark.parametrize("step", ["square", pytest.param("vector", marks=pytest.mark.nightly)])
def test_two_blocks_fit_on_a_multiprocessor_and_the_results_stay_in_registers(step):
    x = np.zeros((8, 8), np.float32)
    compiled = assembly(getattr(kernels, f"{step}_kernel"), x, x, x, capability=(9, 0))
    assert 2 * kernels.THREADS * compiled.registers <= 65_536
    assert (compiled.local, compiled.spills) == (0, 0)
    products = sum("fma.rn.f32" in line for line in compiled.instructions)
    assert products == 8 * 8 * (8 if step == "vector" else 1)  # a tile's, or those of one k
    assert any(re.search(r"ld\.\w+\.v4", line) for line in compiled.instructions) == (
        step in FOURS
    )


# -- Faults, planted one by one.


@pytest.fixture
def planted(tmp_path):
    """planted(step, old, new): the kernel with a fault in its source; turn: in which `old`."""

    def plant(step, old, new, turn=0, within=None):
        text = Path(kernels.__file__).read_text(encoding="utf-8")
        start = text.index(f"def {within or step + '_kernel'}")
        for _ in range(turn + 1):
            start = text.index(old, start + 1)
        path = tmp_path / f"faulty_{step}_{turn}.py"
        path.write_text(text[:start] + new + text[start + len(old) :], encoding="utf-8")
        spec = importlib.util.spec_from_file_location(f"gpulessons.ops.{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, f"{step}_kernel")

    return plant


def run(kernel, step, m, k, n):
    small = step in ("tile", "coalesced")
    side, threads = (kernels.T, (16, 16)) if small else (kernels.BM, 256)
    out = np.zeros((m, n), np.float32)
    return trace(kernel)[(ceil_div(n, side), ceil_div(m, side)), threads](*factors(m, k, n), out)


@pytest.mark.parametrize("step", ["tile", pytest.param("square", marks=pytest.mark.nightly)])
def test_no_barrier_can_be_spared(planted, step):
    for turn in (0, 1):
        kernel = planted(step, "cuda.syncthreads()", "pass", turn)
        assert run(kernel, step, 16, 32 if step == "tile" else 16, 16).races().cells, turn


@pytest.mark.parametrize("step, guard, within", [
    ("tile", " and j < n", None),
    ("square", " and j < n", None),
    ("vector", " and j < x.shape[1]", "fetch4"),
])  # fmt: skip
def test_a_missing_guard_is_out_of_bounds(planted, step, guard, within):
    with pytest.raises(OutOfBounds):
        run(planted(step, guard, "", within=within), step, 20, 4, 20)


def test_a_tile_read_the_other_way_shows_conflicts(planted):
    kernel = planted("tile", "xs[ty, k] * ys[k, tx]", "xs[ty, k] * ys[tx, k]")
    assert run(kernel, "tile", 16, 16, 16).banks().worst == 8
