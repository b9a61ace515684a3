"""Real steps of PyTorch on this CPU, under its profiler."""

import json

import numpy as np
import pytest

from gpulessons import profile
from gpulessons.hardware import budget
from gpulessons.profiler.owners import owner_on_cpu, owner_on_gpu
from gpulessons.profiler.recorder import STEP
from gpulessons.profiler.spans import COMPUTE, IDLE, LAUNCH, MEMORY

few = {"steps": 1, "warm_up": 1}


GPU_OWNERS = {
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128": "cuDNN",
    "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>": "cuDNN",
    "ampere_sgemm_128x64_tn": "cuBLAS",
    "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT": "cuBLAS",
    "void cutlass::Kernel2<cutlass_80_tensorop_d884>": "CUTLASS",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>":
        "PyTorch (ATen)",
    "triton_poi_fused_add_relu_0": "Triton, from torch.compile",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL": "NCCL",
    "made_up_kernel": "unknown",
}  # fmt: skip
CPU_OWNERS = {
    "aten::mkldnn_convolution": "oneDNN",
    "mkldnn::_linear_pointwise": "oneDNN",
    "aten::relu": "PyTorch (ATen)",
    "aten::mm_like": "PyTorch (ATen)",
    "mine::op": "unknown",
}


@pytest.fixture(scope="module", autouse=True)
def loaded():
    global torch
    torch = pytest.importorskip("torch")


def training_step():
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3)
    )
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    x, y = torch.randn(8, 1, 8, 8), torch.randint(0, 3, (8,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()

    return step


@pytest.fixture(scope="module")
def training():
    return profile(training_step())


def test_a_training_step_shows_its_operators_forward_and_backward(training):
    names = {span.name for span in training.spans}
    assert {"aten::conv2d", "aten::convolution_backward", "aten::addmm", "aten::mm"} <= names
    assert "Optimizer.step#SGD.step" in {s.name for s in training.spans if s.lane == "Python"}
    assert not {STEP, "ProfilerStep*"} & names
    assert all(0 <= s.start < s.stop <= training.seconds * (1 + 1e-9) for s in training.spans)


def test_it_is_one_step_and_not_several(training):
    assert sum(span.name == "aten::conv2d" for span in training.spans) == 1
    assert len(training.recorded) == 5
    assert sorted(training.recorded)[2] == training.seconds


def test_the_step_is_saved_as_a_trace_of_the_field_s_own(training, tmp_path):
    events = json.loads(training.save(tmp_path / "step.json").read_text())["traceEvents"]
    assert sum(event.get("name") == "aten::conv2d" for event in events) == 1


def test_shares_sum_up_to_the_whole(training):
    assert list(training.split()) == [COMPUTE, LAUNCH, MEMORY, IDLE]
    assert sum(training.split().values()) == pytest.approx(1, abs=0.01)
    assert min(training.split().values()) >= 0


def test_a_large_product_is_mostly_computing():
    a = torch.randn(700, 700)
    found = profile(lambda: a @ a, steps=3).split()
    assert found[COMPUTE] > found[LAUNCH] + found[MEMORY]


def test_many_tiny_sums_are_mostly_launching():
    one = torch.ones(2)

    def sums():
        for _ in range(500):
            torch.add(one, one)

    found = profile(sums, steps=3).split()
    assert found[LAUNCH] > found[COMPUTE] + found[MEMORY]


def test_under_a_budget_it_is_recorded_once_and_says_so(monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.01")
    found = profile(training_step())
    assert len(found.recorded) == 1
    assert "rough" in repr(found)


def test_numpy_is_invisible_and_that_is_said():
    with pytest.raises(ValueError, match="No operator of PyTorch ran"):
        profile(lambda: np.ones(10) + 1, **few)


def test_kernels_are_summed_without_what_stands_in_them(training):
    kernels = {kernel.name: kernel for kernel in training.kernels()}
    assert kernels["aten::mm"].calls == 1 + 1  # for the layer's input and for its weights
    assert "aten::conv2d" not in kernels and "aten::empty" not in kernels
    assert kernels["aten::addmm"].owner.startswith("BLAS")
    total = sum(kernel.seconds for kernel in kernels.values())
    computing = training.split()[COMPUTE] * training.seconds
    calls = sum(kernel.calls for kernel in kernels.values()) * training.call
    assert computing - 1e-9 <= total <= computing + calls + 1e-9
    assert "whose" in repr(training.kernels())


def test_the_owner_is_told_by_the_name_or_unknown():
    assert {name: owner_on_gpu(name) for name in GPU_OWNERS} == GPU_OWNERS
    assert {name: owner_on_cpu(name) for name in CPU_OWNERS} == CPU_OWNERS
