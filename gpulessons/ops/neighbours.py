"""Nearest neighbors by brute force: a product, and a selection.

    distance²(q, p) = |q|² − 2 q·p + |p|²;   neighbours(q, points, k) = the k least, nearest first

The product of all queries with all points does the arithmetic, and a matrix of queries × points is
what it leaves: 400 MB for 1,000 queries and 100,000 points, written, and read again by whoever
selects. But nobody wants to see it. Of a tile of distances, while it is close, only those count
that are below the k-th best so far: after the first few tiles, hardly any (Johnson, Douze & Jégou
2017, "Billion-scale similarity search with GPUs").

Of equal distances the lower index comes first. The op's own coordinates are small whole numbers, as
float32: every order of adding them up is then exact (each sum stays below 2²⁴), equal distances
abound, and two versions can be held to the very same indices. Of other numbers the formula above
loses what its terms have in common: two points very close and far from 0 may come out at a
distance of less than 0.
"""

from functools import partial

import numpy as np
from numba import cuda, float32, int32, njit

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .common import FULL_MASK, SERIAL, WARP, ZERO, ceil_div
from .reduce import WARPS
from .rows import warp_per_row

DIM, QUERIES, NEAREST = 64, 64, 10
FAR, NONE = np.float32(np.inf), np.int32(-1)


def clustered(count, dim, seed):
    """count points in clusters: (count, dim) float32 whole numbers, most of them within ±40.

    A cluster holds some 1,000 points, spread by 4 in every coordinate around a center; the centers
    are spread by 8. So neighbors lie close, as in most data that somebody collected. The same seed
    gives the same points. Queries of the same kind: ask for more points, and keep some back.
    """
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 8, (ceil_div(count, 1000), dim))
    around = centers[rng.integers(0, len(centers), count)]
    return np.rint(around + rng.normal(0, 4, (count, dim))).astype(np.float32)


def uniform(count, dim, seed):
    """count points anywhere: (count, dim) float32 whole numbers, evenly from −32 to 32.

    In many dimensions nobody has near neighbors: the nearest are hardly nearer than the rest, lie
    beyond almost every plane, and a forest has to visit most of its cells.
    """
    return np.random.default_rng(seed).integers(-32, 33, (count, dim)).astype(np.float32)


def queries_and_points(points, rng, queries=QUERIES, dim=DIM):
    """queries: (queries, dim), points: (points, dim), whole coordinates from −3 to 3; k = 10."""
    q, p = (rng.integers(-3, 4, (n, dim)).astype(np.float32) for n in (queries, points))
    return q, p, min(NEAREST, points)


@op(inputs=queries_and_points, sizes=(1_000, 10_000, 100_000), rtol=0, unit="points",
    flops=lambda queries, points, k: 2 * queries.size * len(points),
    edge_cases=[Case(n, queries=37, dim=41) for n in (31, 257, 70, 1)],
    signature="(queries, dim), (points, dim)")  # fmt: skip
def neighbours(queries, points, k):
    """The k points nearest to each query, nearest first; of equals, the lower index first.

    queries: (queries, dim), points: (points, dim), floats; 1 ≤ k ≤ points. Returns indices
    (queries, k) int32, and squared distances (queries, k) of their dtype. ValueError for another k;
    on the CPU for a NaN too. CUDA kernels do not look for those: NaN is near nothing, and what is
    not found has the index −1 and an infinite distance.
    """
    distances = squared_distances(queries, points, k)
    indices = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return indices.astype(np.int32), np.take_along_axis(distances, indices, axis=1)


def squared_distances(queries, points, k):
    """All of them: (queries, points). ValueError as the op says."""
    lengths = squared_lengths(queries, points, k)
    distances = queries @ (-2 * points.T)
    distances += lengths[0][:, None]
    distances += lengths[1]
    return distances


def squared_lengths(queries, points, k):
    """|q|² of each query and |p|² of each point, needed in any case; a NaN shows in them."""
    check_shapes(queries, points, k)
    lengths = [np.einsum("ij,ij->i", x, x) for x in (queries, points)]
    for what, squares in zip(("Query", "Point"), lengths, strict=True):
        if np.isnan(squares).any():
            row = np.flatnonzero(np.isnan(squares))[0]
            raise ValueError(f"{what} {row} has a coordinate that is NaN: it is near nothing.")
    return lengths


def check_shapes(queries, points, k):
    if not 1 <= k <= len(points):
        raise ValueError(f"k is from 1 to the number of points, here {len(points)}; not {k}.")
    if queries.shape[1] != points.shape[1]:
        given = f"{queries.shape[1]} and {points.shape[1]}"
        raise ValueError(f"Queries and points have as many coordinates each; here {given}.")


# -- On the CPU, with all distances in memory.


@neighbours.version("NumPy, partition", on=host)
def numpy_partition(queries, points, k, out):
    """No sorting of what is far away: the k-th least is found first, and who is within it."""
    rows = squared_distances(queries, points, k)
    for row, indices, distances in zip(rows, *out, strict=True):
        near = np.flatnonzero(row <= np.partition(row, k - 1)[k - 1])  # by index, at least k
        indices[:] = near[np.argsort(row[near], kind="stable")[:k]]
        distances[:] = row[indices]


# -- Only what is below the k-th best so far counts. The list of the best is sorted; a newcomer
# -- moves up past those that are farther. It comes later, so it has the higher index, and stays
# -- behind its equals. NumPy's product, which is BLAS, takes a few thousand points at a time; Numba
# -- selects from it while it is in the cache.

PIECE, TILE = 4096, 256  # points of a product, 1 MB of distances for 64 queries; of a look at them


@njit(**SERIAL)
def keep(distance, index, indices, distances):
    """Put it into a sorted list, in whose last place it is nearer than what stands there."""
    place = distances.size - 1
    while place > 0 and distances[place - 1] > distance:
        distances[place], indices[place] = distances[place - 1], indices[place - 1]
        place -= 1
    distances[place], indices[place] = distance, index


@njit(**SERIAL)
def any_below(row, limit):
    """Whether any of a row is: all are looked at, many at a time, which beats stopping early."""
    found = False
    for j in range(row.size):
        found |= row[j] < limit
    return found


@njit(**SERIAL)
def select(found, lengths, first, indices, distances):
    """found: −2 q·p of points first, first + 1, …; indices, distances: the best before."""
    for i in range(len(found)):
        for j in range(0, found.shape[1], TILE):
            near = found[i, j : j + TILE]
            for n in range(near.size):
                near[n] += lengths[first + j + n]
            if any_below(near, distances[i, -1]):
                for n in range(near.size):
                    if near[n] < distances[i, -1]:
                        keep(near[n], first + j + n, indices[i], distances[i])


@neighbours.version("NumPy's product, Numba's selection", on=host)
def product_and_selection(queries, points, k, out):
    (indices, distances), lengths = out, squared_lengths(queries, points, k)
    indices[:], distances[:] = NONE, FAR
    factors = -2 * queries
    for first in range(0, len(points), PIECE):
        found = factors @ points[first : first + PIECE].T
        select(found, lengths[1], first, indices, distances)
    distances += lengths[0][:, None]


# -- On the GPU: a thread per query, with its list in memory, a row apart from its neighbors'.


@cuda.jit
def thread_kernel(queries, points, indices, distances):
    i = cuda.grid(1)
    if i < queries.shape[0]:
        last = indices.shape[1] - 1
        for n in range(last + 1):
            indices[i, n], distances[i, n] = NONE, FAR
        for j in range(points.shape[0]):
            distance, c = ZERO, 0
            while c < queries.shape[1]:  # not range(): notebook 05 says why
                difference = queries[i, c] - points[j, c]
                distance += difference * difference
                c += 1
            if distance < distances[i, last]:
                place = last
                while place > 0 and distances[i, place - 1] > distance:
                    distances[i, place] = distances[i, place - 1]
                    indices[i, place] = indices[i, place - 1]
                    place -= 1
                distances[i, place], indices[i, place] = distance, j


@neighbours.version("CUDA, a thread per query", on=gpu)
def launch_thread(queries, points, k, out):
    check_shapes(queries, points, k)
    thread_kernel[ceil_div(queries.shape[0], WARP), WARP](queries, points, *out)


# -- Tiled: a warp per query, a lane to a point, and the list in the lanes' registers, lane n with
# -- the n-th best. The lanes whose point is below the last vote; then one point after another moves
# -- in, and pushes the rest on. The eight queries of a block share a tile of points, read in order.
# -- A few queries would leave most of a GPU idle, so the points are distributed too; one more
# -- kernel merges the parts.

PADDED = WARP + 1  # lanes read down a column of the tile: a bank each
BLOCKS = 1024  # enough for every GPU, several times over


@cuda.jit(device=True)
def shift_in(distance, index, best, own, lane):
    """(best, own) of this lane, after (distance, index) has found its place among the lanes'."""
    before = cuda.shfl_up_sync(FULL_MASK, best, 1)
    before_index = cuda.shfl_up_sync(FULL_MASK, own, 1)
    if best <= distance:
        return best, own
    if lane == 0 or before <= distance:
        return distance, index
    return before, before_index


@cuda.jit(device=True)
def merge_in(distance, index, k, best, own, lane):
    """The same for a distance of every lane, those of lower lanes first."""
    last = cuda.shfl_sync(FULL_MASK, best, k - 1)
    votes = cuda.ballot_sync(FULL_MASK, distance < last) & FULL_MASK  # lane 31's is no sign
    while votes != 0:
        source = cuda.ffs(votes) - 1
        votes &= votes - 1
        new = cuda.shfl_sync(FULL_MASK, distance, source)
        best, own = shift_in(new, cuda.shfl_sync(FULL_MASK, index, source), best, own, lane)
    return best, own


@cuda.jit
def tiled_kernel(queries, points, each, indices, distances):
    """Block (b, part): queries 8 b to 8 b + 7, points each × part and on. indices: (parts, queries,
    k)."""
    tile = cuda.shared.array((WARP, PADDED), float32)
    lane, warp, part = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    i, dim, k = cuda.blockIdx.x * WARPS + warp, queries.shape[1], indices.shape[2]
    best, own = FAR, NONE
    last = min(points.shape[0], (part + 1) * each)
    for start in range(part * each, last, WARP):
        distance = ZERO
        for c in range(0, dim, WARP):
            cuda.syncthreads()  # everybody is done with the tile before
            for row in range(warp, WARP, WARPS):
                inside = start + row < last and c + lane < dim
                tile[row, lane] = points[start + row, c + lane] if inside else ZERO
            cuda.syncthreads()
            mine = queries[i, c + lane] if i < queries.shape[0] and c + lane < dim else ZERO
            for n in range(WARP):
                difference = cuda.shfl_sync(FULL_MASK, mine, n) - tile[lane, n]
                distance += difference * difference
        distance = distance if start + lane < last else FAR
        best, own = merge_in(distance, int32(start + lane), k, best, own, lane)
    if i < queries.shape[0] and lane < k:
        indices[part, i, lane], distances[part, i, lane] = own, best


@cuda.jit
def merge_kernel(part_indices, part_distances, indices, distances):
    """A warp per query puts the parts' lists together, in order."""
    i, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if i >= indices.shape[0]:
        return
    best, own, k = FAR, NONE, indices.shape[1]
    for part in range(part_indices.shape[0]):
        distance, index = FAR, NONE
        if lane < k:
            distance, index = part_distances[part, i, lane], part_indices[part, i, lane]
        best, own = merge_in(distance, index, k, best, own, lane)
    if lane < k:
        indices[i, lane], distances[i, lane] = own, best


@neighbours.version("CUDA, shared tiles of points", on=gpu, prepares=True)
def launch_tiled(queries, points, k, out):
    check_shapes(queries, points, k)
    if k > WARP:
        return partial(launch_thread, queries, points, k, out)
    (count, _), blocks = queries.shape, ceil_div(queries.shape[0], WARPS)
    each = max(2 * WARP, ceil_div(points.shape[0] * blocks, BLOCKS))
    parts = ceil_div(points.shape[0], each)
    lists = gpu.empty((parts, count, k), np.int32), gpu.empty((parts, count, k), np.float32)

    def call():
        tiled_kernel[(blocks, parts), (WARP, WARPS)](queries, points, each, *lists)
        merge_kernel[warp_per_row(count)](*lists, *out)

    return call


# -- PyTorch. Its topk leaves open which of several equals it takes: they are counted out by index.


@neighbours.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@neighbours.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(queries, points, k):
    import torch

    check_shapes(queries, points, k)

    def call():
        lengths = [(x * x).sum(1) for x in (queries, points)]
        distances = torch.addmm(lengths[1], queries, points.T, alpha=-2)
        distances += lengths[0][:, None]
        limit = distances.topk(k, largest=False).values[:, -1:]
        below, equal = distances < limit, distances == limit
        taken = below | equal & (equal.cumsum(1) <= k - below.sum(1, keepdim=True))
        near = taken.nonzero()[:, 1].reshape(-1, k)  # by index
        order = distances.gather(1, near).argsort(dim=1, stable=True)
        indices = near.gather(1, order)
        return indices.to(torch.int32), distances.gather(1, indices)

    return call
