"""Modelled rows: only where nothing was measured, apart from all that was, and called modelled."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpulessons.backends import gpu
from gpulessons.comparing import compare
from gpulessons.measure import on_paper
from gpulessons.measure.on_paper import SWITCH, chosen_gpus, modelled_beside, peak
from gpulessons.measure.recordings import plain as recorded_plain
from gpulessons.measure.results import (
    INTERRUPTED,
    Absent,
    Comparison,
    ModelledTiming,
    Timing,
    ratio,
)
from gpulessons.operation import op
from warplens.model.devices import named
from warplens.model.modelling import CannotModel
from warplens.model.value import Modelled

FAST, SLOW = "CUDA, fast", "CUDA, slow"
ONE = ModelledTiming(
    "imagined", FAST, "gpu", 1000, "T4", 1.2e-3, 0.94e-3, 2.1e-3, "DRAM", "latency",
    "machine code", 1000, 8000, 8e12, 320e9,
)  # fmt: skip
TIMING = Timing(
    op="imagined", version="NumPy", backend="host", size=1000, samples=(2e-3,) * 5, waits=(),
    calls=1, threads=1, first=1.0, h2d=0.0, d2h=0.0, flops=1000, bytes=8000, error=0.0, cold=False,
    stop="settled",
)  # fmt: skip
GONE = Absent("imagined", FAST, "gpu", 1000, "no NVIDIA GPU here")


def compared(*entries, **more):
    return Comparison("imagined", entries, "a laptop", "2026-11-22", **more)


def paper(*entries, gpu="T4"):
    return Comparison("imagined", entries, gpu, "2026-11-22", "modelled")


@pytest.fixture
def imagined():
    """An op with two CUDA versions of the course's own."""

    @op(inputs=lambda size, rng: (rng.normal(size=size).astype(np.float32),),
        flops=lambda x: x.size, sizes=(10, 1000))  # fmt: skip
    def imagined(x):
        return 2 * x

    for name in (FAST, SLOW):
        imagined.version(name, on=gpu)(taught)
    return imagined


def taught(x):
    return 2 * x


taught.__module__ = "gpulessons.ops.imagined"


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """The model, replaced, on a machine without a GPU: what it was asked for."""
    calls = []

    def model(version, size, on):
        calls.append((version.name, size, on.name))
        if version.name.endswith("cores"):
            raise CannotModel("tensor cores are left out")
        bounds = {"DRAM": 2e-6 * size, "latency": 1e-6 * size, "launch": 0.0}
        high = None if version.name.endswith("scattered") else 4e-6 * size
        of = (1.0, "warps", 3.0, "machine code")
        return Modelled(version.name, on.name, 2e-6 * size, 1e-6 * size, high, bounds, *of)

    monkeypatch.setattr(on_paper, "modelled_version", model)
    monkeypatch.setattr(on_paper, "gpu_count", lambda: 0)
    monkeypatch.setattr(type(gpu), "why_not", lambda self: "no NVIDIA GPU here")
    here = SimpleNamespace(name="here", interrupted=False)  # and nothing of it is measured
    monkeypatch.setattr("gpulessons.measure.compare.machine", lambda: here)
    return calls


# -- One modelled time.


def test_of_a_time_with_no_upper_end_only_the_lower_is_told():
    least = replace(ONE, seconds=None, high=None)
    assert least.words == "at least 940 µs" and least.at_least
    assert (least.median, least.quartiles) == (0.94e-3, (0.94e-3, 0.94e-3))
    assert least.about == ["DRAM, then latency", "", ""]


def test_no_ratio_is_claimed_with_a_modelled_time():
    why = "CUDA, fast: modelled for T4, not measured"
    assert ratio(TIMING, ONE).refused == why and ratio(ONE, TIMING).refused == why


# -- When there are any.


def test_cuda_versions_without_a_time_are_modelled_at_each_size_for_each_gpu(imagined, asked):
    run = compare(imagined, budget=0.01, modelled=SWITCH)
    assert run.gpus == [*SWITCH]
    assert asked == [(v, n, g) for g in run.gpus for n in (10, 1000) for v in (FAST, SLOW)]
    found = run.on_paper("A100")
    assert (found.tier, found.machine, found.unit) == ("modelled", "A100", run.unit)
    assert {(t.version, t.size) for t in found.estimates} == {
        (v, n) for v in (FAST, SLOW) for n in (10, 1000)
    }
    one = found.at(FAST, 1000)
    assert (one.seconds, one.low, one.high) == (2e-3, 1e-3, 4e-3)
    assert (one.limiter, one.runner_up, one.gpu) == ("DRAM", "latency", "A100")
    assert (one.flops, one.bytes) == (1000, 8000)
    assert (one.peak, one.memory) == (peak(named("A100")), 1555e9)


def test_unasked_what_is_not_kept_is_modelled_for_the_first_gpu_alone(imagined, asked, monkeypatch):
    assert compare(imagined, 10, budget=0.01).gpus == ["A100"]
    assert {gpu for *_, gpu in asked} == {"A100"}
    monkeypatch.setattr(
        on_paper, "stored_result", lambda version, *where: version.name == FAST or None
    )
    run = compare(imagined, 10, budget=0.01)
    assert run.gpus == [*SWITCH]
    assert [each.version for each in run.on_paper("T4").estimates] == [FAST]
    assert run.on_paper("T4").at(SLOW).why == 'not modelled: ask for it with modelled="T4"'


def test_what_is_modelled_is_never_among_what_was_measured(imagined):
    run = compare(imagined, budget=0.01)
    for one in (run, *run.modelled):
        assert not any(isinstance(each, ModelledTiming) for each in one.timings)
    assert {t.backend for t in run.timings} == {"host"}
    assert run.best("gpu") is None and run.best().backend == "host"
    assert run.on_paper().best() is None
    assert isinstance(run.at(FAST, 1000), Absent)
    assert run.speedup("NumPy", FAST, 1000).refused.startswith("CUDA, fast: no NVIDIA GPU")
    assert not run.estimates and run.on_paper().timings == ()


def test_with_a_gpu_there_are_no_modelled_rows_unless_one_is_named(monkeypatch):
    monkeypatch.setattr(on_paper, "gpu_count", lambda: 1)
    assert chosen_gpus(None) == []
    assert [each.name for each in chosen_gpus(("T4", "H100"))] == ["T4", "H100"]


def test_gpus_are_named_alone_together_or_not_at_all(imagined, asked):
    assert compare(imagined, 10, budget=0.01, modelled="H100").gpus == ["H100"]
    mine = named("RTX 3090").but("mine", dram_rate=1e11)
    assert compare(imagined, 10, budget=0.01, modelled=[mine, "T4"]).gpus == ["mine", "T4"]
    asked.clear()
    assert compare(imagined, 10, budget=0.01, modelled=()).gpus == [] and not asked


def test_an_unknown_gpu_is_refused_before_anything_is_measured(monkeypatch, imagined):
    monkeypatch.setattr("gpulessons.measure.compare.timings", lambda *a, **k: pytest.fail("no"))
    with pytest.raises(ValueError, match="No GPU is called 'T5'"):
        compare(imagined, modelled="T5")


@pytest.mark.parametrize("tier", ["live", "recorded"])
def test_a_version_with_a_time_at_any_size_is_not_modelled(imagined, tier):
    timed = replace(TIMING, version=FAST, backend="gpu", size=10)
    gone = [replace(GONE, version=v) for v in (FAST, SLOW)]
    here, beside = ([timed], []) if tier == "live" else ([], [compared(timed, tier="recorded")])
    (found,) = modelled_beside(imagined, [*gone, *here], beside, [named("T4")])
    assert {each.version for each in found.estimates} == {SLOW}


def test_what_runs_on_no_gpu_of_ours_is_not_modelled(imagined):
    others = [replace(GONE, version="NumPy", backend=b) for b in ("host", "torch_gpu")]
    assert modelled_beside(imagined, others, (), [named("T4")]) == ()


def test_a_learners_wrong_kernel_has_no_modelled_time(imagined, asked):
    imagined.version("mine", on=gpu)(lambda x: 3 * x)
    run = compare(imagined, 10, ["mine", FAST], budget=0.01)
    assert "wrong: " in run.at("mine").why
    assert {name for name, *_ in asked} == {FAST}


def test_what_the_model_leaves_out_is_a_row_with_its_reason(imagined):
    imagined.version("CUDA, tensor cores", on=gpu)(taught)
    found = compare(imagined, 10, budget=0.01).on_paper()
    assert found.at("CUDA, tensor cores").why == "not modelled: tensor cores are left out"
    assert "– CUDA, tensor cores: not modelled: tensor cores are left out" in repr(found)


def test_a_model_that_breaks_costs_a_row_and_not_the_measurement(imagined, monkeypatch):
    monkeypatch.setattr(on_paper, "modelled_version", lambda *given: 1 / 0)
    run = compare(imagined, 10, budget=0.01)
    assert run.modelled == () and run.timings


def test_ctrl_c_while_modelling_leaves_what_was_measured(imagined, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(on_paper, "modelled_version", interrupted)
    run = compare(imagined, 10, budget=0.01)
    assert run.timings and INTERRUPTED in run.notes and run.modelled == ()


# -- How it reads.


BOTH = compared(TIMING, GONE, modelled=(paper(ONE), paper(replace(ONE, gpu="A100"), gpu="A100")))


def test_a_table_tells_modelled_from_measured_and_each_gpu_has_its_own():
    for text in (repr(BOTH), BOTH._repr_html_()):
        assert "modelled for T4, not measured" in text and "modelled for A100" not in text
    assert "(modelled for A100, not measured)" in repr(BOTH.on_paper("A100"))
    assert BOTH.on_paper() is BOTH.modelled[0]
    with pytest.raises(ValueError, match="not modelled for 'H100' here; it is for T4, A100"):
        BOTH.on_paper("H100")


def test_a_recording_holds_nothing_modelled():
    with pytest.raises(ValueError, match="modelled for T4, not measured: that is no recording"):
        recorded_plain(BOTH.modelled[0])
    assert "T4" not in json.dumps(recorded_plain(BOTH))
