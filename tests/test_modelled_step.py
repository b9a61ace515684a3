"""The step of `make gpu` that lays modelled beside measured: its GPU is a fake with a clock."""

import sys
from pathlib import Path

import numpy as np
import pytest

from gpulessons.backends import BACKENDS, Host
from gpulessons.operation import op
from warplens.model.devices import GPUS
from warplens.model.modelling import CannotModel
from warplens.model.value import Modelled


class FakeGpu(Host):
    """A backend called as the real one; its time is whatever its versions say it is."""

    name, label, now, alive = "gpu", "a fake GPU", 0.0, True

    def mark(self):
        return self.now

    def elapsed(self, start, stop):
        return stop - start

    def sync(self):
        if not self.alive:
            raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")


@pytest.fixture
def confirm(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[1] / "benchmarks"), *sys.path])
    import confirm
    import turnover

    monkeypatch.setattr(confirm, "present", lambda: GPUS["H200"])
    monkeypatch.setattr(confirm, "modelled_anew", canned)
    monkeypatch.setattr(turnover, "turnovers", lambda device: ())
    monkeypatch.setattr(turnover, "launching", lambda: 1e-6)
    return confirm


def canned(version, size, gpu):
    if version.name == "unknown":
        raise CannotModel("it uses tensor cores")
    bounds = {"DRAM": 1e-5, "latency": 5e-6}
    return [Modelled("k", gpu.name, 1.2e-5, 9e-6, 2e-5, bounds, 0.5, "warps", 1.0, "machine code")]


@pytest.fixture
def double(monkeypatch):
    """An op with a right version, a wrong one, and one that takes the GPU down."""
    backend = FakeGpu()
    monkeypatch.setitem(BACKENDS, "gpu", backend)

    @op(inputs=lambda size, rng: (rng.standard_normal(size, np.float32),),
        flops=lambda x: x.size, sizes=(64,))  # fmt: skip
    def double(x):
        return 2 * x

    def takes(name, factor):
        @double.version(name, on=backend)
        def version(x, out):
            np.multiply(x, factor, out=out)
            backend.now += 1e-5

    for name, factor in (("right", 2), ("wrong", 3), ("unknown", 2)):
        takes(name, factor)

    @double.version("out of bounds", on=backend)
    def out_of_bounds(x):
        backend.alive = False
        backend.sync()

    double.backend = backend
    return double


def test_every_version_has_a_row_and_a_lost_gpu_is_taken_up_by_another_process(
    confirm, double, tmp_path, capsys
):
    for status in (confirm.LOST, confirm.LOST, 0):  # it is lost once at each of two sizes
        double.backend.alive = True
        assert confirm.judge([double], tmp_path, float("inf")) == status
    rows = confirm.read(tmp_path / confirm.NAME)
    assert len(rows) == 4 * 2
    right = rows["double", "right", "64"]
    assert float(right["measured"]) == pytest.approx(1e-5)
    assert (right["limiter"], float(right["modelled"])) == ("DRAM", 1.2e-5)
    assert "WrongAnswer" in rows["double", "wrong", "64"]["why"]
    assert rows["double", "unknown", "64"]["why"] == "it uses tensor cores"
    assert "ILLEGAL_ADDRESS" in rows["double", "out of bounds", "64"]["why"]
    assert "Off by 20 % (the median of 2); 100 % lie in" in capsys.readouterr().out


def test_without_time_it_says_so_and_a_gpu_without_figures_is_no_failure(
    confirm, double, tmp_path, capsys, monkeypatch
):
    assert confirm.judge([double], tmp_path, end=0) == 1
    assert "No time was left for double at 64" in capsys.readouterr().out
    monkeypatch.setattr(confirm, "present", lambda: None)
    assert confirm.judge([double], tmp_path, float("inf")) == 0
