"""Embedding: sums of rows from anywhere, and an update in which popular rows add up first."""

import numpy as np
import pytest
import torch

from gpulessons import embedding
from gpulessons.ops.embedding import numpy_update, update_in_place, update_pytorch_in_place


def problem(rows=1201, width=37, seed=3):
    """table, moments, ids with many duplicates, and the bags' gradient."""
    table, ids = embedding.inputs(rows, seed=seed, width=width, bag=3)
    rng = np.random.default_rng(seed)
    gradient = rng.standard_normal((len(ids), width), np.float32)
    return table, rng.random(rows, np.float32), ids, gradient


def test_the_update_is_the_formula_row_by_row():
    table, moments, ids, gradient = problem()
    new_table, new_moments = table.copy(), moments.copy()
    numpy_update(new_table, new_moments, ids, gradient, 0.5)
    for row in range(len(table)):
        total = gradient[np.nonzero(ids == row)[0]].astype(float).sum(0)
        moment = moments[row] + (total**2).mean()
        step = 0.5 * total / (np.sqrt(moment) + 1e-8)
        assert np.allclose(new_table[row], table[row] - step, atol=1e-5)
        assert np.isclose(new_moments[row], moment, rtol=1e-5)
    assert len(np.unique(ids)) < ids.size / 2  # or nothing was tested


def test_numba_and_pytorch_write_the_same_rows_and_no_others():
    table, moments, ids, gradient = problem()
    wanted = table.copy(), moments.copy()
    numpy_update(*wanted, ids, gradient)
    found = [(table.copy(), moments.copy()) for _ in range(3)]
    update_in_place(*found[0], ids, gradient, cores=1)
    update_in_place(*found[1], ids, gradient, cores=2)
    update_pytorch_in_place(*map(torch.from_numpy, (*found[2], ids, gradient)))
    untouched = np.setdiff1d(np.arange(len(table)), ids)
    for new_table, new_moments in found:
        assert np.allclose(new_table, wanted[0], atol=2e-5)
        assert np.allclose(new_moments, wanted[1], rtol=2e-5)
        assert np.array_equal(new_table[untouched], table[untouched])
    assert np.array_equal(found[0][0], found[1][0])  # to the last bit, whatever the cores


@pytest.mark.parametrize("wrong", [-1, 1201])
def test_an_id_that_is_no_row_is_refused_before_anything_is_written(wrong):
    table, moments, ids, gradient = problem()
    ids[-1, 1] = wrong
    out = np.full(gradient.shape, 7, np.float32)
    for version in embedding.versions.values():
        with pytest.raises(ValueError, match=f"Id {wrong} is no row"):
            version(table, ids, out=out) if version.writes_out else version(table, ids)
    before = table.copy()
    for update in (numpy_update, update_in_place):
        with pytest.raises(ValueError, match=f"Id {wrong} is no row"):
            update(table, moments, ids, gradient)
    assert (out == 7).all() and np.array_equal(table, before)


def test_bytes_are_those_of_the_rows_touched_and_not_the_tables():
    table, ids = embedding.inputs(100_000)
    assert ids.nbytes < embedding.bytes(table, ids) < table.nbytes / 2
