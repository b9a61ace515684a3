"""The step of `make gpu` that lays modelled beside measured: its GPU is a fake with a clock."""

import itertools
import json
import math
import os
import subprocess
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from time import monotonic
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda

from gpulessons.backends import BACKENDS, Host, NotHere
from gpulessons.operation import op
from warplens.code import sass
from warplens.code.cuda import assembly
from warplens.code.linking import CannotCompile
from warplens.model import kept as kept_times
from warplens.model import modelling
from warplens.model.confirming import Row, Unjudged, load
from warplens.model.devices import GPUS
from warplens.model.modelling import CannotModel
from warplens.model.value import Modelled
from warplens.model.versions import modelled_anew

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import gpu as gpu_benchmark  # noqa: E402
import paper  # noqa: E402
import turnover  # noqa: E402

CARD = {"name": "NVIDIA H200", "compute_capability": "9.0", "multiprocessors": 132, "l2": 1,
        "memory": 1, "driver": "1"}  # fmt: skip
FAST = 1e-6  # seconds of a launch, for its caller


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
def fake(monkeypatch):
    backend = FakeGpu()
    monkeypatch.setitem(BACKENDS, "gpu", backend)
    here = SimpleNamespace(gpu=CARD, to_json=lambda: json.dumps({"gpu": CARD, "commit": "abc"}))
    monkeypatch.setattr(paper, "machine", lambda: here)
    monkeypatch.setattr(paper, "gpu_rates", lambda: {"memory": 4.8e12, "clock": 1.98e9})
    monkeypatch.setattr(paper, "gpu_load", lambda: {"gpu_hertz": 1.9e9})
    monkeypatch.setattr(turnover, "turnovers", lambda gpu: ())
    monkeypatch.setattr(turnover, "launching", lambda: FAST)
    monkeypatch.setattr(paper, "modelled_anew", canned)
    return backend


@pytest.fixture
def real(fake, monkeypatch):
    """The model itself, which takes a second, and not an answer that stands ready."""
    monkeypatch.setattr(paper, "modelled_anew", modelled_anew)


def canned(version, size, gpu):
    bounds = {"DRAM": 1e-5, "latency": 5e-6}
    told = 0.5, "registers", 1.0, "machine code"
    return [Modelled(version.name, gpu.name, 1.1e-5, 9e-6, 2e-5, bounds, *told)]


@cuda.jit
def double_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i]


def inputs(size, rng):
    return (rng.standard_normal(size, np.float32),)


@pytest.fixture
def double():
    @op(inputs=inputs, flops=lambda x: x.size, sizes=(8, 64, 4096))
    def double(x):
        return 2 * x

    return double


def takes(op, backend, name, seconds=1e-5):
    """A right version: it launches where launches are traced, and takes these seconds here."""

    @op.version(name, on=backend)
    def version(x, out):
        if cuda.get_current_device.__module__.startswith("gpulessons."):  # inside `tracing()`
            double_kernel[-(-x.size // 256), 256](x, out)
        else:
            np.multiply(x, 2, out=out)
            backend.now += seconds

    return version


def run(op, out, end=math.inf):
    status = paper.judge([op], out, end)
    return status, load(out / "modelled.json")


def rows_of(kept):
    return {(row.version, row.size): row for row in kept.rows}


# -- What it writes.


def test_every_kernel_is_measured_and_modelled_at_three_sizes_the_largest_first(
    fake, real, double, tmp_path, capsys
):
    takes(double, fake, "CUDA")
    status, kept = run(double, tmp_path)
    assert status == 0 and [row.size for row in kept.rows] == [4096, 4 * 4096, 64]
    for row in kept.rows:
        assert row.measured == pytest.approx(1e-5) and row.launching == FAST
        assert 0 < row.low < row.modelled < row.high and row.limiter in row.bounds
        assert row.runner_up != row.limiter and not row.hidden
    assert kept.gpu == "H200" and kept.machine["gpu"] == CARD and kept.date and kept.gpulessons
    assert kept.summaries[-1].number == 3
    printed = capsys.readouterr().out
    assert "in the interval" in printed and "NVIDIA H200 is modelled as the H200" in printed


def test_a_time_that_its_launches_may_explain_says_nothing_of_the_model(fake, double, tmp_path):
    takes(double, fake, "CUDA", seconds=1.5 * FAST)
    _, kept = run(double, tmp_path)
    assert all(row.hidden for row in kept.rows) and kept.summaries == []


def test_every_launch_counts_also_of_a_kernel_whose_modelled_time_is_kept(
    fake, real, double, tmp_path, monkeypatch
):
    def known(version, size, gpu):
        (found,) = canned(version, size, GPUS[gpu])
        return found

    monkeypatch.setattr(kept_times, "result_of", known)

    @double.version("CUDA, thrice", on=fake)
    def thrice(x, out):
        if cuda.get_current_device.__module__.startswith("gpulessons."):
            for _ in range(3):
                double_kernel[-(-x.size // 256), 256](x, out)
        else:
            np.multiply(x, 2, out=out)
            fake.now += 1e-5

    _, kept = run(double, tmp_path)
    assert [row.launching for row in kept.rows] == pytest.approx([3 * FAST] * 3)


def test_without_a_disassembler_kernels_are_counted_from_their_source_and_it_says_so(
    fake, real, double, tmp_path, monkeypatch
):
    def missing(*_):
        raise CannotCompile(sass.NO_DISASSEMBLER)

    monkeypatch.setattr(modelling, "machine_code", missing)
    modelling.code_of.cache_clear()  # of what an earlier test had compiled
    takes(double, fake, "CUDA")
    status, kept = run(double, tmp_path)
    assert status == 0 and {row.counted_from for row in kept.rows} == {"source"}
    assert "3 of them were counted from their source alone" in repr(kept)


# -- Trouble.


def test_a_kernel_that_fails_ends_no_other_and_the_step_says_so(fake, double, tmp_path, capsys):
    @double.version("wrong", on=fake)
    def wrong(x, out):
        np.multiply(x, 3, out=out)
        fake.now += 1e-5

    @double.version("raises", on=fake)
    def raises(x):
        raise RuntimeError("unspecified\nlaunch failure")

    takes(double, fake, "right")
    status, kept = run(double, tmp_path)
    rows = rows_of(kept)
    assert status == 1 and isinstance(rows["right", 4096], Row)
    assert "WrongAnswer" in rows["wrong", 4096].why and rows["wrong", 4096].fault
    assert "unspecified launch failure" in rows["raises", 4096].why
    assert "FAILED double: raises, at 4096" in capsys.readouterr().out


def test_what_cannot_be_modelled_is_told_and_is_no_failure(fake, double, tmp_path, monkeypatch):
    takes(double, fake, "CUDA")

    def refuse(*_):
        raise CannotModel("it uses tensor cores")

    monkeypatch.setattr(paper, "modelled_anew", refuse)
    status, kept = run(double, tmp_path)
    assert status == 0 and {row.why for row in kept.rows} == {"it uses tensor cores"}
    assert not any(row.fault for row in kept.rows)


def test_what_this_gpu_cannot_run_or_takes_too_long_is_told_and_is_no_failure(
    fake, double, tmp_path
):
    @double.version("for others", on=fake)
    def for_others(x):
        raise NotHere("needs tensor cores")

    takes(double, fake, "slow", seconds=1.0)
    status, kept = run(double, tmp_path)
    rows = rows_of(kept)
    assert status == 0 and not any(row.fault for row in kept.rows)
    assert rows["for others", 4096].why == "needs tensor cores"
    assert rows["slow", 4096].why.startswith("skipped: ")


def test_a_fault_in_the_model_is_a_failure_of_that_kernel_alone(
    fake, double, tmp_path, monkeypatch
):
    takes(double, fake, "CUDA")
    answers = itertools.chain([ZeroDivisionError("bounds")], itertools.repeat(None))
    before = paper.modelled_anew

    def model(*arguments):
        if trouble := next(answers):
            raise trouble
        return before(*arguments)

    monkeypatch.setattr(paper, "modelled_anew", model)
    status, kept = run(double, tmp_path)
    assert status == 1 and "ZeroDivisionError: bounds" in kept.rows[0].why
    assert all(isinstance(row, Row) for row in kept.rows[1:])


def test_a_gpu_of_which_the_model_knows_nothing_is_said_and_is_no_failure(
    fake, double, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(CARD, "compute_capability", "6.1")
    assert paper.judge([double], tmp_path, math.inf) == 0
    assert "Nothing is modelled: NVIDIA H200 has compute capability 6.1" in capsys.readouterr().out
    assert not (tmp_path / "modelled.json").exists()


# -- Time and interruption.


def test_what_was_found_is_kept_when_the_time_is_up_and_another_run_does_the_rest(
    fake, double, tmp_path, monkeypatch, capsys
):
    takes(double, fake, "CUDA")
    status, kept = run(double, tmp_path, end=monotonic() - 1)
    assert status == 1 and kept.rows == () and "No time was left" in capsys.readouterr().out
    ends = iter([math.inf, -math.inf])
    with monkeypatch.context() as patch:
        patch.setattr(paper, "monotonic", lambda: -next(ends))  # time for the first alone
        patch.setattr(paper, "until", lambda end: nullcontext())
        status, kept = run(double, tmp_path, end=0)
    assert status == 0 and [row.size for row in kept.rows] == [4096]  # all the largest sizes
    measured = []
    monkeypatch.setattr(paper, "measured", lambda problem, _: measured.append(problem.size))
    _, kept = run(double, tmp_path)
    assert measured == [4 * 4096, 64] and isinstance(kept.rows[0], Row)


def test_a_model_that_takes_too_long_is_stopped_and_may_have_another_try(
    fake, double, tmp_path, monkeypatch
):
    takes(double, fake, "CUDA")

    def slow(*_):
        while True:
            with suppress(Exception):  # as those who run other people's kernels do
                sum(range(1000))

    monkeypatch.setattr(paper, "modelled_anew", slow)
    status, kept = run(double, tmp_path, end=monotonic() + 1)
    assert status == 1 and kept.rows == ()


def test_an_interruption_keeps_what_was_found_and_takes_no_kernel_for_hung(
    fake, double, tmp_path, monkeypatch
):
    takes(double, fake, "CUDA")
    before, calls = paper.modelled_anew, itertools.count()

    def interrupted(*arguments):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return before(*arguments)

    monkeypatch.setattr(paper, "modelled_anew", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(double, tmp_path)
    kept = load(tmp_path / "modelled.json")
    assert [row.size for row in kept.rows] == [4096]
    assert len(run(double, tmp_path)[1].rows) == 3


def test_a_kernel_that_hung_is_in_the_file_and_not_run_again(fake, double, tmp_path, monkeypatch):
    takes(double, fake, "hangs")
    takes(double, fake, "runs")
    before, seen = paper.measured, []

    def measured(problem, version):
        if version.name == "hangs" and problem.size == 4096:
            seen.append(load(tmp_path / "modelled.json"))  # what is left if the process is killed
        return before(problem, version)

    monkeypatch.setattr(paper, "measured", measured)
    run(double, tmp_path)
    (left,) = seen
    assert left.rows == (Unjudged("double", "hangs", 4096, paper.UNENDED, True),)
    (tmp_path / "modelled.json").write_text(left.to_json())
    status, kept = run(double, tmp_path)
    assert len(seen) == 1 and status == 1 and len(kept.rows) == 6


def test_another_version_of_the_course_starts_anew(fake, double, tmp_path):
    takes(double, fake, "CUDA")
    _, kept = run(double, tmp_path)
    told = json.loads(kept.to_json()) | {"gpulessons": "0.0.1"}
    for content in (json.dumps(told), "torn {"):
        (tmp_path / "modelled.json").write_text(content)
        _, again = run(double, tmp_path)
        assert again.gpulessons == kept.gpulessons and len(again.rows) == 3


def test_after_an_error_that_took_the_gpu_down_another_process_goes_on(
    fake, double, tmp_path, monkeypatch
):
    @double.version("out of bounds", on=fake)
    def out_of_bounds(x):
        fake.alive = False
        fake.sync()

    takes(double, fake, "right")
    monkeypatch.setattr(gpu_benchmark, "every_op", lambda: [double])
    processes = []

    def call(command):
        processes.append(command)
        fake.alive = True
        return gpu_benchmark.judge_model(tmp_path, math.inf)

    monkeypatch.setattr(gpu_benchmark.subprocess, "call", call)
    assert gpu_benchmark.judge_model(tmp_path, math.inf) == 1
    rows = rows_of(load(tmp_path / "modelled.json"))
    assert len(processes) == 3
    assert processes[0][3:7] == ["--out", str(tmp_path), "--step", "modelled"]
    assert len(rows) == 6
    assert all(isinstance(row, Row) == (name == "right") for (name, _), row in rows.items())


def test_a_run_of_everything_takes_over_nothing_from_an_earlier_one(monkeypatch, tmp_path):
    (tmp_path / "modelled.json").write_text("{}")
    monkeypatch.setattr(gpu_benchmark, "STEPS", {})
    gpu_benchmark.everything(tmp_path, math.inf)
    assert not (tmp_path / "modelled.json").exists()


def test_the_step_comes_before_the_recording():
    steps = list(gpu_benchmark.STEPS)
    assert steps.index("modelled") == steps.index("recording") - 1


# -- The block turnover.


class Waves:
    """A kernel on a GPU of so many seconds a launch and a wave of blocks."""

    def __init__(self, clock, launch, wave, blocks):
        self.clock, self.launch, self.wave, self.blocks = clock, launch, wave, blocks

    def __getitem__(self, sizes):
        blocks, threads = sizes
        waves = blocks / self.blocks[threads]

        def run(*arrays):
            self.clock.now += self.launch + self.wave * waves

        return run


def test_the_turnover_is_the_slope_of_time_against_waves_whatever_a_launch_costs(monkeypatch):
    clock, gpu = FakeGpu(), GPUS["H200"]
    blocks = {threads: 132 * 2048 // threads for threads in turnover.THREADS}
    monkeypatch.setattr(turnover, "gpu", clock)
    kernels = {
        "nothing": Waves(clock, 30e-6, 500 / gpu.boost, blocks),
        "one load": Waves(clock, 30e-6, 1200 / gpu.boost, blocks),
    }
    monkeypatch.setattr(turnover, "KERNELS", kernels)
    found = turnover.turnovers(gpu)
    assert [(each.work, each.threads) for each in found] == [
        (work, threads) for work in kernels for threads in turnover.THREADS
    ]
    for each in found:
        clocks = 500 if each.work == "nothing" else 1200
        assert each.blocks == blocks[each.threads]
        assert (each.clocks, *each.quartiles) == pytest.approx((clocks,) * 3)
    monkeypatch.setattr(turnover, "nothing_kernel", Waves(clock, 4e-6, 0.0, {32: 1}))
    assert turnover.launching() == pytest.approx(4e-6)


def test_turnover_kernels_need_no_more_registers_than_every_occupancy_has_room_for():
    arrays = [np.ones(1, np.float32)] * 3
    for kernel in turnover.KERNELS.values():
        assert assembly(kernel, *arrays, capability=(9, 0)).registers <= 32
    assert turnover.REGISTERS <= 32


def test_the_load_is_in_the_machine_code():
    arrays = [np.ones(1, np.float32)] * 3
    assert "ld.global" in assembly(turnover.load_kernel, *arrays, capability=(9, 0)).ptx
    assert "ld.global" not in assembly(turnover.nothing_kernel, *arrays, capability=(9, 0)).ptx


def test_the_turnover_is_kept_with_the_clock_that_it_was_measured_at(
    fake, double, tmp_path, monkeypatch
):
    told = turnover.Turnover("nothing", 128, 2112, 640.0, (600.0, 700.0))
    monkeypatch.setattr(turnover, "turnovers", lambda gpu: (told,))
    status, kept = run(double, tmp_path)
    assert status == 0 and kept.turnover == (told,)
    assert "640 clocks" in repr(kept) and "1.90 GHz" in repr(kept) and "1.98 GHz" in repr(kept)


def test_a_turnover_that_cannot_be_measured_is_said_and_not_tried_again(
    fake, double, tmp_path, monkeypatch
):
    tries = []

    def fail(gpu):
        tries.append(gpu)
        raise RuntimeError("no kernel image")

    monkeypatch.setattr(turnover, "turnovers", fail)
    takes(double, fake, "CUDA")
    kept = run(double, tmp_path)[1]
    run(double, tmp_path)
    assert len(tries) == 1 and kept.turnover == () and len(kept.rows) == 3
    assert "no kernel image" in repr(kept)


# -- In a process of its own, as `make gpu` runs it.

ALONE = """
import sys
from types import SimpleNamespace
import gpu
gpu.why_no_gpu, gpu.gpu = str, SimpleNamespace(why_not=str)
gpu.paper.judge = lambda ops, out, end: print(len(ops) > 30) or 0
sys.exit(gpu.main(["--out", sys.argv[1], "--step", "modelled", "--seconds", "5"]))
"""


def test_the_step_runs_by_its_name_with_every_op(tmp_path):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(BENCHMARKS), str(BENCHMARKS.parent)])}
    command = [sys.executable, "-c", ALONE, str(tmp_path)]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True"
