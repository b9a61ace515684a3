"""Attention: against float64 and PyTorch, by its laws, at any tile size; and broken on purpose."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulessons import check, peak_memory
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.ops import attention as lesson
from gpulessons.ops.attention import attention, numpy_tiled
from warplens import tracing
from warplens.code.cuda import assembly

# (heads, queries, keys, head size): one of each; more queries than keys, and fewer; odd widths.
SHAPES = ((1, 1, 1, 1), (2, 1, 9, 5), (3, 9, 1, 4), (1, 70, 41, 7), (2, 5, 40, 33), (1, 10, 20, 72))
LONG = ((1, 131, 140, 7), (2, 64, 257, 16), (1, 200, 70, 40))  # than a tile of queries or keys
FULL, CAUSAL = False, True


def named(*backends):
    versions = [v for v in attention.versions.values() if v.backend in backends]
    return pytest.mark.parametrize("version", versions, ids=lambda v: v.name)


both = pytest.mark.parametrize("causal", (FULL, CAUSAL), ids=("full", "causal"))


def run(version, q, k, v, causal):
    """A version's answer; a GPU's in the microscope."""
    put, get = version.backend.put, version.backend.get
    if version.backend is not gpu:
        return get(version(*map(put, (q, k, v)), causal))
    with tracing():
        return get(version(*map(put, (q, k, v)), causal))


def problem(count, length, keys, width, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    shapes = ((count, length, width), (count, keys, width), (count, keys, width))
    q, k, v = (rng.standard_normal(shape, np.float32) for shape in shapes)
    return q * np.float32(scale), k, v


def assert_right(version, *inputs, rtol=1e-5):
    got = run(version, *inputs)
    assert attention.error(got, attention.reference(*inputs)) <= rtol


@both
@named(host, torch_cpu, gpu)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_is_right_at_any_shape(version, shape, causal):
    assert_right(version, *problem(*shape, seed=shape[3]), causal)


@both
@named(host, torch_cpu)
@pytest.mark.parametrize("shape", LONG, ids=str)
def test_it_is_right_beyond_one_tile(version, shape, causal):
    assert_right(version, *problem(*shape), causal)


@both
def test_the_specification_is_pytorch_s_definition(causal):
    q, k, v = (torch.tensor(x, dtype=torch.float64) for x in problem(2, 13, 9, 6))
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    assert np.allclose(attention(*(x.numpy() for x in (q, k, v)), causal), want, rtol=1e-12)


@named(host, torch_cpu, gpu)
def test_scores_of_hundreds_pick_one_value(version):
    """One key each scores 300 / sqrt(1), the others -300."""
    q, k = np.full((1, 40, 1), 300, np.float32), np.full((1, 40, 1), -1, np.float32)
    k[0, 17] = 1
    v = np.arange(40, dtype=np.float32).reshape(1, 40, 1)
    assert np.all(run(version, q, k, v, FULL) == 17)
    assert np.allclose(run(version, q, k, v, CAUSAL)[0, :17, 0], np.arange(17) / 2, rtol=1e-5)


@named(host, torch_cpu)
@settings(max_examples=10)
@given(seed=st.integers(0, 99), keys=st.integers(1, 150))
def test_the_order_of_the_keys_does_not_matter(version, seed, keys):
    q, k, v = problem(2, 5, keys, 8, seed, scale=3)
    order = np.random.default_rng(seed).permutation(keys)
    got = run(version, q, k[:, order], v[:, order], FULL)
    assert np.abs(got - run(version, q, k, v, FULL)).max() < 1e-5


@named(host, torch_cpu)
@settings(max_examples=10)
@given(seed=st.integers(0, 99), seen=st.integers(1, 79))
def test_what_comes_later_changes_nothing_before_it(version, seed, seen):
    q, k, v = problem(1, 80, 80, 4, seed)
    before = run(version, q, k, v, CAUSAL)[:, :seen]
    k[:, seen:], v[:, seen:] = 100, -100
    assert np.abs(run(version, q, k, v, CAUSAL)[:, :seen] - before).max() < 1e-6


@named(host, torch_cpu, gpu)
def test_equal_keys_give_the_mean_of_the_values(version):
    q, k, v = problem(1, 9, 30, 12)
    got = run(version, q, np.zeros_like(k), v, FULL)
    assert np.abs(got - v.mean(axis=1, keepdims=True)).max() < 1e-6


def test_keys_and_values_that_do_not_fit_are_refused_before_anybody_writes_past_them():
    """NumPy would stretch one head over four, and take values of any width."""
    q, k, v = problem(4, 5, 6, 8)
    for misfit in ((q, k[:1], v[:1]), (q, k, v[:, :, :3]), (q, k, v[:, :4]), (q[0], k[0], v[0])):
        for name in ("Numba, tiled, every core", "CUDA, tiled"):
            with tracing(), pytest.raises(ValueError, match=r"takes arrays of shapes \(heads, len"):
                attention.versions[name](*misfit, FULL)


@both
@pytest.mark.parametrize("tile", (1, 2, 7, 36, 37, 38, 1000))
def test_tiled_equals_naive_at_every_tile_size(tile, causal):
    inputs = *problem(2, 37, 37, 8, scale=5), causal
    out = np.empty_like(inputs[0])
    numpy_tiled(*inputs, out, tile=tile)
    assert attention.error(out, attention.reference(*inputs)) < 5e-6


def test_the_memory_of_all_scores_grows_with_the_square_and_of_a_tile_with_the_length():
    def growth(name):
        small, large = (peak_memory(attention.versions[name], *attention.inputs(n))
                        for n in (256, 1024))  # fmt: skip
        return large / small

    assert 15 < growth("NumPy") < 17
    assert 3.8 < growth("NumPy, tiled") < 4.2
    assert growth("Numba, tiled, every core") < 6  # the result, and a few tiles for each core


def test_peak_memory_counts_what_numpy_and_numba_hold_at_once_and_refuses_others():
    x = attention.inputs(64)
    for name in ("NumPy, tiled", "Numba, tiled, every core"):
        assert peak_memory(attention.versions[name], *x) > x[0].nbytes
    with pytest.raises(ValueError, match="host"):
        peak_memory(attention.versions["PyTorch, fused, CPU"], *x)


# -- The tiled kernel: any head size has a group of lanes, whose registers suffice.


@pytest.mark.parametrize("width", (*range(1, 70), 96, 127, 128, 256, 511, 512, 1000))
def test_a_lane_group_covers_its_head_in_loads_of_sixteen_bytes(width):
    lanes, part = lesson.lane_group(width)
    assert lanes * part >= width and part % 4 == 0 and 32 % lanes == 0
    assert lanes == 1 or lanes * part < 2 * width + 32


@pytest.mark.parametrize("width", (8, 64, 128, 256))
def test_nothing_spills_at_the_usual_head_sizes(width, capability=(7, 5)):
    """Of the compilers, that for 7.5 is the one that needs most registers."""
    q = np.zeros((1, 4, width), np.float32)
    kernel = lesson.tiled_kernel(*lesson.lane_group(width))
    compiled = assembly(kernel, q, q, q, False, np.float32(1), q, capability=capability)
    assert compiled.spills == 0 and compiled.doubles == () and compiled.shared <= 48 * 1024
    assert ".local" not in compiled.ptx  # what is indexed in a loop may end up in memory, too
    assert compiled.ptx.count("ld.shared.v4") == compiled.ptx.count("ld.shared")


def test_a_block_fetches_no_key_that_none_of_its_queries_sees():
    """Blocks of 16 queries, at 256 columns: of 32 keys, the first needs half, the second all."""
    fetched = {}
    for causal in (FULL, CAUSAL):
        with tracing() as launches:
            attention.versions["CUDA, tiled"](*map(gpu.put, problem(1, 32, 32, 256)), causal)
        fetched[causal] = launches[0].coalescing("k").bytes_asked
    assert fetched[CAUSAL] == 3 / 4 * fetched[FULL]


def test_the_three_kernels_read_along_rows_and_each_number_once_for_a_tile():
    """As notebook 05's shared tile: a warp's request is two rows of 16 numbers, four sectors."""
    with tracing() as launches:
        attention.versions["CUDA, three kernels"](*map(gpu.put, problem(1, 64, 64, 64)), FULL)
    scores, _, mixture = launches
    for launch, arrays in ((scores, "q k scores"), (mixture, "probabilities v out")):
        each = [launch.coalescing(array).sectors_per_request for array in arrays.split()]
        assert each == [4, 4, 4]
    kib = [launch.coalescing().bytes_asked / 1024 for launch in launches]
    assert kib == [144, 48, 144]


@pytest.mark.parametrize("name", ("CUDA, three kernels", "CUDA, tiled"))
def test_no_bank_conflicts_and_no_races(name):
    q, k, v = problem(1, 4, 40, 40)
    with tracing() as launches:
        attention.versions[name](*map(gpu.put, (q, k, v)), CAUSAL)
    for launch in launches:
        assert launch.banks().conflicts == 0 and not launch.races().cells


# -- Faults: each is a line that one might well write.


def tiled_with(new_maximum=np.maximum, rescale=np.exp, visible=np.less_equal, width=np.sqrt):
    """The tiled algorithm, with a part of it to be replaced."""

    def attempt(q, k, v, causal):
        row_max = np.full((*q.shape[:2], 1), -1e30, np.float32)
        total, out = np.zeros_like(row_max), np.zeros_like(q)
        for start in range(0, k.shape[1], 16):
            j = np.arange(start, min(start + 16, k.shape[1]))
            scores = q @ k[:, j].transpose(0, 2, 1) / np.float32(width(q.shape[2]))
            if causal:
                scores[:, ~visible(j, np.arange(q.shape[1])[:, None])] = -np.inf
            new = new_maximum(row_max, scores.max(axis=2, keepdims=True))
            exps = np.exp(scores - new)
            total = total * rescale(row_max - new) + exps.sum(axis=2, keepdims=True)
            out, row_max = out * rescale(row_max - new) + exps @ v[:, j], new
        return out / total

    return attempt


FAULTS = {
    "none: right": {},
    "the sum is not rescaled": {"rescale": lambda x: np.float32(1)},
    "the maximum is that of the tile": {"new_maximum": lambda row_max, tile: tile},
    "a query does not see itself": {"visible": np.less},
    "it sees one key more": {"visible": lambda j, i: j <= i + 1},
    "not divided by the root of the head size": {"width": lambda d: 1.0},
    "divided by the head size": {"width": lambda d: d},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_tiled_algorithm_is_refused(fault):
    with np.errstate(all="ignore"):
        assert check(attention, tiled_with(**FAULTS[fault])).passed == fault.endswith("right")


def test_operations_count_what_a_causal_mask_leaves():
    q, k, v = problem(3, 5, 7, 2)
    assert attention.flops(q, k, v, FULL) == 3 * 5 * 7 * (4 * 2 + 5)
    assert attention.flops(q, k, v, CAUSAL) == 3 * math.comb(6, 2) * (4 * 2 + 5)
