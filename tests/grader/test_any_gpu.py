"""Without CUDA, the `gpu` backend is what WebGPU reaches: checked there; timed only on a GPU."""

from importlib.util import find_spec

import pytest

from gpulessons import backends, check, claims, relu
from gpulessons.backends import any_gpu, gpu
from gpulessons.hardware import nvidia
from gpulessons.measure.compare import measured

KERNEL = "CUDA, a thread per element"
here = pytest.mark.skipif(not (find_spec("wgpu") and any_gpu()), reason="WebGPU reaches no GPU")


@pytest.fixture
def software(monkeypatch):
    monkeypatch.setattr(any_gpu(), "software", True)


@here
def test_a_driver_in_a_gpus_place_answers_checks_and_is_never_timed(software):
    said = check(relu, relu.versions[KERNEL])
    assert said.passed and f"and on {any_gpu().name}, by WebGPU" in said.ran
    (entry,) = measured(relu, 100, [KERNEL]).entries
    assert "not timed" in entry.why and any_gpu().name in entry.why
    assert gpu.remark() == ""  # outside of a check, cuda means what it did


@here
def test_a_row_of_a_gpu_names_it_and_what_differs(monkeypatch):
    monkeypatch.setattr(any_gpu(), "software", False)
    try:
        found = measured(relu, 100, [KERNEL], budget=0.1)
        said = claims.found("4b", product=12.0), claims.found("1b", cached=2.0)
    finally:
        gpu.by_webgpu.close()
    assert found.machine.startswith(f"{any_gpu().name} by WebGPU")
    (note,) = (note for note in found.notes if "by WebGPU" in note)
    assert "shared memory" in note and "clock" in note and found.entries[0].median > 0
    by_it = [f"{any_gpu().name} by WebGPU" in repr(each) for each in said]
    assert by_it == [True, False]  # a figure that no GPU had a part in does not name it


@here
def test_what_webgpu_refuses_is_no_mistake(software, monkeypatch):
    from warplens.webgpu import launches

    def refuses(*_):
        raise launches.Refused("such a thing", 3, "kernel")

    monkeypatch.setattr(launches, "launch", refuses)
    said = check(relu, relu.versions[KERNEL])
    assert said.passed and "(not on the GPU: kernel, line 3" in said.ran


@pytest.mark.parametrize("seen", [[], ["/dev/dri/renderD128"]])
def test_without_cuda_the_gpu_that_may_be_there_is_offered(monkeypatch, seen):
    for name, value in (("find_spec", lambda _: None), ("glob", lambda _: seen),
                        ("why_no_gpu", lambda: "No driver was found.")):  # fmt: skip
        monkeypatch.setattr(nvidia, name, value)
    monkeypatch.setattr(nvidia.sys, "platform", "linux")
    monkeypatch.setattr(backends, "why_no_gpu", nvidia.why_no_gpu)
    said = backends.Gpu.why_no_cuda.__wrapped__(gpu)
    assert said.startswith("no NVIDIA GPU here") and ('"gpulessons[gpu-any]"' in said) == bool(seen)


def test_without_wgpu_it_is_as_before(monkeypatch):
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    any_gpu.cache_clear()
    assert any_gpu() is None and gpu.answers() == (not gpu.why_not())
    any_gpu.cache_clear()


@pytest.mark.parametrize("device, capability, words", [
    ("mps", None, "TF32 is arithmetic of NVIDIA's GPUs"), ("cuda", None, "none of them"),
    ("cuda", (8, 0), ""), ("cuda", (7, 5), "8.0"), ("", None, ""),
])  # fmt: skip
def test_tf32_has_no_row_where_no_gpu_has_it(monkeypatch, device, capability, words):
    monkeypatch.setattr(backends, "compute_capability", lambda: capability)
    monkeypatch.setattr(backends.TorchGpu, "device", lambda self: device)
    backends.why_no_tf32.cache_clear()
    said = backends.why_no_tf32()
    backends.why_no_tf32.cache_clear()
    assert words in said and bool(said) == bool(words)
