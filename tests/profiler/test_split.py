"""Hand-made spans, as Kineto tells them on a CPU and on a GPU: what goes into which share."""

from itertools import pairwise

import pytest

from gpulessons.profiler.spans import (
    COMPUTE,
    IDLE,
    LAUNCH,
    MEMORY,
    Event,
    spans,
)
from gpulessons.profiler.split import partition, percents, shares

MAIN, OTHER, STREAM = 100, 200, 7
CPU_STEP = [
    Event("Optimizer.step#SGD.step", 80, 95, MAIN, annotation=True),
    Event("aten::linear", 10, 40, MAIN),
    Event("aten::t", 11, 13, MAIN),
    Event("aten::addmm", 15, 39, MAIN),
    Event("aten::copy_", 16, 20, MAIN),
    Event("autograd::engine::evaluate_function: AddmmBackward0", 50, 70, MAIN),
    Event("AddmmBackward0", 51, 69, MAIN),
    Event("aten::mm", 52, 68, MAIN),
    Event("aten::add_", 82, 92, MAIN),
]
# The host launches a product and waits; the GPU copies, then multiplies.
GPU_STEP = [
    Event("aten::to", 0, 12, MAIN),
    Event("aten::copy_", 1, 12, MAIN),
    Event("cudaMemcpyAsync", 2, 4, MAIN),
    Event("aten::mm", 20, 30, MAIN),
    Event("cudaLaunchKernel", 24, 26, MAIN),
    Event("cudaDeviceSynchronize", 60, 100, MAIN),
    Event("Memcpy HtoD (Pageable -> Device)", 6, 16, STREAM, on_gpu=True),
    Event("ampere_sgemm_128x64_tn", 28, 80, STREAM, on_gpu=True),
]


KIND_OF = {
    "aten::mkldnn_convolution": COMPUTE,
    "my_library::fast_thing": COMPUTE,
    "## Call CompiledFxGraph fvn7 ##": COMPUTE,
    "aten::zero_": MEMORY,
    "aten::empty_strided": MEMORY,
    "cudaMalloc": MEMORY,
    "aten::as_strided_": LAUNCH,
    "torch::autograd::AccumulateGrad": LAUNCH,
    "Torch-Compiled Region: 0/0": LAUNCH,
    "cudaLaunchKernel": LAUNCH,
    "cuLaunchKernelEx": LAUNCH,
    "cudaStreamSynchronize": IDLE,
}


def split(events, seconds=100.0, **more):
    return {
        k: v * seconds for k, v in shares(partition(spans(events, MAIN), seconds, **more)).items()
    }


def assert_gapless(parts, seconds):
    assert parts[0].start == 0 and parts[-1].stop == pytest.approx(seconds)
    assert all(one.stop == two.start for one, two in pairwise(parts))
    assert sum(shares(parts).values()) == pytest.approx(1)


def test_a_cpu_step_is_split_by_the_innermost_operator():
    # computing: addmm without its copy, mm, add_; moving: the copy; the rest is launching, Python.
    assert split(CPU_STEP) == pytest.approx({COMPUTE: 46, MEMORY: 4, LAUNCH: 50, IDLE: 0})


def test_the_call_of_an_operator_is_taken_from_its_beginning():
    # Three operators compute: each loses 2 seconds, and one shorter than that all of itself.
    found = split([*CPU_STEP, Event("aten::mul", 97, 98, MAIN)], call=2.0)
    assert found == pytest.approx({COMPUTE: 40, MEMORY: 4, LAUNCH: 56, IDLE: 0})


def test_a_gpu_step_computes_while_a_kernel_runs_whatever_the_host_does():
    # 6–16 copies, 28–80 the kernel, 80–100 the host waits for nothing; the rest is the host's.
    assert split(GPU_STEP) == pytest.approx({COMPUTE: 52, MEMORY: 10, LAUNCH: 18, IDLE: 20})


def test_a_copy_beside_a_kernel_costs_nothing_and_overlapping_streams_count_once():
    more = [
        Event("Memcpy DtoH (Device -> Pinned)", 40, 60, 9, on_gpu=True),
        Event("nccl_all_reduce", 70, 90, 9, on_gpu=True),
    ]
    assert split([*GPU_STEP, *more]) == pytest.approx(
        {COMPUTE: 62, MEMORY: 10, LAUNCH: 18, IDLE: 10}
    )


def test_an_operator_by_itself_is_of_a_kind():
    found = {name: spans([Event(name, 0, 1, MAIN)], MAIN)[0].kind for name in KIND_OF}
    assert found == KIND_OF


def test_every_instant_belongs_to_one_part():
    for events in (CPU_STEP, GPU_STEP, []):
        for call in (0.0, 0.5, 1000.0):
            assert_gapless(partition(spans(events, MAIN), 100.0, call), 100.0)


def test_percents_add_up_to_a_hundred():
    assert percents({"a": 0.237, "b": 0.707, "c": 0.056}) == {"a": 24, "b": 71, "c": 5}
    assert sum(percents(dict.fromkeys("abc", 1 / 3)).values()) == 100
