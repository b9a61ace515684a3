"""Embedding: duplicates are summed before a row moves, and an id that is no row touches nothing."""

import numpy as np
import pytest

from gpulessons import embedding, embedding_update
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.ops.embedding import (
    EPSILON,
    numbered,
    touched,
    update_in_place,
    update_pytorch_in_place,
    zipf,
)
from warplens import tracing

ON_CPU = [version for op in (embedding, embedding_update) for version in op.versions.values()
          if version.backend in (host, torch_cpu)]  # fmt: skip


ODD = embedding.edge_cases[0]  # of 31 rows


def each(versions):
    return pytest.mark.parametrize("version", versions, ids=[f"{v.op.name}: {v.name}"
                                                             for v in versions])  # fmt: skip


@pytest.fixture(params=[ODD, 1000], ids=["odd", "even"])
def problem(request):
    """table, moments, ids, gradient and rate: what embedding_update takes."""
    return embedding_update.inputs(request.param, seed=3)


def by_hand(table, moments, ids, gradient, rate):
    """One row after the other, in float64: new table and moments."""
    table, moments = table.astype(np.float64), moments.astype(np.float64)
    for row in set(ids.ravel().tolist()):
        summed = sum((ids == row).sum(1)[e] * gradient[e].astype(np.float64)
                     for e in range(len(ids)))  # fmt: skip
        moments[row] += (summed**2).mean()
        table[row] -= rate * summed / (np.sqrt(moments[row]) + EPSILON)
    return table, moments


def test_the_update_is_the_formula_row_by_row(problem):
    ids = problem[2]
    rows, changed = by_hand(*problem)
    new_rows, new_moments = embedding_update(*problem)
    np.testing.assert_allclose(new_rows, rows[ids], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(new_moments, changed[ids], rtol=1e-4)
    assert len(np.unique(ids)) < ids.size, "no duplicates: this would test little"


@pytest.mark.parametrize("cores", [1, None], ids=["one core", "every core"])
def test_in_place_writes_the_rows_that_the_op_returns_and_no_others(problem, cores):
    table, moments, ids, gradient, rate = problem
    new_rows, new_moments = embedding_update(*problem)
    changed, kept = table.copy(), moments.copy()
    update_in_place(changed, kept, ids, gradient, rate, cores=cores)
    np.testing.assert_allclose(changed[ids], new_rows, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(kept[ids], new_moments, rtol=2e-5)
    others = np.setdiff1d(np.arange(len(table)), ids)
    assert np.array_equal(changed[others], table[others])
    assert np.array_equal(kept[others], moments[others])


def test_pytorch_in_place_writes_the_same(problem):
    pytest.importorskip("torch")
    table, moments, ids, gradient, rate = problem
    ours, theirs = ([table.copy(), moments.copy()] for _ in range(2))
    update_in_place(*ours, ids, gradient, rate)
    placed = [torch_cpu.put(array) for array in theirs]
    update_pytorch_in_place(*placed, torch_cpu.put(ids), torch_cpu.put(gradient), rate)
    for mine, other in zip(ours, placed, strict=True):
        np.testing.assert_allclose(mine, torch_cpu.get(other), rtol=2e-5, atol=2e-5)


def test_one_core_and_every_core_agree_to_the_last_bit(problem):
    one, every = (embedding_update.versions[f"Numba, {cores}"] for cores in
                  ("one core", "every core"))  # fmt: skip
    for mine, other in zip(one(*problem), every(*problem), strict=True):
        assert np.array_equal(mine, other)


@pytest.mark.parametrize("stranger", [-1, 31])
@each(ON_CPU)
def test_an_id_that_is_no_row_is_refused_before_anything_is_written(version, stranger):
    inputs = [value.copy() if hasattr(value, "copy") else value for value in version.op.inputs(ODD)]
    ids = next(value for value in inputs if getattr(value, "dtype", None) == np.int64)
    ids[-1, -1] = stranger
    placed = [version.backend.put(value) for value in inputs]
    with pytest.raises((ValueError, RuntimeError, IndexError)) as refusal:
        version(*placed)
    if version.backend is host:
        assert str(refusal.value) == (
            f"Id {stranger} is no row of a table with 31 rows: ids go from 0 to 30."
        )


@pytest.mark.parametrize("stranger", [-1, 31])
def test_in_place_writes_nothing_where_one_id_is_no_row(stranger):
    table, moments, ids, gradient, rate = embedding_update.inputs(ODD)
    ids[-1, -1] = stranger
    before = table.copy(), moments.copy()
    with pytest.raises(ValueError, match=f"Id {stranger} is no row"):
        update_in_place(table, moments, ids, gradient, rate)
    assert np.array_equal(table, before[0]) and np.array_equal(moments, before[1])


@pytest.mark.parametrize("stranger", [-1, 31])
@each([v for op in (embedding, embedding_update) for v in op.versions.values() if v.backend is gpu])
def test_on_a_gpu_such_an_id_gives_nan_there_and_reads_nothing_outside(version, stranger):
    inputs = version.op.inputs(ODD, seed=1)
    wild = [value.copy() if hasattr(value, "copy") else value for value in inputs]
    ids = next(value for value in wild if getattr(value, "dtype", None) == np.int64)
    ids[-1, -1] = stranger
    with tracing():  # where an access out of bounds would raise
        results = version(*map(gpu.put, wild), out=version.op.poisoned(gpu, *inputs))
    results = results if isinstance(results, tuple) else (results,)
    for result in map(gpu.get, results):
        where = -1 if version.op is embedding else (-1, -1)
        assert np.isnan(result[where]).all()
        assert np.isnan(result).sum() == np.isnan(result[where]).sum()


def test_the_searched_update_is_the_same_in_every_run_and_sums_in_the_order_of_the_ids():
    inputs = embedding_update.inputs(ODD, seed=5)
    searched = embedding_update.versions["CUDA, searched, the same in every run"]
    with tracing():
        runs = [searched(*map(gpu.put, inputs)) for _ in range(2)]
    for one, other in zip(*runs, strict=True):
        assert np.array_equal(gpu.get(one), gpu.get(other))


def test_ids_are_numbered_in_the_order_in_which_they_come():
    ids = np.array([70, 5, 70, 2**40, 5, -3, 70])
    slots, rows = numbered(ids)
    assert rows.tolist() == [70, 5, 2**40, -3]
    assert slots.tolist() == [0, 1, 0, 2, 1, 3, 0]


def test_ids_that_collide_in_the_hash_table_stay_apart():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 64, 1000):
        ids = rng.integers(0, max(1, n // 2), n) * 2**20
        slots, rows = numbered(ids)
        assert np.array_equal(rows[slots], ids) and len(set(rows)) == len(rows)


def test_popular_ids_are_as_popular_as_zipf_says():
    ids = zipf(np.random.default_rng(0), 1000, 200_000)
    counts = np.sort(np.bincount(ids, minlength=1000))[::-1] / ids.size
    expected = np.log1p(1 / np.arange(1, 1001)) / np.log(1001)
    np.testing.assert_allclose(counts[:5], expected[:5], rtol=0.05)


def test_bytes_are_those_of_the_rows_touched_and_not_the_tables():
    table, ids = embedding.inputs(100_000)
    assert touched(table, ids) < len(table) / 2
    lowest = 4 * table.shape[1] * touched(table, ids)
    assert lowest < embedding.bytes(table, ids) < table.nbytes / 2
    inputs = embedding_update.inputs(100_000)
    assert embedding_update.bytes(*inputs) < inputs[0].nbytes
