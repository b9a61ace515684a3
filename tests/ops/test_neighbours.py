"""Nearest neighbors by brute force: ties, refusals, and other people's answers."""

import numpy as np
import pytest

from gpulessons import digits, neighbours
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.ops.neighbours import clustered, squared_distances, uniform
from warplens import tracing

ON_CPU = [v for v in neighbours.versions.values() if v.backend in (host, torch_cpu)]
ON_GPU = [v for v in neighbours.versions.values() if v.backend is gpu]

each = pytest.mark.parametrize("version", ON_CPU, ids=lambda version: version.name)
each_kernel = pytest.mark.parametrize("version", ON_GPU, ids=lambda version: version.name)


def run(version, queries, points, k):
    if why := version.backend.why_not():
        pytest.skip(why)
    put, get = version.backend.put, version.backend.get
    return tuple(map(get, version(put(queries), put(points), k)))


def traced(version, queries, points, k):
    out = np.full((len(queries), k), -7, np.int32), np.full((len(queries), k), -7, np.float32)
    with tracing() as launches:
        version.function(queries, points, k, out=out)
    return out, launches


def by_hand(queries, points, k):
    """Every pair, by the definition, in Python."""
    pairs = [sorted((((q - p) ** 2).sum(), j) for j, p in enumerate(points))[:k] for q in queries]
    return ([[j for _, j in row] for row in pairs], [[d for d, _ in row] for row in pairs])


def test_the_specification_is_the_definition():
    queries, points, k = neighbours.inputs(70, seed=2, queries=37, dim=41)
    indices, distances = by_hand(queries, points, k)
    got = neighbours(queries, points, k)
    assert got[0].tolist() == indices and got[1].tolist() == distances


def test_the_ops_own_inputs_have_ties_at_the_edge():
    """Or no version would ever have to choose between equals."""
    for case in (*neighbours.edge_cases[1:3], 1000):
        queries, points, k = neighbours.inputs(case)
        ordered = np.sort(squared_distances(queries, points, k), axis=1)
        assert (ordered[:, k - 1] == ordered[:, k]).any()


@each
def test_of_equals_the_lower_index_comes_first(version):
    queries, points = np.ones((5, 3), np.float32), np.zeros((700, 3), np.float32)
    points[[600, 3, 650]] = 1
    indices, distances = run(version, queries, points, 6)
    assert indices.tolist() == [[3, 600, 650, 0, 1, 2]] * 5
    assert distances.tolist() == [[0, 0, 0, 3, 3, 3]] * 5


@each_kernel
def test_of_equals_the_lower_index_comes_first_on_a_gpu(version):
    queries, points = np.ones((9, 3), np.float32), np.zeros((200, 3), np.float32)
    points[[130, 3, 190]] = 1
    (indices, distances), _ = traced(version, queries, points, 6)
    assert indices.tolist() == [[3, 130, 190, 0, 1, 2]] * 9
    assert distances.tolist() == [[0, 0, 0, 3, 3, 3]] * 9


@each
def test_more_than_a_warp_and_all_of_them_may_be_asked_for(version):
    queries, points, _ = neighbours.inputs(257, seed=1, queries=37, dim=41)
    for k in (33, 257):
        for got, want in zip(run(version, queries, points, k), neighbours(queries, points, k),
                             strict=True):  # fmt: skip
            assert np.array_equal(got, want)


@each_kernel
def test_a_list_that_a_warps_registers_cannot_hold_is_right_all_the_same(version):
    queries, points, _ = neighbours.inputs(70, seed=1, queries=37, dim=41)
    got, _ = traced(version, queries[:3], points, 33)
    for one, want in zip(got, neighbours(queries[:3], points, 33), strict=True):
        assert np.array_equal(one, want)


@each
@pytest.mark.parametrize("k", [0, -1, 32])
def test_a_k_that_cannot_be_is_refused(version, k):
    queries, points, _ = neighbours.inputs(31, queries=37, dim=41)
    with pytest.raises(ValueError, match=f"k is from 1 to the number of points, here 31; not {k}"):
        run(version, queries, points, k)


@pytest.mark.parametrize("version", ON_CPU, ids=str)
@pytest.mark.parametrize("which, said", [(0, "Query 4"), (1, "Point 4")])
def test_a_nan_is_refused_by_name_before_anything_is_written(version, which, said):
    arrays = [x.copy() for x in neighbours.inputs(31, queries=37, dim=41)[:2]]
    arrays[which][4, 2] = arrays[which][9, 0] = np.nan
    arrays = [version.backend.put(x) for x in arrays]
    out = np.full((37, 3), -7, np.int32), np.full((37, 3), -7, np.float32)
    with pytest.raises(ValueError, match=f"{said} has a coordinate that is NaN"):
        version.function(*arrays, 3, **({"out": out} if version.writes_out else {}))
    assert (out[0] == -7).all() and (out[1] == -7).all()


@each_kernel
def test_on_a_gpu_a_nan_is_near_nothing(version):
    queries, points = np.zeros((2, 3), np.float32), np.ones((40, 3), np.float32)
    queries[0, 1] = points[0, 1] = np.nan
    (indices, distances), _ = traced(version, queries, points, 2)
    assert indices.tolist() == [[-1, -1], [1, 2]]
    assert distances.tolist() == [[np.inf, np.inf], [3, 3]]


@pytest.mark.parametrize("version", [v for v in ON_CPU if v.backend is host], ids=str)
def test_whole_numbers_of_an_integer_type_are_refused(version):
    queries, points, k = neighbours.inputs(31, queries=37, dim=41)
    with pytest.raises(ValueError, match=r"Points are floats, not uint8.*astype"):
        run(version, queries, abs(points).astype(np.uint8), k)


@each
def test_shapes_that_do_not_fit_are_refused(version):
    with pytest.raises(ValueError, match="neighbours takes arrays of shapes"):
        run(version, np.ones((2, 3), np.float32), np.ones((9, 4), np.float32), 1)


def test_clustered_points_are_whole_numbers_and_the_same_for_the_same_seed():
    points = clustered(3000, 8, seed=4)
    assert points.dtype == np.float32 and np.array_equal(points, np.rint(points))
    assert np.array_equal(points, clustered(3000, 8, seed=4))
    assert not np.array_equal(points, clustered(3000, 8, seed=5))


def test_near_is_nearer_in_clusters_than_anywhere():
    """How far the nearest is, of the mean distance: what an index lives on."""
    shares = []
    for points in (clustered(2000, 64, seed=0), uniform(2000, 64, seed=0)):
        distances = squared_distances(points[:50], points[50:], 1)
        shares.append(np.mean(distances.min(axis=1) / distances.mean(axis=1)))
    assert shares[0] < 0.4 and shares[1] > 0.5


# -- What the kernels do to memory, counted.


def sectors(name, array):
    """Sectors of a request to this array, on average, in 64 dimensions."""
    queries, points, k = neighbours.inputs(256)
    _, (launch, *_) = traced(neighbours.versions[name], queries[:32], points, k)
    return launch.coalescing(array).sectors_per_request


def test_who_reads_in_order():
    thread, warp, tiled = (v.name for v in ON_GPU)
    assert (sectors(thread, "queries"), sectors(thread, "points")) == (32, 1)  # all want the same
    assert (sectors(warp, "queries"), sectors(warp, "points")) == (1, 32)
    assert (sectors(tiled, "queries"), sectors(tiled, "points")) == (4, 4)


# -- Other people's answers.


@pytest.mark.parametrize(
    "count, asked, k, dim",
    [(10_000, 64, 10, 64), (300, 300, 1, 8), (5000, 64, 200, 4), (70, 9, 70, 4)],
)
def test_faiss_finds_the_same_and_keeps_the_lower_index_of_equals_too(count, asked, k, dim):
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(3)
    points, queries = (rng.integers(-3, 4, (n, dim)).astype(np.float32) for n in (count, asked))
    index = faiss.IndexFlatL2(dim)
    index.add(points)
    theirs, labels = index.search(queries, k)
    indices, distances = neighbours.versions["Numba, fused, every core"](queries, points, k)
    assert np.array_equal(distances, theirs)
    assert np.array_equal(indices, labels)


def test_scikit_learn_finds_the_same_digits():
    near = pytest.importorskip("sklearn.neighbors")
    (points, _), (queries, _) = ((x.reshape(-1, 64).astype(np.float32), y) for x, y in digits())
    fitted = near.NearestNeighbors(n_neighbors=5, algorithm="brute").fit(points.astype(np.float64))
    theirs, labels = fitted.kneighbors(queries.astype(np.float64))
    indices, distances = neighbours.versions["Numba, fused, one core"](queries, points, 5)
    assert np.array_equal(distances, np.rint(theirs**2))  # of whole numbers, but for a root
    surely = distances < distances[:, -1:]
    same = np.sort(np.where(surely, indices, -1)) == np.sort(np.where(surely, labels, -1))
    assert same.all()
