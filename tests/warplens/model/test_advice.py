"""Advice: each rule of the profiler finds what was planted, by its own formula; no other does."""

import json
import re

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons.backends import gpu
from gpulessons.ops.matmul import matmul
from warplens import Trace, trace, tracing
from warplens.code.cuda import CannotCompile
from warplens.model import advice as home
from warplens.model.advice import advice
from warplens.model.devices import GPUS

THREADS = 256
ONE = np.float32(1)
WAVE = 108 * 8  # blocks of 256 threads that fill an A100: eight on each multiprocessor


@cuda.jit
def copy_kernel(x, out, stride):
    i = cuda.grid(1)
    out[i] = x[stride * i]


@cuda.jit
def tile_kernel(x, out):
    tile = cuda.shared.array((32, 32), float32)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    tile[row, column] = x[row, column]
    cuda.syncthreads()
    out[row, column] = tile[column, row]


@cuda.jit
def odd_kernel(x):
    i = cuda.threadIdx.x
    if i % 2:
        x[i] = 1


@cuda.jit
def double_kernel(x):
    i = cuda.threadIdx.x
    x[i] = x[i] * 2.1


@cuda.jit
def half_double_kernel(x, y):
    i = cuda.threadIdx.x
    x[i] += float32(1)
    y[i] += 1.0


@cuda.jit
def summing_kernel(x, out, turns):
    i = cuda.threadIdx.x
    total = float32(0)
    for k in range(turns):
        total += x[turns * i + k]
        if i % 2:
            total += ONE
    out[i] = total


@cuda.jit
def less_than_kernel(x):
    i = cuda.threadIdx.x
    if x[i] < i:
        x[i] = 1


@cuda.jit(device=True)
def fetched(x, i):
    return x[8 * i]


@cuda.jit
def calling_kernel(x, out):
    i = cuda.threadIdx.x
    out[i] = fetched(x, i)


def copied(grid=WAVE, block=THREADS, stride=1, blocks=(0, 1, 2)):
    """A trace of a few blocks of a copy, of all elements or of each `stride`-th."""
    size = (max(blocks) + 1) * block
    x, out = np.ones(max(1, size * stride), np.float32), np.zeros(size, np.float32)
    return trace(copy_kernel, blocks=blocks)[grid, block](x, out, stride)


def squares(size=32):
    return np.ones((size, size), np.float32), np.zeros((size, size), np.float32)


def gains(trace, **options):
    """{rule: gain}, with few enough registers to be no limit."""
    return {f.rule: f.gain for f in advice(trace, **{"registers": 32} | options).findings}


def the(rule, trace, **options):
    findings = advice(trace, **{"registers": 32} | options).findings
    (found,) = [finding for finding in findings if finding.rule == rule]
    return found


# -- Memory


def test_a_clean_kernel_gets_no_advice_and_is_told_so():
    found = advice(copied(), registers=32)
    assert found.findings == found.untold == ()
    text = "copy_kernel on A100, counted over 3 of 864 blocks: nothing to advise."
    assert repr(found) == text and text in found._repr_html_()


@pytest.mark.parametrize("stride", [2, 4, 8, 32])
def test_a_strided_read_takes_a_sector_for_each_that_its_stride_spans(stride):
    sectors = min(32, 4 * stride)  # a request's, where 4 would do; and 4 of the write
    traced = copied(stride=stride)
    assert gains(traced) == {
        "Uncoalesced Global Accesses": pytest.approx((sectors - 4) / (sectors + 4))
    }
    (place,) = the("Uncoalesced Global Accesses", traced).places
    assert place.text == "out[i] = x[stride * i]"
    source = traced.source.splitlines()
    assert place.text in source[place.line - traced.first_line]
    share = f"{100 * (1 - 4 / sectors):.4g} % in excess"
    assert place.note == f"x, read: {sectors} sectors a request where 4 would do, {share}"


def test_threads_that_share_a_place_are_not_blamed():
    assert gains(copied(stride=0)) == {}


def test_an_unpadded_tile_queues_32_times_for_one_bank():
    traced = trace(tile_kernel, blocks=[0])[2 * 108, (32, 32)](*squares())
    assert gains(traced) == {
        "Shared Load Bank Conflicts": pytest.approx(31 / 32),
        "Uncoalesced Shared Accesses": pytest.approx(31 / 33),  # 32 wavefronts to read, 1 to write
    }
    found = the("Shared Load Bank Conflicts", traced)
    assert "a 32-way conflict: 992 of 1,024 wavefronts" in found.found
    (place,) = found.places
    assert place.text == "out[row, column] = tile[column, row]"
    assert place.note == "tile, read: 32-way"


def test_a_line_of_a_function_that_the_kernel_calls_is_named_by_the_function():
    x, out = np.ones(32 * 8, np.float32), np.zeros(32, np.float32)
    found = advice(trace(calling_kernel)[1, 32](x, out), registers=32)
    (place,) = next(f for f in found.findings if f.rule.startswith("Uncoalesced")).places
    assert (place.function, place.text) == ("fetched", "")
    assert "(in fetched)" in repr(found) and "(in fetched)" in found._repr_html_()


# -- The launch


def test_a_block_of_33_threads_wastes_31_of_64_lanes():
    found = gains(trace(odd_kernel)[108, 33](np.zeros(33, np.float32)))
    assert found["Block Size"] == pytest.approx((1 / 2) * (1 - 1 / 32))
    assert "Block Size" not in gains(copied())


def test_a_full_block_too_small_for_half_a_warp_is_half_wasted():
    assert gains(copied(108 * 32, 16))["Block Size"] == pytest.approx(0.5)


@pytest.mark.parametrize("gpu", ["T4", "A100", "H100"])
def test_three_blocks_leave_the_other_multiprocessors_idle(gpu):
    many = GPUS[gpu].multiprocessors
    found = gains(copied(grid=3), on=gpu)
    assert found == {"Small Grid": pytest.approx((many - 3) / many)}


@pytest.mark.parametrize("whole", [1, 2, 7])
def test_a_partial_wave_at_the_end_costs_one_of_the_waves(whole):
    traced = copied(grid=whole * WAVE + 1)
    assert gains(traced) == {"Tail Effect": pytest.approx(1 / (1 + whole))}
    assert "a last one of 1 " in the("Tail Effect", traced).found


def test_a_grid_that_fills_no_wave_has_no_tail():
    assert gains(copied(grid=WAVE - 1)) == {}


def test_registers_that_let_half_the_warps_in_cost_half_the_occupancy():
    traced = copied(grid=108 * 4)
    found = the("Theoretical Occupancy", traced, registers=64)
    assert found.gain == pytest.approx(0.5)
    assert "limited by registers" in found.found and "holds 4 blocks" in found.found


def test_dynamic_shared_memory_limits_the_occupancy_too():
    x, out = np.ones(THREADS, np.float32), np.zeros(THREADS, np.float32)
    launch = trace(copy_kernel, blocks=[0])[108, THREADS, 0, 40 * 1024]  # 4 of 41 KiB in 164
    found = the("Theoretical Occupancy", launch(x, out, 1))
    assert found.gain == pytest.approx(0.5) and "40,960 bytes" in found.found


def test_registers_are_asked_of_the_compiler_where_it_is_here(monkeypatch):
    pytest.importorskip("cuda.bindings")
    traced = copied(grid=WAVE)
    assert advice(traced).findings == advice(traced).untold == ()

    def refuse(*arguments, **options):
        raise CannotCompile("no compiler here")

    monkeypatch.setattr(home, "assembly", refuse)
    found = advice(copied(grid=3))
    assert [finding.rule for finding in found.findings] == ["Small Grid"]
    (why,) = found.untold
    assert "registers of a thread" in why and "no compiler here" in why and why in repr(found)
    assert "of what can be told here, nothing" in advice(traced).headline


# -- What the source says


def test_threads_with_even_numbers_wait_for_the_odd_ones():
    traced = trace(odd_kernel)[108, 32](np.zeros(32, np.float32))
    found = the("Thread Divergence", traced)
    # Two runs of code, the first two lines with 32 threads and the third with 16.
    assert found.gain == pytest.approx(1 - 24 / 32)
    (place,) = found.places
    assert (place.text, place.note) == ("if i % 2:", "108 of 108 times both ways")


def test_a_last_warp_that_is_not_full_is_told_apart_from_a_branch():
    found = the("Thread Divergence", copied(108, 48))
    assert found.gain == pytest.approx(1 - 24 / 32)
    assert "not full" in found.found and "multiple of 32" in found.do and not found.places


GIVEN = GPUS["A100"].but("of mine", fp64_lanes=4)


@pytest.mark.parametrize(
    ("gpu", "times"), [("T4", 32), ("A100", 2), ("RTX 3090", 64), ("H100", 2), (GIVEN, 16)]
)
def test_a_python_float_among_float32_costs_what_double_precision_costs_there(gpu, times):
    traced = trace(double_kernel)[WAVE, 32](np.ones(32, np.float32))
    found = the("FP64/32 Utilization", traced, on=gpu)
    assert found.gain == pytest.approx(1 - 1 / times)
    assert "float32(…)" in found.do
    (place,) = found.places
    assert place.text == "x[i] = x[i] * 2.1" and place.note.endswith("FLOPs in float64")


def test_doubles_that_are_meant_are_not_blamed_and_cost_their_share_of_the_operations():
    x, y = np.ones(32, np.float32), np.ones(32, np.float64)
    found = the("FP64/32 Utilization", trace(half_double_kernel)[WAVE, 32](x, y))
    assert found.gain == pytest.approx(1 / 2 * 1 / 2)
    assert found.do.startswith("Use float32 where")


# -- The whole


def test_exact_rules_and_nearly_exact_ones_are_told_apart_and_the_largest_gain_is_first():
    found = advice(trace(double_kernel)[3, 33](np.ones(33, np.float32)), registers=32)
    assert {finding.rule: finding.exact for finding in found.findings} == {
        "Small Grid": True,
        "FP64/32 Utilization": False,
        "Block Size": True,
        "Thread Divergence": False,
    }
    gained = [finding.gain for finding in found.findings]
    assert gained == sorted(gained, reverse=True)
    lines = repr(found).splitlines()
    assert "1. Small Grid: counts exact; estimated gain 97.22 % of the time" in lines
    doubles = (
        "2. FP64/32 Utilization: counts nearly exact, of the source, which a compiler may change"
    )
    assert f"{doubles}; estimated gain 50 % of the time" in lines


def test_every_finding_names_the_profilers_counter_and_never_its_bank_conflicts():
    tile = trace(tile_kernel, blocks=[0])[3, (32, 32)](*squares())
    doubles = trace(double_kernel)[3, 33](np.ones(33, np.float32))
    found = [*advice(tile, registers=64).findings, *advice(doubles, registers=64).findings]
    counters = {finding.rule: finding.counter for finding in found}
    assert counters["Uncoalesced Shared Accesses"] == "memory_l1_wavefronts_shared"
    assert "not l1tex__data_bank_conflicts" in counters["Shared Load Bank Conflicts"]
    for counter in counters.values():
        assert re.match(r"(memory|launch|smsp|sm|derived)__?\w+", counter)
    for finding in found:
        assert finding.do.endswith(".") and f"In the profiler: {finding.counter}." in str(finding)


def test_a_trace_read_from_json_tells_all_but_what_it_does_not_hold():
    traced = copied(grid=3, stride=2)
    again = Trace.from_json(traced.to_json())
    assert advice(again, registers=32).findings == advice(traced, registers=32).findings
    found = advice(again)
    assert [f.rule for f in found.findings] == [f.rule for f in advice(traced).findings]
    assert "a trace read from JSON holds no kernel" in found.untold[0]
    tile = trace(tile_kernel, blocks=[0])[2 * 108, (32, 32)](*squares())
    (why,) = advice(Trace.from_json(tile.to_json()), registers=32).untold
    assert "shared memory of a block" in why


def test_a_trace_kept_before_ideal_sectors_were_counted_is_not_blamed_for_all_of_them():
    told = json.loads(copied(grid=3, stride=2).to_json())
    for site in told["sites"]:
        del site["ideal_sectors"]
    found = advice(Trace.from_json(json.dumps(told)), registers=32)
    assert [finding.rule for finding in found.findings] == ["Small Grid"]
    (why,) = found.untold
    assert why.startswith("Uncoalesced Global Accesses need") and "trace the kernel again" in why


def test_a_block_that_does_not_fit_is_told_with_the_reason_and_ends_no_other_rule():
    found = advice(copied(grid=4, block=1024, stride=2, blocks=[0]), registers=128)
    assert {f.rule for f in found.findings} == {"Small Grid", "Uncoalesced Global Accesses"}
    (why,) = found.untold
    assert why.startswith("Theoretical Occupancy and Tail Effect: ") and "no block fits" in why
    assert "a block takes 131,072 of the 65,536 registers" in why


def test_what_was_counted_where_long_loops_were_sampled_is_called_an_estimate():
    x, out = np.ones(THREADS * 200, np.float32), np.zeros(THREADS, np.float32)
    launch = trace(summing_kernel, blocks=[0], turns=4)[108, THREADS]
    found = advice(launch(x, out, 200), registers=64)
    kinds = {finding.rule: finding.counts for finding in found.findings}
    assert kinds == {
        "Uncoalesced Global Accesses": home.SAMPLED,
        "Theoretical Occupancy": home.EXACT,
        "Thread Divergence": home.SAMPLED,
    }
    assert "counted over 1 of 108 blocks, long loops sampled: 3 findings" in found.headline
    assert [finding.exact for finding in found.findings].count(True) == 1
    assert "sampled" not in repr(advice(copied(grid=3)))


def test_advice_is_given_on_traces_and_on_gpus_that_are_known():
    with pytest.raises(TypeError, match=r"advice\(trace\(kernel\)\[grid, block\]\(x, y\)\)"):
        advice(copy_kernel)
    with pytest.raises(ValueError, match="No GPU is called 'B1'"):
        advice(copied(), on="B1")


def test_the_page_shows_each_finding_beside_its_line_without_a_script_or_a_background():
    found = advice(copied(grid=3, stride=2), registers=32)
    page = found._repr_html_()
    (row,) = [row for row in page.split("<tr>") if "2. Uncoalesced Global Accesses" in row]
    assert "out[i] = x[stride * i]" in row and "8 sectors a request where 4 would do" in row
    assert "<script" not in page and "background" not in page and "color: " not in page
    assert page.count("<tr>") == 1 + len(found.source)  # its head, and the kernel's lines
    assert "Small Grid" in page and "What to do:" in page


def test_a_finding_without_a_line_has_no_listing():
    assert "<table" not in advice(copied(grid=3), registers=32)._repr_html_()


def test_what_a_kernel_says_is_quoted_and_not_obeyed():
    found = advice(trace(less_than_kernel)[WAVE, 64](np.ones(64, np.float32)), registers=32)
    assert "if x[i] &lt; i:" in found._repr_html_() and "if x[i] < i:" in repr(found)


# -- The taught kernels


def launched(version):
    with tracing() as traces:
        matmul.versions[version](*map(gpu.put, matmul.inputs(64)))
    return traces[0]


def test_the_naive_product_is_advised_to_coalesce_and_the_coalesced_one_no_more():
    # A block of 16 × 16: a warp is two columns of 16 rows, and each row a sector of its own, where
    # 32 threads of 4 bytes could do with four. y, of which it reads two numbers, is not blamed.
    naive = the("Uncoalesced Global Accesses", launched("CUDA, naive"))
    n, warps = 64, 64 * 64 // 32
    excess, all_sectors = warps * (n * 12 + 12), warps * (n * (16 + 1) + 16)
    assert naive.gain == pytest.approx(excess / all_sectors)
    assert len(naive.places) == 2  # the line that reads x, and the one that writes
    for place in naive.places:
        assert place.note.endswith("16 sectors a request where 4 would do, 75 % in excess")
    assert gains(launched("CUDA, coalesced")).keys() == {"Small Grid"}
