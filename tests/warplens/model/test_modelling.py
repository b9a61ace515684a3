"""modelled(): what it answers, how it scales, what it refuses, what it says without nvdisasm."""

import math

import numpy as np
import pytest
from numba import cuda, float32, int32

from gpulessons.backends import gpu
from gpulessons.ops.matmul import coalesced_kernel, matmul, naive_kernel
from gpulessons.plots import bounds as picture
from warplens import LaunchError, OutOfBounds, units
from warplens.code import sass
from warplens.code.cuda import CannotCompile
from warplens.model import modelling
from warplens.model.devices import GPUS
from warplens.model.modelling import (
    LAUNCH,
    LAUNCH_RANGE,
    SPREAD,
    CannotModel,
    interval,
    modelled,
    modelled_call,
)
from warplens.model.value import together

A100 = GPUS["A100"]


def zeros(*shape):
    return np.zeros(shape, np.float32)


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


@cuda.jit
def long_kernel(x, n, out):
    i, value = cuda.grid(1), float32(1)
    for _ in range(n):
        value = value * x[0] + float32(0.5)
    out[i] = value


def copy(size, on="A100"):
    return modelled(copy_kernel, on=on)[size // 256, 256](zeros(size), zeros(size))


def product(size, on="A100", kernel=coalesced_kernel):
    x = zeros(size, size)
    return modelled(kernel, on=on)[(size // 16, size // 16), (16, 16)](x, x, zeros(size, size))


# -- What it answers.


def test_a_time_lies_between_its_largest_bound_and_the_sum_of_all():
    for found in (copy(2**24), product(512)):
        assert max(found.bounds.values()) <= found.seconds <= sum(found.bounds.values())
        assert found.low < found.seconds < found.high
        assert found.bounds["launch"] == LAUNCH
    assert copy(2**26).limiter == "DRAM" != product(512).limiter


def test_waves_and_tail_are_those_of_the_blocks_that_fit():
    found = modelled(copy_kernel)[1296, 256](zeros(256 * 1296), zeros(256 * 1296))
    assert found.occupancy == 1  # 8 blocks of 8 warps on each of 108
    assert found.waves == 1.5
    assert found.tail == 0.5
    assert "50 % of the places stay empty" in repr(found)


def ends(gpu, parts, from_code=True):
    """The interval's ends beside a launch's, over the modelled time."""
    low, high = interval(GPUS[gpu], parts, from_code)
    alone = sum(part**3 for part in parts.values()) ** (1 / 3)
    return (low - LAUNCH_RANGE[0]) / alone, (high - LAUNCH_RANGE[1]) / alone


def test_the_interval_is_as_wide_as_others_were():
    memory, lanes = {"DRAM": 4e-3, "FP32": 3e-3}, {"DRAM": 2e-3, "FP32": 4e-3}
    for name in ("A100", "T4", "RTX 3090"):  # memory does not care for a multiprocessor's clock
        assert ends(name, memory) == pytest.approx(SPREAD)
    low, high = SPREAD
    assert ends("A100", lanes) == pytest.approx((low, high * (1.41 / 1.095) ** 0.5))
    assert ends("T4", lanes) == pytest.approx((low, high * (1.59 / 0.585) ** 0.5))
    quick, _ = ends("RTX 3090", lanes)
    assert quick < low / 1.1  # a GeForce may run above its boost
    known, guessed = (interval(A100, lanes, from_code) for from_code in (True, False))
    assert guessed == pytest.approx((known[0] / 2, 2 * known[1]))


def test_a_launch_that_may_find_its_arrays_in_l2_says_so_and_how_long_it_takes_then():
    fits, large = copy(2**20), copy(2**26)  # 8 and 512 MiB, of 40
    assert fits.again < 0.8 * fits.seconds and large.again is None
    assert units.seconds(fits.again) in repr(fits) and "launched again" not in repr(large)
    assert fits.high / fits.low > 1.5 * large.high / large.low and fits.low < fits.again
    both = together("both", [fits, large])
    assert both.again == fits.again + large.seconds


def test_contended_atomics_and_scattered_writes_are_known_from_below_only():
    def histogram_kernel(x, bins):
        cuda.atomic.add(bins, x[cuda.grid(1)], 1)

    def apart_kernel(bins):
        cuda.atomic.add(bins, cuda.grid(1), 1)

    def once_a_block_kernel(bins):
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(bins, 0, 1)

    def shared_kernel(out):
        tile = cuda.shared.array(256, int32)
        cuda.atomic.add(tile, cuda.threadIdx.x, 1)
        out[cuda.grid(1)] = tile[cuda.threadIdx.x]

    def transpose_kernel(x, out):
        j, i = cuda.grid(2)
        out[j, i] = x[i, j]

    def scatter_kernel(out):
        out[cuda.grid(1) * 64] = 1

    x, bins = np.zeros(2560, np.int32), np.zeros(2560, np.int32)
    found = modelled(histogram_kernel)[10, 256](x, bins)
    assert found.at_least
    assert "wait for each other at the atomic" in found.why_at_least
    assert found.words.startswith("at least ")
    assert found.seconds is None and found.known == found.low  # no number to reckon with
    assert found.share(found.limiter) == 1
    both = together("two", [found, copy(2560)])  # all of their arrays fit L2
    assert both.seconds is both.again is found.again is None
    assert not modelled(apart_kernel)[10, 256](bins).at_least
    once = modelled(once_a_block_kernel)[100_000, 64](bins)
    assert not once.at_least and once.ranked[:2] == ["block starts", "atomics"]
    assert once.bounds["atomics"] == pytest.approx(100_000 / A100.boost)
    assert "atomics" not in modelled(shared_kernel)[10, 256](bins).bounds
    assert "scatters its writes" in modelled(scatter_kernel)[10, 256](zeros(163840)).why_at_least
    # A block of a transpose fills its sectors, but each warp touches all of them anew.
    transpose = modelled(transpose_kernel)[(8, 8), (32, 32)](zeros(256, 256), zeros(256, 256))
    assert "scatters its writes" in transpose.why_at_least
    assert not copy(2560).at_least


def test_structures_written_whole_by_neighbors_are_not_scattered_but_reads_anywhere_are():
    def structures_kernel(out):
        i = cuda.grid(1)
        for field in range(out.shape[1]):
            out[i, field] = field

    def gather_kernel(x, places, out):
        i = cuda.grid(1)
        out[i] = x[places[i]]

    n = 2**20
    assert not modelled(structures_kernel, on="T4")[n // 4096, 256](zeros(n // 16, 16)).at_least
    in_order = np.arange(n)
    shuffled = np.random.default_rng(0).permutation(n)
    for places, words in ((in_order, ""), (shuffled, "scatters its reads")):
        found = modelled(gather_kernel, on="T4")[n // 256, 256](zeros(n), places, zeros(n))
        assert found.at_least == bool(words) and words in found.why_at_least
    small = modelled(gather_kernel)[n // 256, 256](zeros(n), shuffled, zeros(n))
    assert not small.at_least  # an A100's L2 holds all of it


def test_a_first_or_last_block_with_most_of_the_work_leaves_the_end_open():
    def busy_kernel(block, x):
        if cuda.blockIdx.x == block:
            for _ in range(1000):
                x[cuda.threadIdx.x] = math.sqrt(x[cuda.threadIdx.x])

    def triangle_kernel(_, x):
        for _ in range(cuda.grid(1)):
            x[cuda.threadIdx.x] = math.sqrt(x[cuda.threadIdx.x])

    x = np.ones(64, np.float32)
    for block in (0, 99):
        assert "times the work" in modelled(busy_kernel)[100, 64](block, x).why_at_least
    assert not modelled(busy_kernel)[100, 64](49, x).at_least  # as in those that are traced
    assert not modelled(triangle_kernel)[100, 64](0, x).at_least


def test_launches_of_one_call_add_up():
    one, other = copy(2**20), product(64)
    both = together("both", [one, other])
    assert both.seconds == one.seconds + other.seconds
    assert both.bounds["DRAM"] == one.bounds["DRAM"] + other.bounds["DRAM"]
    assert both.high == one.high + other.high
    assert all(part in picture(one).alt for part in one.bounds if one.bounds[part])


def test_a_program_is_modelled_by_all_that_it_launches():
    def call():
        x = cuda.to_device(zeros(2560))
        for _ in range(6):
            copy_kernel[10, 256](x, x)

    for found in modelled_call(call, "six copies", GPUS["T4"], A100):
        alone = modelled(copy_kernel, on=found.gpu)[10, 256](zeros(2560), zeros(2560))
        assert len(found.launches) == 6
        assert found.seconds == pytest.approx(6 * alone.seconds, rel=0.05)
    with pytest.raises(CannotModel, match="nothing launches no kernel"):
        modelled_call(lambda: None, "nothing", A100)


# -- How it scales.


def test_twice_the_turns_take_about_twice_as_long():
    once, twice = (
        modelled(long_kernel)[1000, 256](zeros(1), n, zeros(256_000)).seconds
        for n in (10_000, 20_000)
    )
    assert twice == pytest.approx(2 * once, rel=0.03)


FASTER = ("multiprocessors", "boost", "base", "int_lanes", "fp32_lanes", "dram_rate",
          "l2_rate", "sfu_lanes", "lsu_lanes")  # fmt: skip
SOONER = "shared_latency", "l1_latency", "l2_latency", "dram_latency"


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["T4", "A100", "RTX 3090", "H100"])
def test_a_gpu_with_better_figures_is_never_slower(name):
    known = GPUS[name]
    better = {each: 2 * getattr(known, each) for each in FASTER}
    better |= {each: getattr(known, each) / 2 for each in SOONER}
    for names in (["boost", "base"], *([each] for each in FASTER[2:] + SOONER), list(better)):
        mine = known.but("mine", **{"boost": known.boost, **{each: better[each] for each in names
                                    if each != "base" or "boost" in names}})  # fmt: skip
        for model in (copy, product):
            assert model(512, on=mine).seconds <= model(512, on=name).seconds * (1 + 1e-9)


# -- From source alone.


@pytest.fixture
def without_nvdisasm(monkeypatch):
    def none():
        raise CannotCompile(sass.NO_DISASSEMBLER)

    monkeypatch.setattr(sass, "disassembler", none)
    modelling.code_of.cache_clear()


def test_without_nvdisasm_the_interval_is_wider_and_says_why(monkeypatch, without_nvdisasm):
    found = product(256)
    monkeypatch.undo()
    known = product(256)
    assert (found.counted_from, known.counted_from) == ("source", "machine code")
    assert found.high / found.low > 1.5 * known.high / known.low
    assert "counted from its source alone" in repr(found)
    assert "source" not in repr(known)


# -- What it refuses.


def test_a_bad_launch_is_refused_as_by_the_microscope():
    with pytest.raises(LaunchError):
        modelled(copy_kernel)[1, 2048](zeros(32), zeros(32))
    with pytest.raises(TypeError, match="takes 2 arguments"):
        modelled(copy_kernel)[1, 32](zeros(32))
    with pytest.raises(OutOfBounds):
        modelled(copy_kernel)[1, 64](zeros(32), zeros(64))


def test_more_shared_memory_than_numba_can_ask_for_is_refused():
    with pytest.raises(CannotModel, match="65,536 bytes of shared memory"):
        modelled(dynamic_kernel)[4, 64, 0, 2**16](zeros(256), zeros(256))


@pytest.mark.nightly
def test_tensor_cores_are_refused():
    version = matmul.versions["CUDA, tensor cores (TF32)"]
    arguments = matmul.inputs(64)
    with pytest.raises(CannotModel, match="tensor cores, which the model leaves out"):
        modelled_call(lambda: version(*map(gpu.put, arguments)), "product", A100)


# -- What a learner may launch.


def nothing_kernel():
    pass


def scalar_kernel(n, scale, out):
    if cuda.grid(1) == 0:
        out[0] = n * scale


def dynamic_kernel(x, out):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[cuda.blockDim.x - 1 - t]


LAUNCHES = (
    (nothing_kernel, (10, 32), ()),
    (scalar_kernel, (1, 1), (3, np.float32(2), zeros(1))),
    (dynamic_kernel, (4, 64, 0, 256), (zeros(256), zeros(256))),
    (copy_kernel, (4, 32), (zeros(0), zeros(0))),
    (copy_kernel, ((2, 2), (8, 2, 2)), (zeros(64), zeros(16))),
)


def test_any_kernel_has_a_time(request):
    for counted, launches in (("machine code", LAUNCHES), ("source", LAUNCHES[:1])):
        if counted == "source":
            request.getfixturevalue("without_nvdisasm")
        for kernel, sizes, arguments in launches:
            found = modelled(kernel)[sizes](*arguments)
            assert found.counted_from == counted
            assert found.low < found.seconds < 1e-4 and found.seconds > LAUNCH
            assert repr(found)


def test_the_naive_product_is_the_slower_one():
    assert product(512, kernel=naive_kernel).seconds > product(512).seconds
