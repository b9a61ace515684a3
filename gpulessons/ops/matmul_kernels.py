"""The ladder of the matrix product on a GPU: each kernel adds one idea to the one before.

out (m, n) = x (m, k) times y (k, n), float32, any shape: what lies outside a matrix counts as zero.
Behind each name, what one multiply-add costs in reads, of global memory and of shared memory.
"""

from numba import cuda, float32

T = 16  # a tile is T by T, and so is a block of threads: one result each
T_TURNED = T + 2  # rows this long put the column of a tile into different banks


@cuda.jit
def naive_kernel(x, y, out):
    """2 global. A thread per result, threadIdx.x down the rows: a warp reads 16 rows at a time."""
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(x.shape[1]):
            total += x[i, k] * y[k, j]
        out[i, j] = total


@cuda.jit
def coalesced_kernel(x, y, out):
    """2 global. threadIdx.x along a row: the same reads, but a warp's are neighbors."""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(x.shape[1]):
            total += x[i, k] * y[k, j]
        out[i, j] = total


@cuda.jit
def tile_kernel(x, y, out):
    """1/8 global, 2 shared. A block fetches a tile of x and one of y; all its threads use both."""
    xs = cuda.shared.array((T, T), float32)
    ys = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, depth), n = x.shape, y.shape[1]
    total = float32(0)
    for start in range(0, depth, T):
        xs[ty, tx] = x[i, start + tx] if i < m and start + tx < depth else float32(0)
        ys[ty, tx] = y[start + ty, j] if start + ty < depth and j < n else float32(0)
        cuda.syncthreads()  # both tiles are complete
        for k in range(T):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()  # and have been read by all, before the next two
    if i < m and j < n:
        out[i, j] = total


def layer_kernel(finish):
    """tile_kernel for a layer of a network: out = finish(x wᵀ + b), in one pass over memory.

    x: (examples, inputs), w: (outputs, inputs), b: (outputs,), out: (examples, outputs); `finish`
    is a device function of one number, the activation. Blocks of (T, T) threads, as tile_kernel's.
    A tile of w is read along its rows, like all that is coalesced, and turned on its way in.
    """

    @cuda.jit
    def layer(x, w, b, out):
        xs = cuda.shared.array((T, T), float32)
        ws = cuda.shared.array((T, T_TURNED), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.grid(2)
        (m, depth), n, row = x.shape, w.shape[0], cuda.blockIdx.x * T + ty
        total = float32(0)
        for start in range(0, depth, T):
            xs[ty, tx] = x[i, start + tx] if i < m and start + tx < depth else float32(0)
            ws[tx, ty] = w[row, start + tx] if row < n and start + tx < depth else float32(0)
            cuda.syncthreads()
            for k in range(T):
                total += xs[ty, k] * ws[k, tx]
            cuda.syncthreads()
        if i < m and j < n:
            out[i, j] = finish(total + b[j])  # while the number is at hand

    return layer
