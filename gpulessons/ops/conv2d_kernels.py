"""The convolution's CUDA kernels: a thread per output, then a block that shares what it fetched.

In the first, every multiplication fetches both its factors. The second is compiled for the size of
its filter and for its stride, as a library's is: loops of known length can be unrolled, and shared
arrays must have a known size.
"""

from numba import cuda, float32

THREADS = 256


@cuda.jit
def direct_kernel(x, w, stride, padding, out):
    n = cuda.grid(1)
    if n < out.size:
        j, i = n % out.shape[3], n // out.shape[3] % out.shape[2]
        f = n // out.shape[3] // out.shape[2] % out.shape[1]
        b = n // out.shape[3] // out.shape[2] // out.shape[1]
        total = float32(0)
        for c in range(w.shape[1]):
            for ky in range(w.shape[2]):
                for kx in range(w.shape[3]):
                    row, column = stride * i + ky - padding, stride * j + kx - padding
                    if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                        total += w[f, c, ky, kx] * x[b, c, row, column]
        out[b, f, i, j] = total


LANES, WARPS, EACH = 32, 4, 4  # a warp lies along a row of outputs; each thread makes four rows
ROWS = WARPS * EACH
FILTERS = 8  # each number that a thread takes from the patch serves eight filters


def tiles_kernel(high, wide, stride):
    """16 rows by 32 columns of outputs, of eight filters: 32 sums a thread, kept in registers."""
    taps = high * wide
    weights_size = FILTERS * taps
    reach = LANES + (wide - 1) // stride  # columns of the patch that are a stride apart
    width = stride * reach
    patch_size = ((ROWS - 1) * stride + high) * width
    sums_size = FILTERS * EACH

    @cuda.jit
    def tiles(x, w, padding, out):
        patch = cuda.shared.array(patch_size, float32)
        weights = cuda.shared.array(weights_size, float32)
        sums = cuda.local.array(sums_size, float32)
        groups = (out.shape[1] + FILTERS - 1) // FILTERS
        b, first = cuda.blockIdx.z // groups, cuda.blockIdx.z % groups * FILTERS
        lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
        left, above = cuda.blockIdx.x * LANES, cuda.blockIdx.y * ROWS
        thread = warp * LANES + lane
        for k in range(FILTERS * EACH):
            sums[k] = float32(0)
        for c in range(x.shape[1]):
            for n in range(thread, patch_size, LANES * WARPS):
                # Sorted by remainder: lanes will read neighbors, in 32 banks, at any stride.
                row = above * stride + n // width - padding
                column = (left + n % reach) * stride + n // reach % stride - padding
                inside = 0 <= row < x.shape[2] and 0 <= column < x.shape[3]
                patch[n] = x[b, c, row, column] if inside else float32(0)
            for n in range(thread, weights_size, LANES * WARPS):
                f, tap = first + n // taps, n % taps
                weights[n] = w[f, c, tap // wide, tap % wide] if f < w.shape[0] else float32(0)
            cuda.syncthreads()  # patch and weights are complete
            for ky in range(high):
                for kx in range(wide):
                    for r in range(EACH):
                        row = (warp * EACH + r) * stride + ky
                        pixel = patch[row * width + kx % stride * reach + kx // stride + lane]
                        for f in range(FILTERS):
                            sums[f * EACH + r] += weights[f * taps + ky * wide + kx] * pixel
            cuda.syncthreads()  # nobody needs them any more
        for f in range(FILTERS):
            for r in range(EACH):
                i, j = above + warp * EACH + r, left + lane
                if first + f < out.shape[1] and i < out.shape[2] and j < out.shape[3]:
                    out[b, first + f, i, j] = sums[f * EACH + r]

    return tiles
