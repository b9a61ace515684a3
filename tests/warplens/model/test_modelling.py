"""modelled(): what it answers, how it scales, what it refuses, what it says without nvdisasm."""

import json

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons.ops.lstm_sequence import lstm_sequence
from gpulessons.ops.matmul import coalesced_kernel, matmul, naive_kernel
from gpulessons.plots import bounds as picture
from warplens import LaunchError, OutOfBounds
from warplens.code import sass
from warplens.code.cuda import CannotCompile
from warplens.model import modelling
from warplens.model.devices import GPUS, devices
from warplens.model.modelling import LAUNCH, CannotModel, interval, modelled
from warplens.model.value import Modelled, together
from warplens.model.versions import modelled_version

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


def test_a_large_copy_waits_for_dram_and_a_product_does_not():
    assert copy(2**26).limiter == "DRAM"
    assert product(1024).limiter != "DRAM"


def test_conversions_to_double_precision_and_back_cost_what_double_precision_costs():
    @cuda.jit
    def careless_kernel(x, out):
        i = cuda.grid(1)
        out[i] = max(x[i], 0)

    found = modelled(careless_kernel, on="RTX 3090")[82 * 100, 256](*[zeros(82 * 100 * 256)] * 2)
    there_compared_back, card = 3 * 256 * 100 / 2, GPUS["RTX 3090"]
    assert found.bounds["FP64"] == pytest.approx(there_compared_back / card.boost)
    assert found.limiter == "FP64"


def test_a_grid_of_one_block_waits_for_latency():
    found = modelled(copy_kernel)[1, 32](zeros(32), zeros(32))
    assert max(("latency", "launch"), key=found.bounds.get) in found.ranked[:2]
    assert found.waves < 0.01


def test_waves_and_tail_are_those_of_the_blocks_that_fit():
    found = modelled(copy_kernel)[1296, 256](zeros(256 * 1296), zeros(256 * 1296))
    assert found.occupancy == 1  # 8 blocks of 8 warps on each of 108
    assert found.waves == 1.5
    assert found.tail == 0.5
    assert "50% of the places stay empty" in repr(found)


def test_the_interval_is_the_largest_bound_at_its_best_to_the_two_largest_in_turn():
    parts = {"L2": 1e-6, "FP32": 1e-3, "latency": 4e-3}
    low, high = interval(A100, parts, 4.1e-3, True)
    assert low == pytest.approx(0.9 * 4e-3)
    assert high == pytest.approx(5e-3 * 1.41 / 1.095 + LAUNCH)
    _, high = interval(A100, {"L2": 1e-6, "FP32": 1e-5, "latency": 4e-3}, 6e-3, True)
    assert high == pytest.approx(1.1 * 6e-3)
    known, guessed = (interval(A100, parts, 4e-3, from_code) for from_code in (True, False))
    assert guessed == pytest.approx((known[0] / 2, 2 * known[1]))
    t4 = GPUS["T4"]
    _, slow = interval(t4, parts, 4e-3, True)
    assert slow == pytest.approx(5e-3 * t4.boost / (t4.sustained or t4.base) + LAUNCH)


def test_memory_does_not_slow_down_with_the_clock():
    _, high = interval(A100, {"DRAM": 4e-3, "FP32": 1e-3}, 4.1e-3, True)
    assert high == pytest.approx(4e-3 + 1e-3 * 1.41 / 1.095 + LAUNCH)


def test_contended_atomics_and_scattered_writes_are_known_from_below_only():
    def histogram_kernel(x, bins):
        cuda.atomic.add(bins, x[cuda.grid(1)], 1)

    def apart_kernel(bins):
        cuda.atomic.add(bins, cuda.grid(1), 1)

    def scatter_kernel(out):
        out[cuda.grid(1) * 64] = 1

    x, bins = np.zeros(2560, np.int32), np.zeros(2560, np.int32)
    found = modelled(histogram_kernel)[10, 256](x, bins)
    assert found.at_least
    assert "wait for each other at the atomic" in found.why_at_least
    assert found.words.startswith("at least ")
    assert not modelled(apart_kernel)[10, 256](bins).at_least
    assert "scatters its writes" in modelled(scatter_kernel)[10, 256](zeros(163840)).why_at_least
    assert not copy(2560).at_least


def test_structures_side_by_side_are_not_scattered():
    """A warp's stores to 16-byte structures touch 16 sectors, in 4 lines that they fill."""

    def structures_kernel(out):
        i = cuda.grid(1)
        for part in range(4):
            out[i, part] = 1

    assert not modelled(structures_kernel)[10, 256](zeros(2560, 4)).at_least


def test_multiprocessors_without_a_block_are_named():
    assert "82 of 108 multiprocessors have no block" in copy(26 * 256).notes
    assert copy(2**20).idle == ""


def test_it_goes_to_json_and_back():
    one = copy(2**20)
    for found in (one, together("both", [one, product(64)])):
        assert Modelled.from_json(found.to_json()) == found
        assert json.loads(found.to_json())["gpu"] == "A100"


def test_launches_of_one_call_add_up():
    one, other = copy(2**20), product(128)
    both = together("both", [one, other])
    assert both.seconds == one.seconds + other.seconds
    assert both.bounds["DRAM"] == one.bounds["DRAM"] + other.bounds["DRAM"]
    assert both.high == one.high + other.high


def test_its_picture_says_that_it_is_modelled_and_has_every_figure():
    found = product(256, on="T4")
    drawn = picture(found)
    assert found.limiter == "load/store path"
    assert drawn.alt.startswith("coalesced_kernel on T4 would wait for the load/store path: ")
    assert "MODELLED." in drawn.figure._suptitle.get_text()
    assert all(part in drawn.alt for part in found.bounds if found.bounds[part])
    assert drawn.axes.get_xlim()[0] == 0
    filled = [bar.get_facecolor()[3] > 0 for bar in drawn.axes.patches if bar.get_height() < 1]
    assert (sum(filled), filled[-1]) == (1, True)  # the limiter's alone, on top
    assert "<table" in found._repr_html_()


# -- How it scales.


@pytest.mark.parametrize("gpu", list(GPUS))
def test_twice_the_blocks_of_a_long_kernel_take_about_twice_as_long(gpu):
    blocks = 64 * GPUS[gpu].multiprocessors
    one = modelled(long_kernel, on=gpu)[blocks, 256](zeros(1), 10_000, zeros(256 * blocks))
    two = modelled(long_kernel, on=gpu)[2 * blocks, 256](zeros(1), 10_000, zeros(512 * blocks))
    assert two.seconds == pytest.approx(2 * one.seconds, rel=0.05)


def test_twice_the_turns_take_about_twice_as_long():
    once, twice = (
        modelled(long_kernel)[1000, 256](zeros(1), n, zeros(256_000)).seconds
        for n in (10_000, 20_000)
    )
    assert twice == pytest.approx(2 * once, rel=0.03)


FASTER = ("multiprocessors", "boost", "base", "int_lanes", "fp32_lanes", "l1_rate", "dram_rate",
          "l2_rate", "sfu_lanes", "lsu_lanes")  # fmt: skip
SOONER = "shared_latency", "l1_latency", "l2_latency", "dram_latency"


@pytest.mark.parametrize("gpu", ["T4", "A100", "RTX 3090", "H100"])
def test_a_gpu_with_better_figures_is_never_slower(gpu):
    known = devices()[gpu]
    better = {each: 2 * getattr(known, each) for each in FASTER}
    better |= {each: getattr(known, each) / 2 for each in SOONER}
    if known.sustained:
        better["sustained"] = 2 * known.sustained
    for names in (["boost", "base"], *([each] for each in FASTER[2:] + SOONER), list(better)):
        mine = known.but("mine", **{"boost": known.boost, **{each: better[each] for each in names
                                    if each != "base" or "boost" in names}})  # fmt: skip
        for model in (copy, product):
            assert model(512, on=mine).seconds <= model(512, on=gpu).seconds * (1 + 1e-9)


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


def test_bad_launches_are_refused_as_the_microscope_does():
    x = zeros(32)
    for sizes in ((0, 32), (1, 0), (1, 2048), ((1, 1, 1, 1), 32)):
        with pytest.raises(LaunchError):
            modelled(copy_kernel)[sizes](x, x)
    for sizes in (32, (), (1,), ("1", 32)):
        with pytest.raises(TypeError):
            modelled(copy_kernel)[sizes](x, x)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        modelled(copy_kernel)[1, 32](x)
    with pytest.raises(OutOfBounds):
        modelled(copy_kernel)[1, 64](zeros(32), zeros(64))


def test_an_unknown_gpu_is_refused_by_name():
    with pytest.raises(ValueError, match=r"No GPU is called 'A10O'\. Did you mean 'A100'"):
        modelled(copy_kernel, on="A10O")


def test_a_block_that_fits_no_multiprocessor_is_refused(monkeypatch, without_nvdisasm):
    small = A100.but("small", capability=(7, 5))
    monkeypatch.setattr(modelling, "REGISTERS", 255)
    with pytest.raises(CannotModel, match="block of copy_kernel fits on small: a block takes"):
        modelled(copy_kernel, on=small)[1, 1024](zeros(1024), zeros(1024))


def test_tensor_cores_are_refused():
    version = next(v for v in matmul.versions.values() if "tensor cores" in v.name
                   and v.backend.name == "gpu")  # fmt: skip
    with pytest.raises(CannotModel, match="tensor cores, which the model leaves out"):
        modelled_version(version, 64, "A100")


def test_blocks_that_wait_for_the_whole_grid_are_refused():
    @cuda.jit
    def together_kernel(x):
        x[cuda.grid(1)] = 1
        cuda.cg.this_grid().sync()
        x[cuda.grid(1)] += 1

    with pytest.raises(CannotModel, match="all blocks of the grid wait for each other"):
        modelled(together_kernel)[100, 32](zeros(3200))


def test_blocks_that_wait_for_one_that_is_not_run_are_refused():

    def last_kernel(done):
        while cuda.atomic.cas(done, 0, 100, 100) < 100:
            pass

    with pytest.raises(CannotModel, match="can never end"):
        modelled(last_kernel)[100, 32](np.zeros(1, np.int32))


def test_what_numba_refuses_is_not_modelled_from_its_source():
    def listing_kernel(x, out):
        out[cuda.threadIdx.x] = x.tolist()[0]

    with pytest.raises(CannotModel, match="tolist"):
        modelled(listing_kernel)[1, 32](zeros(32), zeros(32))


def test_a_version_that_refuses_a_size_cannot_be_modelled_and_says_why():
    version = lstm_sequence.versions["CUDA, persistent"]
    with pytest.raises(CannotModel, match="CUDA, persistent: its weights fit a block's registers"):
        modelled_version(version, 256, "A100")
    with pytest.raises(CannotModel, match="no CUDA kernel of this course"):
        modelled_version(matmul.versions["Python loop"], 64, "A100")


# -- What a learner may launch.


def nothing_kernel():
    pass


def scalar_kernel(n, scale, out):
    if cuda.grid(1) == 0:
        out[0] = n * scale


def record_kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i].a + x[i].b


def dynamic_kernel(x, out):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[cuda.blockDim.x - 1 - t]


def tuple_kernel(pair, out):
    out[cuda.grid(1)] = pair[0][cuda.grid(1)] + pair[1]


PAIRS = np.zeros(64, np.dtype([("a", np.float32), ("b", np.float32)]))


@pytest.mark.parametrize(("kernel", "sizes", "arguments"), [
    (nothing_kernel, (10, 32), ()),
    (scalar_kernel, (1, 1), (3, np.float32(2), zeros(1))),
    (scalar_kernel, (1000, 1), (3, 2.5, zeros(1))),
    (record_kernel, (2, 32), (PAIRS, zeros(64))),
    (dynamic_kernel, (4, 64, 0, 256), (zeros(256), zeros(256))),
    (tuple_kernel, (2, 32), ((zeros(64), np.float32(1)), zeros(64))),
    (copy_kernel, (4, 32), (zeros(0), zeros(0))),
    (copy_kernel, ((2, 2), (8, 2, 2)), (zeros(64), zeros(16))),
], ids=lambda value: getattr(value, "__name__", ""))  # fmt: skip
@pytest.mark.parametrize("counted", ["machine code", "source"])
def test_any_kernel_has_a_time(kernel, sizes, arguments, counted, request):
    if counted == "source":
        request.getfixturevalue("without_nvdisasm")
    found = modelled(kernel)[sizes](*arguments)
    assert found.counted_from == counted
    assert LAUNCH < found.seconds < 1e-4
    assert found.low < found.seconds
    assert repr(found)
    assert picture(found).alt


def test_dynamic_shared_memory_takes_its_part_of_a_multiprocessor():
    arguments = zeros(64 * 64), zeros(64 * 64)
    little = modelled(dynamic_kernel)[64, 64, 0, 256](*arguments)
    much = modelled(dynamic_kernel)[64, 64, 0, 40_000](*arguments)
    assert much.occupancy < little.occupancy
    assert much.occupancy_limiter == "shared memory"


def test_the_naive_product_is_the_slower_one():
    for gpu in ("T4", "A100", "H100"):
        assert product(512, gpu, naive_kernel).seconds > product(512, gpu).seconds
