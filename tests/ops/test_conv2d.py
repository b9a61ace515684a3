"""The convolution: every version at shapes that break it, its laws, and faults that show."""

import inspect
import itertools
import re

import numpy as np
import pytest

import warplens
from answers import attempt
from gpulessons import check, conv2d, gpu, host
from gpulessons.backends import torch_cpu
from gpulessons.hardware.hot_loop import hot_loop
from gpulessons.operation import fetched
from gpulessons.ops import conv2d_direct
from gpulessons.ops.conv2d import tiles_kernel
from gpulessons.ops.im2col import output_size
from gpulessons.ops.vectors import LANES

# batch, channels, filters; height, width; kernel; stride; padding
SHAPES = [
    ((1, 1, 1), (1, 1), (1, 1), 1, 0),  # one pixel
    ((1, 1, 1), (1, 1), (1, 1), 2, 3),  # one pixel in a wide border
    ((2, 3, 5), (9, 6), (1, 1), 1, 0),
    ((1, 2, 4), (6, 9), (2, 2), 2, 1),
    ((2, 1, 3), (12, 5), (5, 2), 3, 2),  # one channel
    ((1, 4, 9), (5, 50), (3, 3), 1, 1),  # more filters and columns than a block takes
    ((1, 3, 2), (37, 4), (3, 3), 2, 0),  # more rows than a block takes
    ((3, 2, 2), (4, 4), (2, 2), 1, 3),  # more padding than kernel
    ((1, 2, 3), (3, 5), (3, 5), 1, 0),  # a kernel as large as the picture
    ((1, 2, 3), (20, 30), (1, 3), 3, 0),
    ((1, 1, 70), (9, 9), (3, 3), 1, 1),  # more filters than a core takes at once
    ((1, 50, 2), (4, 4), (2, 2), 1, 0),  # and more weights
    ((1, 2, 7), (200, 61), (5, 3), 3, 4),  # and more sums, phases that begin in the border
    ((1, 1, 1), (14, 13), (11, 11), 4, 2),  # AlexNet's first kernel
    ((1, 1, 2), (112, 112), (16, 16), 1, 8),  # pieces that begin in a wide border
]


def problem(dims, pixels, kernel, stride, padding, dtype=np.float32, seed=0):
    batch, channels, filters = dims
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((batch, channels, *pixels)).astype(dtype)
    w = rng.standard_normal((filters, channels, *kernel)) / (channels * np.prod(kernel)) ** 0.5
    return x, w.astype(dtype), stride, padding


@pytest.mark.parametrize("version", ["Numba, direct", "Numba, im2col"])
@pytest.mark.parametrize("width", [2, 3, 16])
def test_on_a_cpu_nothing_is_written_beside_the_output(version, width):
    for pixels in range(96, 160, 9):
        given = problem((1, 1, 2), (pixels, pixels), (width, width), 1, width // 2)
        expected = conv2d(*given)
        room = np.full(expected.size + 20_000, 7, np.float32)
        out = room[10_000:-10_000].reshape(expected.shape)
        conv2d.versions[version].function(*given, out)
        np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
        assert (room[:10_000] == 7).all() and (room[-10_000:] == 7).all()


@pytest.mark.nightly
def test_every_version_is_right_for_every_shape():
    for shape in SHAPES:
        inputs = problem(*shape)
        for version in conv2d.versions.values():
            if version.backend in (host, torch_cpu):
                got = fetched(version.backend, version(*map(version.backend.put, inputs)))
                error = conv2d.error(got, conv2d.reference(*inputs))
                assert error <= version.rtol, f"{version}, {shape}: off by {error:.2g}"


def test_the_specification_is_pytorchs():
    torch = pytest.importorskip("torch")
    for shape in SHAPES:
        x, w, stride, padding = problem(*shape, dtype=np.float64)
        y = torch.conv2d(torch.tensor(x), torch.tensor(w), stride=stride, padding=padding)
        assert np.allclose(conv2d(x, w, stride, padding), y.numpy(), rtol=1e-12, atol=1e-12)


def loads_and_stores(version, inputs):
    """Of global memory, for each multiplication."""
    with warplens.tracing() as launches:
        conv2d.versions[version](*map(gpu.put, inputs))
    products = conv2d.flops(*inputs) / 2
    return [sum(getattr(each.work(), what) * each.threads for each in launches) / products
            for what in ("reads", "writes")]  # fmt: skip


@pytest.mark.parametrize("stride", [1, 2])
def test_shared_tiles_and_products_fetch_far_less_than_a_thread_per_output(stride):
    inputs = problem((1, 2, 64), (16 * stride, 32 * stride), (3, 3), stride, 1)
    assert 1.8 < loads_and_stores("CUDA, a thread per output", inputs)[0] <= 2
    assert loads_and_stores("CUDA, shared tiles", inputs)[0] < 0.1 * stride
    assert loads_and_stores("CUDA, implicit GEMM", inputs)[0] < 2 / 64 + 1e-3  # of 64 × 64 outputs


def test_implicit_gemm_leaves_out_what_writing_and_reading_columns_costs():
    inputs = problem((1, 4, 64), (16, 32), (3, 3), 1, 1)
    (read, wrote), (reads, writes) = (loads_and_stores(f"CUDA, {way}", inputs)
                                      for way in ("implicit GEMM", "im2col"))
    assert writes - wrote == pytest.approx(1 / 64)  # each number of the columns, for 64 filters
    assert read < reads


def test_the_direct_loop_reads_nothing_beyond_its_lines():
    """Of all widths that begin a last piece with the last sum of a line."""
    for kernel, stride in itertools.product(((3, 3), (3, 31), (1, LANES - 1)), (1, 2)):
        x = np.ones((1, 2, kernel[0], stride * (LANES + 1)), np.float32)
        w = np.ones((1, 2, *kernel), np.float32)
        line, image, starts, width = conv2d_direct.lines(x, w, stride, 0)
        assert width == LANES + 1  # one row of sums: the last piece holds one of them
        assert LANES + starts.max() + LANES <= line.size and image <= line.size


# -- Faults, planted: each must be found.


def turned_filter(x, w, stride, padding):
    return conv2d(x, w[:, :, ::-1, ::-1], stride, padding)


def stride_forgotten(x, w, stride, padding):
    rows, columns = output_size(x, w.shape[2:], stride, padding)
    return np.ascontiguousarray(conv2d(x, w, 1, padding)[:, :, :rows, :columns])


def border_repeated(x, w, stride, padding):
    return conv2d(np.pad(x, [(0, 0)] * 2 + [(padding, padding)] * 2, "edge"), w, stride, 0)


def test_the_edge_cases_find_a_fault():
    for fault in (turned_filter, stride_forgotten, border_repeated):
        assert not check(conv2d, fault).passed, fault


@pytest.mark.parametrize("why", ["patch and weights are complete", "no thread needs them any more"])
def test_without_a_barrier_the_tile_has_a_race(why):
    source, barrier = inspect.getsource(tiles_kernel), f"cuda.syncthreads()  # {why}"
    assert source.count(barrier) == 1
    planted = source.replace("def tiles_kernel", "def planted").replace(barrier, "pass")
    kernel = attempt(f"from gpulessons.ops.conv2d import *\n\n{planted}")(3, 3, 1)
    x, w, _, padding = problem((1, 2, 8), (16, 32), (3, 3), 1, 1)
    out = np.empty((1, 8, 16, 32), np.float32)
    assert warplens.trace(kernel)[(1, 1, 1), (32, 4)](x, w, padding, out).races().cells


def test_the_direct_loop_is_made_of_vectors():
    """Its inner loop is packed multiply-adds, each of which continues a sum in a register. It may
    be unrolled: on an AMD EPYC each sum is continued twice."""
    conv2d.versions["Numba, direct"](*conv2d.inputs(conv2d.edge_cases[0]))
    loop = hot_loop(conv2d_direct.add_six)
    fused = [line for line in loop.lines if re.match("vfmadd|fmla", line)]
    assert loop.chains == 6 * LANES // loop.lanes and loop.scalar == 0
    assert len(fused) == loop.packed and loop.packed in (loop.chains, 2 * loop.chains)
