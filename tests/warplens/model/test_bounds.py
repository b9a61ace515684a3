"""Each bound against arithmetic done here, by hand, for a copy and for a product."""

import math
from collections import defaultdict

import numpy as np
import pytest
from numba import cuda, float32

from warplens import trace, tracing
from warplens.model.bounds import ONE_WAY, STARTS, TURNOVER, bounds, latency
from warplens.model.costs import Cost, line_clocks, path_clocks, unit_clocks
from warplens.model.devices import named
from warplens.model.sampling import ITERATIONS, chosen, sampled

A100, T4 = named("A100"), named("T4")


def zeros(*shape):
    return np.zeros(shape, np.float32)


def sample_of(kernel, grid, block, *arguments):
    grid = (*grid, 1, 1)[:3]
    few = trace(kernel, blocks=chosen(grid), iterations=ITERATIONS)
    return sampled(few[grid, block](*arguments))


def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


def product_kernel(x, y, out):
    j, i = cuda.grid(2)
    total = float32(0)
    for k in range(x.shape[1]):
        total += x[i, k] * y[k, j]
    out[i, j] = total


def of_copy(gpu, blocks, resident=8):
    sample = sample_of(copy_kernel, (blocks,), 256, zeros(256 * blocks), zeros(256 * blocks))
    return bounds(gpu, sample, Cost({"issue slots": 5.0}, 1000.0), resident)


def test_a_copy_moves_each_byte_once_through_dram_and_l2():
    blocks = 100_000
    moved = 2 * 4 * 256 * blocks
    found = of_copy(A100, blocks)
    assert found["DRAM"] == pytest.approx(moved / (1555e9 * 0.89))
    assert found["L2"] == pytest.approx(moved / A100.l2_rate)


def test_the_busiest_multiprocessor_has_whole_blocks():
    warps = 8  # of a block
    for blocks, most in ((108, 1), (109, 2), (216, 2), (217, 3)):
        assert of_copy(A100, blocks)["issue slots"] == pytest.approx(most * warps * 5 / 1.41e9)


def test_latency_is_one_walk_and_one_turnover_for_each_wave():
    for blocks, waves in ((1, 1), (864, 1), (865, 2), (8640, 10)):  # 108 × 8 are a wave
        found = of_copy(A100, blocks)
        waiting = waves * (1000 + TURNOVER) / 1.41e9
        assert found["latency"] == pytest.approx(waiting + found["L2"])  # and its bytes come
    found = of_copy(A100, 864, resident=4)
    assert found["latency"] == pytest.approx(2 * (1000 + TURNOVER) / 1.41e9 + found["L2"])


def test_blocks_begin_at_the_rate_of_the_whole_gpu():
    for gpu in (A100, T4):
        found = of_copy(gpu, 100_000)
        assert found["block starts"] == pytest.approx(100_000 / (STARTS * gpu.boost))


def test_memory_is_faster_where_all_is_read_or_all_is_written():
    def fill_kernel(out):
        out[cuda.grid(1)] = 1

    def sum_kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = x[i] + y[i]

    n, cost = 256 * 100_000, Cost({}, 1.0)
    for kernel, arrays, share in ((fill_kernel, 1, ONE_WAY), (copy_kernel, 2, 0.89),
                                  (sum_kernel, 3, (2 * 0.89 + ONE_WAY) / 3)):  # fmt: skip
        sample = sample_of(kernel, (100_000,), 256, *(zeros(n) for _ in range(arrays)))
        found = bounds(A100, sample, cost, 8)["DRAM"]
        assert found == pytest.approx(4 * n * arrays / (1555e9 * share))


@pytest.mark.parametrize("size", [1024, 4096])
def test_a_product_reads_from_l2_what_each_block_needs_and_from_dram_what_a_wave_does(size):
    grid = size // 32, size // 32
    arguments = zeros(size, size), zeros(size, size), zeros(size, size)
    sample = sample_of(product_kernel, grid, (32, 32), *arguments)
    found = bounds(A100, sample, Cost({}, 1.0), resident=2)
    blocks = math.prod(grid)
    a_block = 4 * (32 * size + size * 32 + 32 * 32)  # rows of x, columns of y, its result
    assert found["L2"] == pytest.approx(blocks * a_block / A100.l2_rate, rel=0.01)
    once = 4 * 3 * size * size
    if size == 1024:  # 12 MiB fit into 40 MiB of L2
        expected, written = once, 1 / 3
    else:  # 216 blocks at a time: 128 along x, and into the second row
        along, down = 128, 216 / 128
        a_wave = 4 * size * 32 * (along + down)
        expected = a_wave * blocks / 216 + 4 * size * size
        written = 4 * size * size / expected
    share = 2 * written * 0.89 + (1 - 2 * written) * ONE_WAY
    assert found["DRAM"] == pytest.approx(expected / (1555e9 * share), rel=0.01)


def test_a_load_that_finds_its_lines_in_no_cache_waits_for_dram():
    big = sample_of(copy_kernel, (100_000,), 256, zeros(25_600_000), zeros(25_600_000))
    (read,) = [line for line in big.lines if line.access == "read"]
    assert latency(A100, big, 8, read).beside(0) == pytest.approx(A100.dram_latency)


def test_a_load_of_what_other_blocks_fetched_waits_for_l2_and_its_own_again_for_l1():
    def again_kernel(table, out):
        i, total = cuda.grid(1), float32(0)
        for _ in range(10):
            total += table[cuda.threadIdx.x]
        out[i] = total

    sample = sample_of(again_kernel, (1000,), 256, zeros(256), zeros(256_000))
    (read,) = [line for line in sample.lines if line.access == "read"]
    expected = 0.9 * A100.l1_latency + 0.1 * A100.l2_latency  # nine of ten are its own
    assert latency(A100, sample, 8, read).beside(0) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("gpu", "fp32", "integer"), [
    ("A100", 32 * 150 / (64 * 0.98), 32 * 40 / 64),
    ("RTX 3090", 32 * (150 + 40) / (128 * 0.85), 32 * 40 / 64),  # lanes that do both
    ("H100", 32 * 150 / (128 * 0.85), 32 * 40 / 64),
])  # fmt: skip
def test_units_take_their_instructions_over_their_lanes(gpu, fp32, integer):
    count = defaultdict(float, {"fp32": 100, "imad": 50, "alu": 40, "sfu": 2, "load/store": 8})
    found = unit_clocks(named(gpu), count)
    assert found["FP32"] == pytest.approx(fp32)
    assert found["integer"] == pytest.approx(integer)
    assert found["SFU"] == pytest.approx(32 * 2 / 16)
    assert found["issue slots"] == 200 / 4
    assert found["FP64"] == 0


@pytest.mark.parametrize(("step", "tags", "fronts"), [(1, 1, 1), (8, 2, 8), (32, 8, 32), (33, 8, 1),
                                                      (64, 8, 32), (128, 8, 32)])  # fmt: skip
def test_a_request_takes_the_path_for_its_lines_its_wavefronts_or_its_threads(step, tags, fronts):
    def gather_kernel(x, step, out):
        i = cuda.grid(1)
        out[i] = x[i * step]

    sample = sample_of(gather_kernel, (1,), 32, zeros(32 * step), step, zeros(32))
    (read,) = [line for line in sample.lines if line.access == "read"]
    assert (read.tags, read.wavefronts[0]) == (tags, fronts)
    for gpu, lanes in ((A100, 32), (T4, 16)):
        assert line_clocks(gpu, read, {}) == max(tags, fronts, 32 / lanes)


def test_reads_that_the_compiler_joins_look_up_their_lines_once():
    def rows_kernel(x, out):
        row, total = cuda.grid(1), float32(0)
        for k in range(4):
            total += x[row, k]
        out[row] = total

    with tracing() as launches:
        rows = cuda.to_device(zeros(32, 36))[:, :4]
        cuda.jit(rows_kernel)[1, 32](rows, zeros(32))
    (read,) = [line for line in sampled(launches[0]).lines if line.access == "read"]
    apart, joined = (
        line_clocks(A100, read, {(read.line, "global", "read", size): 16 / size})
        for size in (4, 16)
    )
    # 32 rows of 9 × 16 bytes: each request of 4 names all lines and falls on 8 banks.
    assert (apart, joined) == (4 * read.tags / 4, max(read.tags / 4, 4))


# te42kyfo/gpu-benches, commit 1c36d509, gpu-strides/a100.txt, a40.txt, h200.txt: clocks of a warp's
# read that hits L1, where thread t reads number (t % 64) × stride of float32 or float64. The A40 is
# the RTX A6000's chip; its float64 wait for its two FP64 lanes.
STRIDES = {
    ("A100", 4): {1: 1.02, 2: 2, 3: 1.63, 4: 4, 5: 2.2, 8: 8, 9: 3.03, 12: 4, 17: 5.1, 24: 8,
                  32: 32, 33: 8.8, 43: 9, 63: 8.8, 64: 32},
    ("A100", 8): {0: 2.01, 1: 2.01, 3: 2.42, 8: 16, 15: 8, 17: 8.9, 21: 9.3},
    ("RTX A6000", 4): {1: 2, 3: 2, 4: 4, 5: 2.2, 8: 8, 9: 3.03, 32: 32, 33: 8.8, 43: 9},
    ("H200", 4): {1: 1.01, 2: 2.01, 3: 1.63, 4: 4.01, 5: 2, 7: 2.41, 8: 8, 9: 3, 13: 4.1, 15: 4.6},
    ("H200", 8): {0: 2.01, 1: 2.01, 3: 2.32, 4: 8, 8: 16, 9: 5.3, 15: 8},
}  # fmt: skip


@pytest.mark.parametrize(("gpu", "size"), STRIDES)
def test_strided_reads_that_hit_l1_take_the_clocks_that_others_measured(gpu, size):
    def strides_kernel(x, stride, out):
        t = cuda.threadIdx.x
        first = (t % 64) * stride
        for k in range(8):
            out[t] += x[first + 4 * k]

    for stride, clocks in STRIDES[gpu, size].items():
        x, out = np.zeros(64 * 64 + 32, f"f{size}"), np.zeros(1024, f"f{size}")
        sample = sample_of(strides_kernel, (1,), 1024, x, stride, out)
        (read,) = [line for line in sample.lines if line.array == "x"]
        one = line_clocks(named(gpu), read, {}) / read.requests
        assert one == pytest.approx(clocks, rel=0.13), stride


def test_a_bank_conflict_takes_its_wavefronts():
    def conflict_kernel(step, out):
        tile = cuda.shared.array(1024, float32)
        out[cuda.threadIdx.x] = tile[cuda.threadIdx.x * step]

    for step, ways in ((1, 1), (2, 2), (16, 16), (32, 32)):
        sample = sample_of(conflict_kernel, (1,), 32, step, zeros(32))
        assert path_clocks(A100, sample, {}) == ways + 1  # and what it writes
