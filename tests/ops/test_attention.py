"""Attention: at shapes that break tiles, by its laws, what its kernels read."""

import math

import numpy as np
import pytest

from gpulessons import peak_memory
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.ops import attention as lesson
from gpulessons.ops.attention import attention
from warplens import tracing
from warplens.code.cuda import assembly

# (heads, queries, keys, head size): one of each; more queries than keys, and fewer; odd widths.
SHAPES = ((1, 1, 1, 1), (2, 1, 9, 5), (3, 9, 1, 4), (1, 37, 41, 7), (1, 70, 75, 20), (1, 5, 20, 64))
LONG = ((1, 131, 140, 7), (2, 64, 257, 16))  # than a tile of queries or keys
FULL, CAUSAL = False, True


def versions(*backends):
    return [v for v in attention.versions.values() if v.backend in backends]


def run(version, q, k, v, causal):
    """A version's answer; a GPU's in the microscope."""
    put, get = version.backend.put, version.backend.get
    if version.backend is not gpu:
        return get(version(*map(put, (q, k, v)), causal))
    with tracing():
        return get(version(*map(put, (q, k, v)), causal))


def problem(count, length, keys, width, scale=1.0):
    rng = np.random.default_rng(width)
    shapes = ((count, length, width), (count, keys, width), (count, keys, width))
    q, k, v = (rng.standard_normal(shape, np.float32) for shape in shapes)
    return q * np.float32(scale), k, v


def assert_right(version, *inputs):
    error = attention.error(run(version, *inputs), attention.reference(*inputs))
    assert error <= 1e-5, f"{version}: off by {error:.2g}"


@pytest.mark.parametrize("causal", (FULL, CAUSAL), ids=("full", "causal"))
def test_it_is_right_at_any_shape_and_beyond_one_tile(causal):
    for shape in (*SHAPES, *LONG):
        for version in versions(host, torch_cpu):
            assert_right(version, *problem(*shape), causal)


@pytest.mark.nightly
@pytest.mark.parametrize("causal", (FULL, CAUSAL), ids=("full", "causal"))
def test_its_kernels_are_right_at_any_shape(causal):
    for shape in SHAPES:
        for version in versions(gpu):
            assert_right(version, *problem(*shape), causal)


def test_scores_of_hundreds_pick_one_value_and_equal_keys_the_mean():
    """One key each scores 300 / sqrt(1), the others -300."""
    q, k = np.full((1, 40, 1), 300, np.float32), np.full((1, 40, 1), -1, np.float32)
    k[0, 17] = 1
    v = np.arange(40, dtype=np.float32).reshape(1, 40, 1)
    for version in versions(host, torch_cpu):
        assert np.all(run(version, q, k, v, FULL) == 17)
        assert np.allclose(run(version, q, k, v, CAUSAL)[0, :17, 0], np.arange(17) / 2, rtol=1e-5)
        assert np.abs(run(version, q, 0 * k, v, FULL) - v.mean()).max() < 1e-5


def test_the_memory_of_all_scores_grows_with_the_square_and_of_a_tile_with_the_length():
    def growth(name):
        small, large = (peak_memory(attention.versions[name], *attention.inputs(n))
                        for n in (256, 1024))  # fmt: skip
        return large / small

    assert 15 < growth("NumPy") < 17
    assert 3.8 < growth("NumPy, tiled") < 4.2
    with pytest.raises(ValueError, match="host"):
        peak_memory(attention.versions["PyTorch, fused, CPU"], *attention.inputs(64))


# -- The kernels.


def test_nothing_spills_and_the_tiles_fit_in_what_every_gpu_has():
    """Of the compilers, that for 7.5 is the one that needs most registers."""
    q = np.zeros((1, 4, 64), np.float32)
    compiled = assembly(lesson.tiled_kernel, q, q, q, False, np.float32(1), q, capability=(7, 5))
    assert compiled.spills == 0 and compiled.doubles == () and compiled.shared <= 32 * 1024
    assert ".local" not in compiled.ptx  # what is indexed in a loop may end up in memory, too


def test_a_head_too_wide_for_the_tiles_is_refused():
    for name in ("CUDA, three kernels", "CUDA, tiled"):
        with tracing(), pytest.raises(ValueError, match="up to 64 numbers a head"):
            attention.versions[name](*map(gpu.put, problem(1, 2, 3, 65)), FULL)


def launches_of(name, *inputs):
    with tracing() as launches:
        attention.versions[name](*map(gpu.put, inputs[:3]), inputs[3])
    return launches


def test_a_block_loads_no_tile_of_keys_that_none_of_its_queries_sees():
    """Two blocks of 64 queries, 128 keys: the first needs half of them, the second all."""
    full, causal = (
        launches_of("CUDA, tiled", *problem(1, 128, 128, 64), each)[0].coalescing("k").bytes_asked
        for each in (FULL, CAUSAL)
    )
    assert causal == 3 / 4 * full


def test_both_ways_have_the_same_products_and_only_one_of_them_moves_scores():
    """Tiles of 64 queries and 16 keys, read in order, without bank conflicts; no races."""
    inputs = *problem(1, 64, 64, 64), FULL
    scores, softmax, output = launches_of("CUDA, three kernels", *inputs)
    (tiled,) = launches_of("CUDA, tiled", *inputs)
    asked = {name: launch.coalescing(name).bytes_asked for name, launch in
             (("k", scores), ("v", output), ("scores", scores), ("weights", output))}
    assert asked["k"] == tiled.coalescing("k").bytes_asked == 64 * 64 * 4
    assert asked["v"] == tiled.coalescing("v").bytes_asked == 64 * 64 * 4
    assert asked["scores"] == asked["weights"] == 64 * 64 * 4
    assert tiled.coalescing().bytes_asked == 4 * 64 * 64 * 4  # q, k, v and the result
    for launch in (scores, softmax, output, tiled):
        assert launch.coalescing(access="read").sectors_per_request <= 4
        assert launch.banks().conflicts == 0 and not launch.races().cells


def test_operations_count_what_a_causal_mask_leaves():
    q, k, v = problem(3, 5, 7, 2)
    assert attention.flops(q, k, v, FULL) == 3 * 5 * 7 * (4 * 2 + 5)
    assert attention.flops(q, k, v, CAUSAL) == 3 * math.comb(6, 2) * (4 * 2 + 5)
