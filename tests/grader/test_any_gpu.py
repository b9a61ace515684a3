"""Without CUDA, the `gpu` backend is what WebGPU reaches: checked there; timed only on a GPU."""

from importlib.util import find_spec

import pytest

from gpulessons import backends, check, relu
from gpulessons.backends import any_gpu, gpu
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
    finally:
        gpu.by_webgpu.close()
    assert found.machine.startswith(f"{any_gpu().name} by WebGPU")
    (note,) = (note for note in found.notes if "by WebGPU" in note)
    assert "shared memory" in note and "clock" in note and found.entries[0].median > 0


@here
def test_what_webgpu_refuses_is_no_mistake(software, monkeypatch):
    from warplens.webgpu import launches

    def refuses(*_):
        raise launches.Refused("such a thing", 3, "kernel")

    monkeypatch.setattr(launches, "launch", refuses)
    said = check(relu, relu.versions[KERNEL])
    assert said.passed and "(not on the GPU: kernel, line 3" in said.ran


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
