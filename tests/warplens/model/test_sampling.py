"""A few blocks and iterations tell of a whole launch: their counts against those of all of it."""

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons.backends import gpu
from gpulessons.ops.matmul import matmul
from gpulessons.ops.transpose import transpose
from warplens import trace, tracing
from warplens.model.sampling import ITERATIONS, chosen, sampled


def zeros(*shape):
    return np.zeros(shape, np.float32)


def counts(found):
    """What a trace counts, site by site: all that the model is made from."""
    sites = {
        (s.function, s.line, s.array, s.access): (s.requests, s.accesses, s.sectors, s.wavefronts)
        for s in found.sites
    }
    branches = {(b.function, b.line): (b.instances, b.divergent) for b in found.branches}
    code = {(c.function, c.line): (c.slots, c.active) for c in found.code}
    return sites, branches, code, found.flops_by_line


def agree(kernel, sizes, *arguments, iterations=ITERATIONS):
    """The sampled trace, which must count what the full one does."""
    whole = trace(kernel)[sizes](*arguments)
    some = trace(kernel, iterations=iterations)[sizes](*arguments)
    assert counts(some) == counts(whole)
    return some


def turned(found):
    """How many iterations of its loops were really run: the entries of the busiest site."""
    return max(len(entries) for entries in found.launch.log.sites.values())


# -- Turns.


def agree_on_an_op(version, iterations, *arguments):
    """Every launch of a version counts sampled what it counts in full."""
    whole, some = [], []
    for traces, each in ((whole, None), (some, iterations)):
        with tracing(iterations=each) as launches:
            version(*map(version.backend.put, arguments))
        traces += launches
    assert [counts(one) for one in some] == [counts(one) for one in whole]
    return whole[0].launch.log.clock, some[0].launch.log.clock


def cuda_versions(op):
    return [v for v in op.versions.values() if v.backend is gpu and "tensor" not in v.name]


@pytest.mark.nightly
def test_each_product_of_the_ladder_counts_sampled_what_it_counts_in_full():
    for version in cuda_versions(matmul):
        whole, some = agree_on_an_op(version, 4, zeros(128, 96), zeros(96, 128))
        assert some < 0.7 * whole


def test_transposes_count_sampled_what_they_count_in_full():
    for version in cuda_versions(transpose):
        agree_on_an_op(version, ITERATIONS, zeros(70, 130))


def row_kernel(x, out):
    i, total = cuda.grid(1), float32(0)
    for k in range(x.shape[1]):
        total += x[i, k]
    out[i] = total


def test_however_long_a_loop_is_its_turns_add_up():
    # 8 floats of a row are a sector: of 32 rows, each request has 32 of them.
    for length in (47, 48, 65, 200):
        with tracing():
            rows = cuda.to_device(zeros(128, 1000))[:, :length]
        found = agree(row_kernel, (2, 64), rows, zeros(128))
        assert turned(found) == (length if length < 3 * ITERATIONS else ITERATIONS + 1) * 2


def test_a_loop_that_each_thread_turns_as_often_as_it_likes_is_sampled_too():
    def triangle_kernel(x, out):
        i = cuda.grid(1)
        for _ in range(i, x.size // 4 * (i % 4) - i, 1 + i % 2):
            out[i] += x[i]

    found = agree(triangle_kernel, (2, 64), zeros(4000), zeros(128))
    assert turned(found) < 2000  # of 3,928


def test_loops_within_loops_count_as_often_as_both_turn():
    def nested_kernel(x, out):
        i, total = cuda.threadIdx.x, float32(0)
        for row in range(x.shape[0]):
            for k in range(x.shape[1]):
                total += x[row, k] * float32(2)
        out[i] = total

    found = agree(nested_kernel, (1, 32), zeros(60, 80), zeros(32))
    assert found.flops == 32 * 60 * 80 * 2
    outer = ITERATIONS // 8 + 1  # whose turns are long
    assert turned(found) == outer * (ITERATIONS + 1)


def leaving_by_break(x, out):
    for k in range(100):
        if x[k] > 0:
            break
        out[0] = 1


def leaving_by_return(x, out):
    for k in range(100):
        if x[k] > 0:
            return
        out[0] = 1


def asking_something_else(x, out):
    k = 0
    while x[k] < 1:
        out[0] = x[k]
        k += 1


def test_a_loop_that_may_end_early_is_run_to_its_end():
    x = zeros(200)
    x[95] = 1
    for kernel in (leaving_by_break, leaving_by_return, asking_something_else):
        found = agree(kernel, (1, 32), x, zeros(1))
        assert turned(found) >= 96  # all of them, up to the one at 95


def test_a_device_function_in_a_sampled_loop_counts_as_often_as_the_loop_turns():
    @cuda.jit(device=True)
    def dot_of_three(x, k):
        total = float32(0)
        for j in range(3):
            total += x[k, j] * x[k, j]
        return total

    @cuda.jit
    def calling_kernel(x, out):
        total = float32(0)
        for k in range(x.shape[0]):
            total += dot_of_three(x, k)
        out[cuda.threadIdx.x] = total

    x = zeros(200, 3)
    found = agree(calling_kernel, (1, 32), x, zeros(32))
    assert found.flops == 32 * 200 * (3 * 2 + 1)
    (read,) = [line for line in sampled(found).lines if line.array == "x"]
    assert read.requests == 200 * 3  # of x[k, j] * x[k, j] the compiler reads one
    assert "dot_of_three(x, k)" in found.source.splitlines()[read.line - found.first_line]


def test_of_launches_that_are_alike_a_few_stand_for_all():
    kernel = cuda.jit(row_kernel)
    with tracing(alike=2) as launches:
        for _ in range(7):
            kernel[1, 64](zeros(64, 8), zeros(64))
        kernel[1, 32](zeros(64, 8), zeros(64))  # another block
        kernel[1, 64](zeros(64, 9), zeros(64))  # another shape
    first, second, *others, narrow, long = launches
    assert [one is first for one in others] == [True, False, True, False, True]
    assert all(one is first or one is second for one in others)
    assert (narrow.threads, long.coalescing("x").requests) == (32, 2 * 9)


def test_a_while_loop_whose_step_or_bound_changes_is_run_in_full():
    def doubling_kernel(x, out):
        total, k, step = float32(0), 0, 1
        while k < x.size:
            total += x[k]
            step += step
            k += step
        out[0] = total

    def meeting_kernel(x, out):
        total, low, high = float32(0), 0, x.size
        while low < high:
            total += x[low]
            high -= 2
            low += 1
        out[0] = total

    for kernel in (doubling_kernel, meeting_kernel):
        full, some = (trace(kernel, iterations=t)[1, 32](zeros(600), zeros(1)) for t in (None, 4))
        assert some.flops == full.flops


# -- Blocks.


def test_a_block_in_the_middle_is_chosen_and_its_neighbors():
    assert chosen((1, 1, 1)) == [(0, 0, 0)]
    assert chosen((9, 1, 1)) == [(4, 0, 0), (5, 0, 0)]
    assert chosen((9, 5, 1)) == [(4, 2, 0), (5, 2, 0), (4, 3, 0)]
    assert chosen((2, 2, 2)) == [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert chosen((1, 4, 1)) == [(0, 1, 0), (0, 2, 0)]


def of_three_blocks(kernel, grid, block, *arguments):
    grid = (*grid, 1, 1)[:3]
    few = trace(kernel, blocks=chosen(grid), iterations=ITERATIONS)
    return sampled(few[grid, block](*arguments))


def union(sample, name, access):
    """The distinct sectors of the whole grid."""
    (memory,) = {x.memory for x in sample.lines if x.array == name}
    (found,) = [f for f in sample.footprints if (f.memory, f.access) == (memory, access)]
    return found.union(sample.trace.grid)


def counted(kernel, grid, block, name, access, *arguments):
    """The same, counted place by place in a trace of all blocks."""
    found = trace(kernel)[grid, block](*arguments)
    return len({
        int(place) * site.array.step // 32
        for site, entries in found.launch.log.sites.items()
        if (site.array.name, site.access) == (name, access)
        for entry in entries
        for place in entry.place
    })  # fmt: skip


def product_kernel(x, y, out):
    j, i = cuda.grid(2)
    total = float32(0)
    for k in range(x.shape[1]):
        total += x[i, k] * y[k, j]
    out[i, j] = total


def test_blocks_of_a_product_share_their_rows_and_columns():
    grid, depth = (4, 3), 64
    x, y = zeros(16 * grid[1], depth), zeros(depth, 16 * grid[0])
    arguments = x, y, zeros(16 * grid[1], 16 * grid[0])
    sample = of_three_blocks(product_kernel, grid, (16, 16), *arguments)
    for name, access in (("x", "read"), ("y", "read"), ("out", "write")):
        true = counted(product_kernel, grid, (16, 16), name, access, *arguments)
        assert union(sample, name, access) == pytest.approx(true, rel=1e-9)
    assert union(sample, "x", "read") == x.nbytes / 32


def invert_kernel(x, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = 255 - x[i, j]


def blur_kernel(x, out):
    j, i = cuda.grid(2)
    if 0 < i < out.shape[0] - 1 and 0 < j < out.shape[1] - 1:
        out[i, j] = (x[i, j - 1] + x[i, j + 1] + x[i - 1, j] + x[i + 1, j]) // 4


@pytest.mark.parametrize("kernel", [invert_kernel, blur_kernel])
@pytest.mark.parametrize(("side", "columns"), [(16, 512), (16, 496), (8, 512), (8, 504), (24, 768)])
def test_blocks_narrower_than_a_sector_share_theirs_with_either_neighbor(kernel, side, columns):
    grid = columns // side, 6
    image = np.zeros((6 * side, columns), np.uint8)
    sample = of_three_blocks(kernel, grid, (side, side), image, image.copy())
    for name, access in (("x", "read"), ("out", "write")):
        true = counted(kernel, grid, (side, side), name, access, image, image.copy())
        assert union(sample, name, access) == pytest.approx(true, rel=0.1)
    (written,) = [f for f in sample.footprints if f.access == "write"]
    part = columns * 2 * side / 32  # of the image, that two rows of blocks write
    assert written.union((grid[0], 2, 1)) == pytest.approx(part, rel=0.1)


def test_views_of_one_memory_have_one_footprint():
    def add_kernel(upper, lower, out):
        i = cuda.grid(1)
        out[i] = upper[i] + lower[i]

    with tracing(blocks=chosen) as launches:
        x = cuda.to_device(zeros(2, 640))
        cuda.jit(add_kernel)[10, 64](x[0], x[1], cuda.to_device(zeros(640)))
    sample = sampled(launches[0])
    assert [(f.access, f.sectors) for f in sample.footprints] == [("read", 16), ("write", 8)]
    assert sample.array_bytes == 2 * 4 * 640  # as far as the launch names them: upper and out


