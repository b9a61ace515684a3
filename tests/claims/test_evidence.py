"""Where figures come from: when there is none, and what is said then."""

from dataclasses import replace

import pytest

from gpulessons.claims import Given, evidence
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.ops.activations import relu

TIMING = Timing(
    op="relu", version="NumPy", backend="host", size=10, samples=(4.0,), waits=(), calls=1,
    threads=1, first=0.0, h2d=0.0, d2h=0.0, flops=1, bytes=1, error=0.0, cold=False,
    stop="settled",
)  # fmt: skip
ON_GPU = replace(TIMING, version="PyTorch on GPU", backend="torch_gpu", samples=(1.0,),
                 waits=(2.0,))  # fmt: skip


def comparison(*entries):
    return Comparison("relu", entries, "here", "now")


def test_rounds_that_agree_are_a_figure():
    found = evidence.paired("a over b", [2.0, 2.1, 2.2], [1.0, 1.0, 1.0])
    assert (found.value, found.spread) == (2.1, pytest.approx((2.05, 2.15)))


def test_rounds_too_far_apart_are_no_figure():
    found = evidence.paired("a over b", [1.0, 2.0, 4.0], [1.0, 1.0, 1.0])
    assert (found.value, found.why) == (None, "the machine was too noisy")


def test_a_gpu_is_beside_a_cpu_by_its_own_clock_or_by_what_one_waits():
    large = [replace(each, size=100, samples=(each.samples[0] * 10,), waits=())
             for each in (TIMING, ON_GPU)]  # fmt: skip
    both = comparison(TIMING, ON_GPU, large[0], replace(large[1], samples=(80.0,)))
    assert evidence.gpu_over_cpu(both) == 0.5  # at the largest size
    assert evidence.gpu_over_cpu(both, size=10) == 4
    assert evidence.gpu_over_cpu(both, size=10, wait=True) == 2


def test_who_waits_least_is_not_who_computes_quickest():
    patient = replace(ON_GPU, version="another", samples=(1.5,), waits=(1.6,))
    assert evidence.gpu_over_cpu(comparison(TIMING, ON_GPU, patient)) == 4
    assert evidence.gpu_over_cpu(comparison(TIMING, ON_GPU, patient), wait=True) == 2.5


def test_one_of_both_is_no_factor():
    for entries in ((TIMING,), (ON_GPU,), ()):
        with pytest.raises(LookupError, match="one of CPU and GPU only"):
            evidence.gpu_over_cpu(comparison(*entries))


def test_a_gpu_that_is_here_and_has_no_figure_says_why(monkeypatch):
    monkeypatch.setattr(evidence, "gpu_count", lambda: 1)
    lost = Absent("relu", "PyTorch on GPU", "torch_gpu", 10, "out of memory")
    monkeypatch.setattr(evidence, "compared", lambda *more, **options: comparison(TIMING, lost))
    monkeypatch.setattr(evidence, "shipped", lambda name: [])

    def read(run):
        return evidence.timed(run, "PyTorch on GPU").wait

    found = evidence.from_gpu(Given(), "a wait", relu, read)
    assert found.value is None and "PyTorch on GPU: out of memory" in found.why
    assert "no GPU" not in found.why
    monkeypatch.setattr(evidence, "gpu_count", lambda: 0)
    assert "no GPU, and no" in evidence.from_gpu(Given(), "a wait", relu, read).why
