"""Nearest neighbors: every version to the very same indices, ties included."""

import numpy as np
import pytest

from gpulessons import digits, gpu, microscope, neighbours
from gpulessons.backends import host
from gpulessons.ops.neighbours import clustered, uniform

ON_CPU = [v for v in neighbours.versions.values() if v.backend is host]
ON_GPU = [v for v in neighbours.versions.values() if v.backend is gpu]
FUSED = "NumPy's product, Numba's selection"


def test_the_specification_is_the_definition_and_its_inputs_have_ties_at_the_edge():
    queries, points, k = neighbours.inputs(257)
    indices, distances = neighbours(queries, points, k)
    tied = 0
    for n, query in enumerate(queries):
        ranked = sorted((float(((query - p) ** 2).sum()), i) for i, p in enumerate(points))
        assert list(zip(distances[n], indices[n], strict=True)) == ranked[:k]
        tied += ranked[k - 1][0] == ranked[k][0]
    assert tied > 3


def test_more_than_a_warp_and_all_of_them_may_be_asked_for():
    queries, points, _ = neighbours.inputs(45, queries=3, dim=4)
    for k in (40, 45):
        wanted = neighbours(queries, points, k)
        with microscope.tracing():
            for version in (*ON_CPU, *ON_GPU):
                put, get = version.backend.put, version.backend.get
                found = map(get, version(put(queries), put(points), k))
                assert all(map(np.array_equal, found, wanted)), version.name


def test_an_impossible_k_a_nan_and_other_widths_are_refused():
    queries, points, k = neighbours.inputs(31)
    hole = points.copy()
    hole[4, 1] = np.nan
    for version in ON_CPU:
        for arrays, why in (
            ((queries, points, 0), "k is from 1"),
            ((queries, points, 32), "k is from 1"),
            ((queries, hole, k), "Point 4 has a coordinate that is NaN"),
            ((queries[:, :3], points, k), "shapes|as many coordinates"),
        ):
            with pytest.raises(ValueError, match=why):
                version(*arrays)


def test_on_a_gpu_a_nan_is_near_nothing():
    queries, points, _ = neighbours.inputs(20, queries=3, dim=4)
    points[5] = np.nan
    out = np.zeros((3, 20), np.int32), np.zeros((3, 20), np.float32)
    with microscope.tracing():
        for version in ON_GPU:
            room = tuple(map(gpu.put, out))
            indices = gpu.get(version(gpu.put(queries), gpu.put(points), 20, out=room)[0])
            assert 5 not in indices and (indices[:, -1] == -1).all()


def test_near_is_nearer_in_clusters_than_anywhere():
    share = {}
    for kind in (clustered, uniform):
        points, queries = np.split(kind(2050, 64, seed=3), [2000])
        assert np.array_equal(points, np.rint(points))
        assert np.array_equal(points, kind(2050, 64, seed=3)[:2000])
        distances = np.sqrt(neighbours(queries, points, 2000)[1])
        share[kind] = np.median(distances[:, 9] / distances[:, 1000])
    assert share[clustered] < 0.75 < share[uniform]


# -- Other people's answers.


@pytest.mark.nightly
def test_faiss_finds_the_same_and_keeps_the_lower_index_of_equals_too():
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(3)
    for count, asked, k, dim in ((10_000, 64, 10, 64), (5000, 64, 200, 4), (70, 9, 70, 4)):
        points, queries = (rng.integers(-3, 4, (n, dim)).astype(np.float32)
                           for n in (count, asked))  # fmt: skip
        index = faiss.IndexFlatL2(dim)
        index.add(points)
        theirs, labels = index.search(queries, k)
        indices, distances = neighbours.versions[FUSED](queries, points, k)
        assert np.array_equal(distances, theirs) and np.array_equal(indices, labels)


@pytest.mark.nightly
def test_scikit_learn_finds_the_same_digits():
    near = pytest.importorskip("sklearn.neighbors")
    (points, _), (queries, _) = ((x.reshape(-1, 64).astype(np.float32), y) for x, y in digits())
    fitted = near.NearestNeighbors(n_neighbors=5, algorithm="brute").fit(points.astype(np.float64))
    theirs, _ = fitted.kneighbors(queries.astype(np.float64))
    distances = neighbours.versions[FUSED](queries, points, 5)[1]
    assert np.array_equal(distances, np.rint(theirs**2))  # of whole numbers, but for a root
