"""The CUDA ladder of the matrix product: what each rung reads, exactly, and that it stays right."""

import importlib.util
import inspect
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from gpulessons import gpu
from gpulessons.ops import matmul_kernels as kernels
from gpulessons.ops.common import ceil_div
from gpulessons.ops.matmul import matmul
from warplens import OutOfBounds, trace, tracing
from warplens.code.cuda import assembly

VERSIONS = {  # and a kernel's, by its name
    "naive": "CUDA, naive",
    "coalesced": "CUDA, coalesced",
    "tile": "CUDA, shared tile",
    "column": "CUDA, 1-D register tile",
    "square": "CUDA, 2-D register tile",
    "vector": "CUDA, vectorized loads",
    "double": "CUDA, double buffering",
}
BIG = ("square", "vector", "double")  # a block of theirs makes 128 by 128 numbers
WIDE = ("vector", "double")


def factors(m, k, n):
    rng = np.random.default_rng(m + k + n)
    return rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)


@cache
def launched(rung, m, k, n):
    """(the trace of one product, the product)"""
    with tracing() as launches:
        out = matmul.versions[VERSIONS[rung]](*map(gpu.put, factors(m, k, n)))
    return launches[0], gpu.get(out)


def per_multiply(trace, kind, m=128, k=16, n=128):
    return getattr(trace.work(), kind) * trace.threads / (m * k * n)


# What they read


@pytest.mark.parametrize(
    "rung, x, y, out, reads",
    [("naive", 16, 1, 16, 128), ("coalesced", 2, 2, 4, 128), ("tile", 4, 4, 4, 8)],
)
def test_sectors_per_request_and_reads_per_thread(rung, x, y, out, reads):
    t, _ = launched(rung, 64, 64, 64)
    assert [t.coalescing(a).sectors_per_request for a in ("x", "y", "out")] == [x, y, out]
    assert t.work().reads == reads
    assert t.flops == 2 * 64**3


@pytest.mark.parametrize(
    "rung, asked, brought, shared",
    [
        ("naive", 2, 2, 0),
        ("coalesced", 2, 2, 0),
        ("tile", 1 / 8, 1 / 8, 2),
        ("column", 1 / 32, 1 / 32, 9 / 8),
        ("square", 1 / 64, 1 / 64, 1 / 4),
        ("vector", 1 / 256, 1 / 64, 1 / 16),
        ("double", 1 / 256, 1 / 64, 1 / 16),
    ],
)
def test_reads_per_multiply_fall_from_rung_to_rung(rung, asked, brought, shared):
    t, _ = launched(rung, 128, 16, 128)
    assert per_multiply(t, "reads") == asked
    read = t.coalescing(access="read")
    assert read.bytes_asked == 4 * brought * 128 * 16 * 128
    assert read.efficiency > 0.99 or rung in ("naive", "coalesced")
    assert per_multiply(t, "shared_reads") == shared
    said = f"{Fraction(asked)} global" + (f", {Fraction(shared)} shared" if shared else "")
    assert getattr(kernels, f"{rung}_kernel").py_func.__doc__.startswith(said)


@pytest.mark.parametrize("rung", VERSIONS)
def test_no_conflicts_no_races_no_cautions(rung):
    t, out = launched(rung, 128, 16, 128)
    x, y = factors(128, 16, 128)
    assert np.allclose(out, x @ y, rtol=1e-4, atol=1e-4)
    assert t.banks().conflicts == 0
    assert t.races().cells == 0
    assert t.warnings == ()


def epochs(t, array, access):
    """Numbers of barriers behind which this array is read or written."""
    return {
        int(epoch)
        for site, accesses in t.launch.log.sites.items()
        if (site.array.name, site.access) == (array, access)
        for a in accesses
        for epoch in a.moment.block_epoch
    }


def test_double_buffering_saves_a_barrier_and_loads_while_it_multiplies():
    vector, double = (launched(rung, 128, 16, 128)[0] for rung in WIDE)
    tiles = 2
    assert epochs(vector, "out", "write") == {2 * tiles}
    assert epochs(double, "out", "write") == {1 + tiles}
    assert epochs(vector, "x", "read").isdisjoint(epochs(vector, "xs", "read"))
    assert epochs(double, "x", "read") & epochs(double, "xs", "read") == {1}


# Any shape


AWKWARD = [(1, 1, 1), (1, 40, 70), (70, 3, 1), (17, 33, 65), (130, 9, 131)]
AWKWARD_FOURS = [(1, 4, 4), (1, 8, 72), (17, 12, 68), (130, 8, 132)]


@pytest.mark.parametrize(
    "rung, shape",
    [(rung, shape) for rung in VERSIONS for shape in (AWKWARD_FOURS if rung in WIDE else AWKWARD)],
    ids=str,
)
def test_it_is_right_at_awkward_shapes(rung, shape):
    t, out = launched(rung, *shape)
    x, y = factors(*shape)
    assert t.kernel == f"{rung}_kernel"
    assert np.allclose(out, x @ y, rtol=1e-4, atol=1e-4)
    assert t.banks().conflicts == 0
    assert t.races().cells == 0
    assert t.warnings == ()


@pytest.mark.parametrize("rung", WIDE)
@pytest.mark.parametrize("shape", [(4, 5, 8), (4, 4, 7)], ids=str)
def test_rows_that_are_no_whole_fours_take_the_square_tile(rung, shape):
    t, out = launched(rung, *shape)
    x, y = factors(*shape)
    assert t.kernel == "square_kernel"
    assert np.allclose(out, x @ y, rtol=1e-4, atol=1e-4)


def test_a_layer_is_a_tile_with_a_last_step():
    @cuda.jit(device=True)
    def negative(value):
        return -value

    x, y = factors(33, 18, 40)
    b, out = np.arange(40, dtype=np.float32), np.zeros((33, 40), np.float32)
    weights = np.ascontiguousarray(y.T)
    t = trace(kernels.layer_kernel(negative))[kernels.tiles(33, 40)](x, weights, b, out)
    assert np.allclose(out, -(x @ y + b), rtol=1e-4, atol=1e-4)
    assert t.banks().conflicts == 0
    assert t.races().cells == 0


# What becomes of them


@pytest.mark.parametrize("rung", BIG)
def test_two_blocks_fit_on_a_multiprocessor_and_all_loops_are_unrolled(rung):
    kernel, x = getattr(kernels, f"{rung}_kernel"), np.zeros((8, 8), np.float32)
    compiled = assembly(kernel, x, x, x, capability=(9, 0))
    assert 2 * kernels.THREADS * compiled.registers <= 65_536
    assert (compiled.local, compiled.spills) == (0, 0)
    assert sum("fma.rn.f32" in line for line in compiled.instructions) == 8 * 8 * 8
    wide = [line for line in compiled.instructions if re.search(r"\b(ld|st)\.\w+\.v[24]\.", line)]
    assert sum("ld.shared" in line for line in wide) == (4 * 8 if rung in WIDE else 0)
    assert any("ld.global" in line for line in wide) == (rung in WIDE)
    assert any("st.global" in line for line in wide) == (rung in WIDE)


# Faults, planted one by one


@pytest.fixture
def planted(tmp_path):
    """planted(rung, old, new): the rung's kernel with a fault in its source.

    turn: which `old` is replaced, counted from 0; within: a device function that has it instead.
    """

    def plant(rung, old, new, turn=0, within=None):
        text = Path(kernels.__file__).read_text(encoding="utf-8")
        start = text.index(f"def {within or rung + '_kernel'}")
        for _ in range(turn + 1):
            start = text.index(old, start + 1)
        path = tmp_path / f"faulty_{rung}_{turn}.py"
        path.write_text(text[:start] + new + text[start + len(old) :], encoding="utf-8")
        spec = importlib.util.spec_from_file_location(f"gpulessons.ops.{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, f"{rung}_kernel")

    return plant


def run(kernel, rung, m, k, n):
    side, threads = {"column": (kernels.BM_1D, 512)}.get(rung, (kernels.BM, 256))
    side, threads = (kernels.T, (16, 16)) if rung in ("tile", "coalesced") else (side, threads)
    out = np.zeros((m, n), np.float32)
    return trace(kernel)[(ceil_div(n, side), ceil_div(m, side)), threads](*factors(m, k, n), out)


def test_without_the_second_barrier_reads_and_writes_of_the_tile_race(planted):
    kernel = planted("tile", "cuda.syncthreads()", "pass", turn=1)
    source = inspect.getsource(kernel.py_func).splitlines()
    first = kernel.py_func.__code__.co_firstlineno
    write, read = (
        first + next(n for n, line in enumerate(source) if text in line)
        for text in ("xs[ty, tx] = x", "xs[ty, k] * ys[k, tx]")
    )
    races = run(kernel, "tile", 16, 32, 16).races()
    assert races.cells
    assert {write, read} in [set(race.lines) for race in races]


@pytest.mark.parametrize("rung", ["tile", "column", "vector", "double"])
@pytest.mark.parametrize("turn", [0, 1])
def test_no_barrier_can_be_spared(planted, rung, turn):
    kernel = planted(rung, "cuda.syncthreads()", "pass", turn)
    assert run(kernel, rung, 16, 32 if rung == "tile" else 16, 16).races().cells


@pytest.mark.parametrize("turn", [0, 1])
def test_nor_by_a_layer(planted, turn):
    layer = planted("linear", "cuda.syncthreads()", "pass", turn, within="tile_dot")
    x, y = factors(20, 32, 20)
    b, out = np.zeros(20, np.float32), np.zeros((20, 20), np.float32)
    assert trace(layer)[kernels.tiles(20, 20)](x, np.ascontiguousarray(y.T), b, out).races().cells


@pytest.mark.parametrize(
    "rung, guard, within",
    [
        ("coalesced", " and j < out.shape[1]", None),
        ("tile", " and start + tx < depth", None),
        ("tile", " and j < n", None),
        ("column", "top + xi < m and ", None),
        ("square", " and j < n", None),
        ("vector", " and j < x.shape[1]", "fetch4"),
        ("double", " and column < out.shape[1]", "store_totals"),
    ],
)
def test_a_missing_guard_is_out_of_bounds(planted, rung, guard, within):
    with pytest.raises(OutOfBounds):
        run(planted(rung, guard, "", within=within), rung, 20, 4, 20)


@pytest.mark.parametrize(
    "rung, right, wrong, worst",
    [
        ("tile", "xs[ty, k] * ys[k, tx]", "xs[ty, k] * ys[tx, k]", 8),
        ("vector", "(BK, BM_PADDED)", "(BK, BM)", 2),
        ("square", "ys[k, column + 16 * r]", "ys[k, 8 * column + r]", 4),
    ],
)
def test_a_tile_read_the_other_way_shows_conflicts(planted, rung, right, wrong, worst):
    t = run(planted(rung, right, wrong), rung, 16, 16 if rung == "tile" else 8, 16)
    assert t.banks().worst == worst
