"""The benchmark's rows about several processes: their ratios, of runs whose times are made up."""

import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpulessons.workers import Link

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import processes
import two_hosts
from measure_links import Sample

LINK = Link(2e-4, 1e8)


def measured(sizes, factor=lambda size: 1.0):
    return [Sample("backend", 2, n, factor(n) * LINK.seconds("backend", 2, n)) for n in sizes]


@pytest.mark.parametrize(("off", "near"), [(1.0, 1.0), (1.25, 0.8), (0.8, 0.8)])
def test_a_backend_is_as_near_to_its_model_as_at_the_sizes_that_it_was_not_fitted_to(
    monkeypatch, off, near
):
    def launch(program, workers, sizes, **options):
        return [measured(sizes, lambda n: off if n in processes.HELD_OUT else 1.0)]

    monkeypatch.setattr(processes.gpulessons, "launch", launch)
    found = processes.engine_or_model()
    assert (found.median, found.low, found.high) == pytest.approx((near, near, near))


@pytest.mark.parametrize(("slower", "near"), [(1.0, 1.0), (1.25, 0.8)])
def test_two_hosts_are_as_near_to_the_model_as_their_steps_to_computing_and_telling(
    monkeypatch, slower, near
):
    size, steps = 5e6, processes.NETWORK["steps"]
    step = slower * (0.020 + LINK.seconds("backend", 2, size))

    def launched(names, program, apart=False, runs=(), sizes=(), **options):
        if program == "measure_links":
            return [measured(sizes)] * 2
        batches = {run["batch"] for run in runs}
        assert batches == {processes.NETWORK["batch"] // (2 if apart else 1)}
        times = (0.015, 0.020) if apart else (step, step)  # the slower host sets the pace
        return [[SimpleNamespace(seconds=t, bytes=steps * size) for _ in runs] for t in times]

    monkeypatch.setattr(two_hosts, "joined", lambda megabits: nullcontext(["one", "other"]))
    monkeypatch.setattr(two_hosts, "launched", launched)
    assert processes.hosts_or_model(200).median == pytest.approx(near)


def test_two_processes_win_by_the_time_that_one_takes_to_the_same_loss(monkeypatch):
    def ran(seconds):
        curve = (0.0, 0.7), (seconds, 0.3)
        return SimpleNamespace(seconds=seconds, curve=curve)

    rounds = {"alone": (ran(3.0), ran(2.0)), "no lock": (ran(1.0), ran(4.0))}
    monkeypatch.setattr(processes.gpulessons, "launch", lambda *_, **__: [rounds, None])
    assert processes.hogwild_or_one().median == pytest.approx(2.0)
