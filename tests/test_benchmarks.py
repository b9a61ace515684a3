"""The benchmarks: their rows, what they print and keep, what they do with trouble. No speed."""

import itertools
import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpulessons.backends import BACKENDS, Host
from gpulessons.measure.results import Ratio
from gpulessons.operation import op

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

KEYS = ["name", "ratio", "low", "high", "firm", "aim", "noisy", "cpu", "day"]


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """Every op and its libraries: not before a test runs."""
    global contests, gpu_benchmark, machines, ncu, ratios
    import contests
    import gpu as gpu_benchmark
    import machines
    import ncu
    import ratios


class Clocked(Host):
    """A backend whose time is whatever its versions say it is."""

    name, label, now = "clocked", "a clock of our own", 0.0

    def mark(self):
        return self.now

    def elapsed(self, start, stop):
        return stop - start


@pytest.fixture
def clocked(monkeypatch):
    backend = Clocked()
    monkeypatch.setitem(BACKENDS, backend.name, backend)
    return backend


@pytest.fixture
def double():
    def inputs(size, rng):
        return (rng.standard_normal(size, np.float32),)

    @op(inputs=inputs, flops=lambda x: x.size, sizes=(8, 64))
    def double(x):
        return 2 * x

    return double


def takes(op, backend, name, seconds):
    """Give an op a right version whose calls take these seconds in turn, by its backend's clock."""
    turns = itertools.cycle(seconds)

    @op.version(name, on=backend)
    def version(x, out):
        np.multiply(x, 2, out=out)
        backend.now += next(turns)


def row(name="fake", found=None, where="CPU", **options):
    found = found or Ratio(1.5, 1.4, 1.6)
    return ratios.Row(name, 1.0, 2.0, where, "a fake / another", lambda: found, **options)


# -- The rows.


def test_rows_are_well_formed_and_no_two_share_a_name():
    assert len({row.name for row in ratios.ROWS}) == len(ratios.ROWS)
    for each in ratios.ROWS:
        assert 0 < each.firm < each.aim or (each.unit == "seconds" and 0 < each.aim < each.firm)
        assert each.where.partition(" with ")[0] in ("CPU", "GPU")
        assert each.about and callable(each.measure)
        assert not each.is_one or each.aim < 1


def test_every_row_contests_versions_that_exist(monkeypatch):
    def contest(op, ours, theirs, *_, **__):
        assert theirs in op.versions
        assert [name for name in op.versions if name.startswith(ours)]
        return Ratio(1.0, 1.0, 1.0)

    monkeypatch.setattr(ratios, "contest", contest)
    monkeypatch.setattr(ratios, "by_hand_or_harness", lambda *_: Ratio(1.0, 1.0, 1.0))
    others = ratios.against_do_bench, ratios.against_simulator
    others += ratios.hogwild_or_one, ratios.engine_or_model, ratios.against_annoy
    monkeypatch.setattr(ratios, "hosts_or_model", lambda megabits: Ratio(1.0, 1.0, 1.0))
    contested = [row for row in ratios.ROWS if row.measure not in others and row.unit == "ratio"]
    assert len(contested) >= 10
    for each in contested:
        assert each.measure().median == 1


# -- Contests.


def test_a_contest_is_won_by_the_factor_between_the_clocks(clocked, double):
    takes(double, clocked, "theirs", [0.003])
    takes(double, clocked, "ours, slow", [0.002])
    takes(double, clocked, "ours, fast", [0.001])
    found = contests.contest(double, "ours", "theirs", 64)
    assert not found.refused
    assert (found.median, found.low, found.high) == pytest.approx((3, 3, 3))


def test_a_side_whose_time_is_anything_is_too_noisy_for_a_claim(clocked, double, capsys):
    takes(double, clocked, "theirs", [0.003])
    takes(double, clocked, "ours", [0.003, 0.009, 0.005, 0.020, 0.004])
    noisy = row(found=contests.contest(double, "ours", "theirs", 64))
    assert ratios.measure([noisy]) == 0
    assert ratios.outcome(noisy).plain()["noisy"] is True
    assert "too noisy" in capsys.readouterr().out


def test_a_wrong_version_wins_nothing(clocked, double):
    takes(double, clocked, "theirs", [0.003])
    double.version("ours", on=clocked)(lambda x: 3 * x)
    found = contests.contest(double, "ours", "theirs", 64)
    assert math.isnan(found.median)
    assert "WrongAnswer" in found.refused


# -- The command.


def run_rows(monkeypatch, rows, *arguments):
    monkeypatch.setattr(ratios, "ROWS", tuple(rows))
    return ratios.main([*map(str, arguments)])


def test_the_file_lists_what_was_measured_with_the_keys_promised(monkeypatch, tmp_path):
    file = tmp_path / "ratios.json"
    rows = [row("one"), row("elsewhere", where="CPU with no_such_library"), row("two")]
    assert run_rows(monkeypatch, rows, "--json", file) == 0
    kept = json.loads(file.read_text())
    assert [list(each) for each in kept] == [KEYS, KEYS]
    *found, cpu, day = kept[0].values()
    assert found == ["one", 1.5, 1.4, 1.6, 1.0, 2.0, False]
    assert cpu == ratios.this_cpu() and day.startswith("20")


def test_a_row_that_raises_is_reported_and_the_next_is_measured(monkeypatch, capsys):
    broken = ratios.Row("broken", 1, 2, "CPU", "", lambda: 1 / 0)
    assert run_rows(monkeypatch, [broken, row("next")]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert "not measured: ZeroDivisionError" in first and second.startswith("next")


def test_a_row_that_cannot_run_here_says_why_and_is_no_failure(monkeypatch, capsys):
    rows = [row("far", where="CPU with no_such_library"), row("near")]
    assert run_rows(monkeypatch, rows) == 0
    assert "no_such_library is not installed" in capsys.readouterr().out
    assert run_rows(monkeypatch, rows, "far") == 1  # nothing at all was measured


def test_an_interruption_keeps_what_was_measured(monkeypatch, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    file = tmp_path / "ratios.json"
    rows = [row("one"), ratios.Row("two", 1, 2, "CPU", "", interrupt), row("three")]
    assert run_rows(monkeypatch, rows, "--json", file) == 130
    assert [each["name"] for each in json.loads(file.read_text())] == ["one"]


def test_rows_are_kept_by_machine_and_a_new_one_takes_the_old_ones_place(monkeypatch, tmp_path):
    monkeypatch.setattr(machines, "KEPT", tmp_path / "machines")
    row = {"name": "matmul", "low": 0.4, "high": 0.6, "noisy": False, "cpu": "A CPU, 1 core"}
    first = {**row, "ratio": 0.5, "day": "2026-01-01"}
    machines.keep([first, {**first, "cpu": "B (held)"}, {**first, "name": "conv-direct"}])
    machines.keep([{**row, "ratio": 0.875, "day": "2026-01-02"}])
    assert {file.name for file in machines.KEPT.iterdir()} == {"a-cpu-1-core.json", "b-held.json"}
    page = machines.page()
    assert "| 0.88 (0.40–0.60): met | 0.50 (0.40–0.60): short |" in page
    assert "| conv-direct |" in page
    assert "A CPU, 1 core: 2026-01-01, 2026-01-02." in page and "| softmax |" not in page


def test_the_page_of_machines_is_that_of_the_rows_kept():
    assert machines.PAGE.read_text(encoding="utf-8") == machines.page(), "run machines.py --page"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="AVX2 is x86's")
def test_numba_held_to_avx2_does_not_compile_for_avx_512():
    code = "from gpulessons.ops import vectors; print(vectors.LANES, vectors.FEATURES)"
    told = subprocess.run([sys.executable, "-c", code], env=os.environ | machines.HELD,
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    assert told.startswith("16 ") and "+avx2" in told and "+avx512" not in told


# -- What `make gpu` runs.


def verdicts(op, end=math.inf):
    return list(gpu_benchmark.verdicts([op], ("clocked",), end))


def test_a_wrong_version_is_reported_and_the_others_are_checked_all_the_same(clocked, double):
    @double.version("wrong where it is large", on=clocked)
    def wrong(x, out):
        np.multiply(x, 2 if x.size < 50 else 2.1, out=out)

    takes(double, clocked, "right", [0.001])
    failed, right = verdicts(double)
    assert failed.startswith("FAILED double: wrong where it is large, at 65: WrongAnswer")
    assert right == "right  double: right, at 1, 31, 65"


def test_nothing_is_called_right_after_an_error_took_the_gpu_down(clocked, double, monkeypatch):
    @double.version("out of bounds", on=clocked)
    def out_of_bounds(x):
        monkeypatch.setattr(clocked, "sync", lambda: 1 / 0)
        clocked.sync()

    takes(double, clocked, "right", [0.001])
    assert verdicts(double)[-1].startswith("FAILED what follows")


# Made up, in the form that ncu prints: what the program says, its own lines, then the counters.
MADE_UP = """\
==PROF== Connected to process 4242 (/usr/bin/python3)
a line of the program's own, with "quotes", and commas
==PROF== Profiling "zero_kernel": 0%....50%....100% - 3 passes
==PROF== Disconnected from process 4242
"ID","Process ID","Kernel Name","Block Size","Metric Name","Metric Unit","Metric Value"
"0","4242","lessons::zero_kernel[abi:v1](Array<float, 1>)","(1, 1, 1)","{sectors}","sector","0"
"0","4242","lessons::zero_kernel[abi:v1](Array<float, 1>)","(1, 1, 1)","{stored}","sector","1"
"1","4242","lessons::copy_kernel[abi:v2](Array<float, 1>)","(256, 1, 1)","{sectors}","","1,234,567"
"1","4242","lessons::copy_kernel[abi:v2](Array<float, 1>)","(256, 1, 1)","{stored}","","1,251"
""".format(
    sectors="l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    stored="l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
)

DENIED = "ERR_NVGPUCTRPERM - The user does not have permission to access the counters."


def test_the_profilers_csv_is_read_launch_by_launch_with_its_thousands():
    assert ncu.parsed(MADE_UP) == [
        ("lessons::zero_kernel[abi:v1](Array<float, 1>)", {"load sectors": 0, "store sectors": 1}),
        (
            "lessons::copy_kernel[abi:v2](Array<float, 1>)",
            {"load sectors": 1_234_567, "store sectors": 1_251},
        ),
    ]


def test_without_permission_or_without_ncu_nothing_fails(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "ncu").write_text(f"#!/bin/sh\necho '==ERROR== {DENIED}' >&2\n")
    (tmp_path / "ncu").chmod(0o755)
    assert ncu.compare_with_profiler(tmp_path, math.inf) == 0
    assert DENIED in capsys.readouterr().out
    (tmp_path / "ncu").unlink()
    assert ncu.compare_with_profiler(tmp_path, math.inf) == 0
    assert json.loads((tmp_path / "profiler.json").read_text()) == []
