"""The benchmarks: their rows, what they print and keep, what they do with trouble. No speed."""

import itertools
import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import monotonic

import numpy as np
import psutil
import pytest

from browser import write_notebook
from gpulessons.backends import BACKENDS, Host, torch_cpu
from gpulessons.hardware import budget
from gpulessons.measure.results import Ratio
from gpulessons.operation import op
from warplens import tracing

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import contests  # noqa: E402
import gpu as gpu_benchmark  # noqa: E402
import lessons  # noqa: E402
import ncu  # noqa: E402
import ratios  # noqa: E402
import trees  # noqa: E402

KEYS = ["name", "ratio", "low", "high", "firm", "aim", "noisy"]


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


@pytest.mark.parametrize("name", [row.name for row in ratios.ROWS if row.name.startswith("bare-")])
def test_a_call_by_hand_is_pytorch_s_own(name, monkeypatch):
    pytest.importorskip("torch")
    few = partial(contests.by_hand_or_harness, rounds=2)
    monkeypatch.setattr(ratios, "by_hand_or_harness", few)
    (row,) = (row for row in ratios.ROWS if row.name == name)
    assert row.measure().median > 0


def test_every_row_contests_versions_that_exist(monkeypatch):
    def contest(op, ours, theirs, *_, **__):
        assert theirs in op.versions
        assert [name for name in op.versions if name.startswith(ours)]
        return Ratio(1.0, 1.0, 1.0)

    monkeypatch.setattr(ratios, "contest", contest)
    monkeypatch.setattr(ratios, "by_hand_or_harness", lambda *_: Ratio(1.0, 1.0, 1.0))
    others = (ratios.against_do_bench, ratios.against_simulator, ratios.skip_gram_or_gensim)
    others += ratios.hogwild_or_one, ratios.engine_or_model, ratios.against_annoy
    monkeypatch.setattr(ratios, "hosts_or_model", lambda megabits: Ratio(1.0, 1.0, 1.0))
    contested = [row for row in ratios.ROWS if row.measure not in others and row.unit == "ratio"]
    assert len(contested) >= 10
    for each in contested:
        assert each.measure().median == 1


def test_the_microscope_and_the_simulator_agree_on_the_product_they_contest():
    assert contests.against_simulator(size=32, rounds=1).median > 0


def test_the_forest_and_annoy_answer_the_same_questions():
    pytest.importorskip("annoy")
    assert trees.against_annoy(count=2000, asked=20, trees=2, rounds=1).median > 0


def test_both_sides_of_adam_step_the_same_parameters():
    gradient = np.ones(8, np.float32)
    contests.numba_adam(gradient)
    contests.torch_adam(torch_cpu.put(gradient))
    ours, theirs = contests.STATES["numba", 8][0], contests.STATES["torch", 8][0]
    assert (ours < 0).all() and (torch_cpu.get(theirs) < 0).all()


FULL = ("full: NumPy", "full: PyTorch on CPU", "full: PyTorch on CPU, in chunks")


@pytest.mark.parametrize("name", FULL)
def test_every_full_softmax_takes_the_same_step(name, monkeypatch):
    """Against the gradient in float64, twice: the second step's labels are another batch."""
    monkeypatch.setattr(contests, "STATES", {})
    monkeypatch.setattr(trees, "CHUNK", 16)
    h, labels, classes = trees.tree_or_full.inputs(50)
    w = np.random.default_rng(0).standard_normal((classes, trees.DIM), np.float32) / 8.0
    version = trees.tree_or_full.versions[name]
    for batch in labels[:2]:
        e = np.exp(h @ w.T)
        p = e / e.sum(axis=1, keepdims=True)
        each = np.arange(len(h)), batch
        losses = -np.log(p[each])
        p[each] -= 1
        version(*map(version.backend.put, (h, labels, classes)))
        found = [version.backend.get(array) for array in contests.STATES["full", "found"]]
        assert np.allclose(found[0], losses, atol=1e-4) and np.allclose(found[1], p @ w, atol=1e-4)
        w = w - trees.RATE * p.T @ h
    (learned,) = (s[0] for key, s in contests.STATES.items() if key[1] == classes)
    assert np.allclose(version.backend.get(learned), w, atol=1e-4)


def test_both_trees_take_the_same_step(monkeypatch):
    monkeypatch.setattr(contests, "STATES", {})
    problem = trees.tree_or_full.inputs(50)
    monkeypatch.setattr(trees.gpu, "empty", Host().empty)
    monkeypatch.setattr(trees.gpu, "put", Host().put)
    for _ in range(2):
        trees.numba_tree(*problem)
        with tracing():
            trees.cuda_tree(*problem)
    ours, on_gpu = (contests.STATES[f"tree: {name}", 49][0] for name in ("Numba", "CUDA"))
    before = np.random.default_rng(0).standard_normal(ours.shape, np.float32) / 8
    assert np.allclose(ours, on_gpu, atol=1e-5) and np.abs(ours - before).max() > 0.01


def test_a_ratio_the_other_way_round_keeps_its_middle_half_in_order():
    assert contests.inverted(Ratio(0.02, 0.01, 0.04)) == Ratio(50, 25, 100)


@pytest.mark.parametrize("value, standing", [(0.99, "short"), (1.0, "met"), (2.0, "aim met")])
def test_a_ratio_stands_short_of_its_promise_or_met_or_at_its_aim(value, standing):
    assert row().standing(value) == standing


@pytest.mark.parametrize("value, standing", [(1.001, "aim met"), (1.015, "met"), (1.05, "short")])
def test_where_the_target_is_one_a_ratio_above_it_is_short_too(value, standing):
    one = ratios.Row("one", 0.98, 0.995, "CPU", "", None, is_one=True)
    assert one.standing(value) == one.standing(1 / value) == standing


@pytest.mark.parametrize("value, standing", [(29.9, "aim met"), (60, "met"), (60.1, "too long")])
def test_of_seconds_fewer_are_better(value, standing):
    assert ratios.Row("one", 60, 30, "CPU", "", None, unit="seconds").standing(value) == standing


def test_every_notebook_has_a_row_of_seconds():
    rows = {row.name: row for row in ratios.ROWS if row.unit == "seconds"}
    notebooks = sorted((BENCHMARKS.parent / "notebooks").glob("[0-9]*.ipynb"))
    assert list(rows) == [f"notebook-{path.name[:2]}" for path in notebooks]
    assert [row.measure.args for row in rows.values()] == [(path,) for path in notebooks]


def test_a_notebook_is_run_in_full_in_an_empty_folder_and_its_seconds_are_kept(
    monkeypatch, tmp_path, capsys
):
    cell = f"""import os, time
assert os.listdir() == [] and {budget.NAME!r} not in os.environ
assert os.environ["GPULESSONS_PREDICTIONS"] == os.devnull
time.sleep(0.5)"""
    path, file = tmp_path / "x.ipynb", tmp_path / "found.json"
    write_notebook(path, cell)
    monkeypatch.setenv(budget.NAME, "0.02")
    monkeypatch.setenv("GPULESSONS_PREDICTIONS", str(tmp_path / "mine.jsonl"))
    lesson = ratios.Row("x", 60, 30, "CPU", "", lambda: lessons.seconds_of(path), unit="seconds")
    assert run_rows(monkeypatch, [lesson], "--json", file) == 0
    (kept,) = json.loads(file.read_text())
    assert list(kept) == [KEYS[0], "seconds", *KEYS[2:]]
    assert kept["seconds"] >= 0.5
    assert f"{kept['seconds']:.1f} s  firm 60, aim 30: " in capsys.readouterr().out


def test_a_notebook_whose_cell_fails_has_no_seconds(monkeypatch, tmp_path, capsys):
    write_notebook(tmp_path / "x.ipynb", "1 / 0")
    broken = ratios.Row("x", 60, 30, "CPU", "", lambda: lessons.seconds_of(tmp_path / "x.ipynb"))
    assert run_rows(monkeypatch, [broken]) == 1
    assert "not measured: CellExecutionError" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["relu: Numba, one core", "copy: Numba, one core"])
def test_relu_is_a_copy_on_the_inputs_that_both_are_given(name):
    assert error(contests.relu_or_copy, name) == 0


def test_a_triad_by_zero_is_a_copy():
    assert error(contests.triad_or_copy, "triad: Numba, one core") == 0


def error(op, name):
    inputs = op.inputs(1009)
    return op.error(op.versions[name](*inputs), op.reference(*inputs))


# -- Contests.


def test_a_contest_is_won_by_the_factor_between_the_clocks(clocked, double):
    takes(double, clocked, "theirs", [0.003])
    takes(double, clocked, "ours, slow", [0.002])
    takes(double, clocked, "ours, fast", [0.001])
    found = contests.contest(double, "ours", "theirs", 64)
    assert not found.refused
    assert (found.median, found.low, found.high) == pytest.approx((3, 3, 3))


def test_bytes_per_second_count_the_words_that_each_side_moves(clocked, double):
    takes(double, clocked, "theirs", [0.003])
    takes(double, clocked, "ours", [0.003])
    found = contests.contest(double, "ours", "theirs", 64, words=1.5)
    assert (found.median, found.low, found.high) == pytest.approx((1.5, 1.5, 1.5))


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
    assert kept[0] == dict(zip(KEYS, ["one", 1.5, 1.4, 1.6, 1.0, 2.0, False], strict=True))


def test_rows_asked_for_by_name_are_the_only_ones_measured(monkeypatch, capsys):
    assert run_rows(monkeypatch, [row("one"), row("two")], "two") == 0
    printed = capsys.readouterr().out
    assert "two" in printed and "1.500 (1.400–1.600)" in printed and "met" in printed
    assert "one" not in printed


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


def test_an_unknown_name_is_refused_by_name(capsys):
    assert ratios.main(["reloo"]) == 2
    assert "reloo" in capsys.readouterr().err


def test_the_list_names_every_row_and_measures_none(monkeypatch, capsys):
    rows = [ratios.Row(name, 1, 2, "CPU", "", lambda: 1 / 0) for name in ("one", "two")]
    assert run_rows(monkeypatch, rows, "--list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["one", "two"]


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    monkeypatch, tmp_path, capsys
):
    never = ratios.Row("never", 1, 2, "CPU", "", lambda: pytest.fail("it was measured"))
    assert run_rows(monkeypatch, [never], "--json", tmp_path / "no" / "where.json") == 2
    assert "Choose another file" in capsys.readouterr().err


def test_an_interruption_keeps_what_was_measured(monkeypatch, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    file = tmp_path / "ratios.json"
    rows = [row("one"), ratios.Row("two", 1, 2, "CPU", "", interrupt), row("three")]
    assert run_rows(monkeypatch, rows, "--json", file) == 130
    assert [each["name"] for each in json.loads(file.read_text())] == ["one"]


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


@pytest.mark.parametrize(
    "broken, word",
    [
        (lambda x, out: None, "off by nan"),
        (lambda x, out: np.multiply(np.nan, x, out=out), "off by nan"),
        (lambda x: np.multiply(x, 2, out=x), "changed its input"),
        (lambda x: 1 / 0, "ZeroDivisionError"),
    ],
    ids=["never writes", "writes NaN", "in place", "raises"],
)
def test_every_kind_of_broken_version_is_reported_at_every_size(clocked, double, broken, word):
    double.version("broken", on=clocked)(broken)
    lines = verdicts(double)
    assert len(lines) == 3
    assert all(line.startswith("FAILED double: broken, at ") and word in line for line in lines)


def test_a_version_that_remembers_its_answers_is_reported(clocked, double):
    remembered = {}
    double.version("lazy", on=clocked)(lambda x: remembered.setdefault(id(x), 2 * x))
    assert all("when its inputs had changed" in line for line in verdicts(double))


def test_a_version_that_had_no_time_to_be_checked_did_not_pass(clocked, double):
    takes(double, clocked, "right", [0.001])
    assert all("no time was left" in line for line in verdicts(double, end=monotonic() - 1))


def test_nothing_is_called_right_after_an_error_took_the_gpu_down(clocked, double, monkeypatch):
    @double.version("out of bounds", on=clocked)
    def out_of_bounds(x):
        monkeypatch.setattr(clocked, "sync", lambda: 1 / 0)
        clocked.sync()

    takes(double, clocked, "right", [0.001])
    assert verdicts(double)[-1].startswith("FAILED what follows")


def test_the_checks_step_keeps_its_verdicts_and_fails_when_one_does(
    clocked, double, monkeypatch, tmp_path
):
    monkeypatch.setattr(clocked, "name", "gpu")
    takes(double, clocked, "right", [0.001])
    monkeypatch.setattr(gpu_benchmark, "every_op", lambda: [double])
    assert gpu_benchmark.check_versions(tmp_path, math.inf) == 0
    double.version("wrong", on=clocked)(lambda x: x)
    assert gpu_benchmark.check_versions(tmp_path, math.inf) == 1
    right, *wrong, total = (tmp_path / "checks.txt").read_text().splitlines()
    assert right.startswith("right") and len(wrong) == 3 and total == "3 failed"


def test_every_op_of_the_course_is_recorded():
    names = [op.name for op in gpu_benchmark.every_op()]
    assert {"relu", "leaky_relu", "sigmoid", "tanh", "gelu", "bias_gelu", "copy"} < set(names)


def test_without_a_gpu_it_says_so_and_writes_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu_benchmark, "why_no_gpu", lambda: "There is no GPU.")
    assert gpu_benchmark.main(["--out", str(tmp_path / "out")]) == 3
    assert "There is no GPU." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


HANGS_IN_CHECKS = """
import sys, time
print("in", sys.argv[4])
time.sleep(60 if sys.argv[4] == "checks" else 0)
"""


def test_a_step_that_will_not_end_is_ended_and_the_others_go_on(monkeypatch, tmp_path):
    script = tmp_path / "steps.py"
    script.write_text(HANGS_IN_CHECKS)
    monkeypatch.setattr(gpu_benchmark, "__file__", str(script))
    # The other steps have to start in it, too: a bare Python, on a busy machine.
    monkeypatch.setattr(gpu_benchmark, "GRACE", 15)
    assert gpu_benchmark.everything(tmp_path, monotonic() + 1) == 1
    log = (tmp_path / "log.txt").read_text()
    assert "== checks failed: it would not end" in log
    assert "in profiler\n" in log and "in recording\n" in log and "== checks failed; " in log


TERMINATED = """
import sys
from types import SimpleNamespace
import gpu
gpu.__file__, gpu.why_no_gpu, gpu.gpu = sys.argv[1], str, SimpleNamespace(why_not=str)
sys.exit(gpu.main(["--out", sys.argv[2]]))
"""


def test_a_step_does_not_outlive_a_run_that_is_terminated(tmp_path):
    step = tmp_path / "step.py"
    step.write_text("import os, time\nprint(os.getpid())\ntime.sleep(60)\n")
    path = os.pathsep.join([str(BENCHMARKS), str(BENCHMARKS.parent)])
    run = subprocess.Popen(
        [sys.executable, "-c", TERMINATED, step, tmp_path], text=True, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    begun, pid = run.stdout.readline(), int(run.stdout.readline())
    assert begun.startswith("== machine")
    run.terminate()
    run.communicate(timeout=300)
    assert run.returncode == 143
    assert not psutil.pid_exists(pid)


# -- The microscope against NVIDIA's profiler: tests have no GPU, so all its counters are faked.

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


def test_the_profilers_refusal_is_told_in_its_own_words():
    with pytest.raises(ncu.CannotProfile) as refusal:
        ncu.parsed(f"==PROF== Connected to process 4242\n==ERROR== {DENIED}\n{MADE_UP}")
    assert str(refusal.value) == DENIED
    with pytest.raises(ncu.CannotProfile, match=r"op_st\.sum ncu says n/a"):
        ncu.parsed(MADE_UP.replace("1,251", "n/a"))


@pytest.fixture(scope="module")
def counted():
    return list(ncu.counted())


def as_profiled(counted, **changes):
    """A profiler that agrees with the microscope, but for copy_kernel's numbers (spaces as _)."""
    changes = {name.replace("_", " "): number for name, number in changes.items()}
    return [
        (f"lessons::{kernel}(int)", numbers | changes if kernel == "copy_kernel" else numbers)
        for _, kernel, numbers in counted
    ]


def test_every_kernel_asked_for_is_counted_and_what_clears_the_sums_is_not_compared(counted):
    rows = list(ncu.compared(as_profiled(counted), counted))
    assert len({row.kernel for row in rows}) == len(ncu.VERSIONS)
    assert len(rows) == len(ncu.VERSIONS) * (len(ncu.QUANTITIES) + 2)
    assert not any(row.difference or row.apart for row in rows)
    found = {(row.kernel, row.quantity): row.counted for row in rows}
    assert found["copy: CUDA, a thread per element", "load requests"] == -(-ncu.SIZE // 32)
    eighth = -(-ncu.SIZE // 8)  # of the numbers: each in a sector of its own, then in order
    assert found["copy_strided: CUDA, a thread per element", "load sectors"] == eighth
    assert found["copy_strided: CUDA, a thread per element", "store sectors"] == -(-eighth // 8)
    sectors = eighth + -(-eighth // 8)
    assert found["copy_strided: CUDA, a thread per element", "theoretical sectors"] == sectors
    for version in ("naive", "shared tile", "padded tile"):
        kernel = f"transpose: CUDA, {version}"
        loads, stores = found[kernel, "load sectors"], found[kernel, "store sectors"]
        assert found[kernel, "theoretical sectors"] == loads + stores


def test_a_tile_without_padding_takes_more_wavefronts_than_one_with_it(counted):
    numbers = {title: found for title, _, found in counted}
    tile = numbers["transpose: CUDA, shared tile"]["shared wavefronts"]
    padded = numbers["transpose: CUDA, padded tile"]["shared wavefronts"]
    assert tile > 10 * padded > 0
    assert numbers["transpose: CUDA, naive"]["shared wavefronts"] == 0


def test_the_profilers_bank_conflicts_are_not_asked_for():
    theoretical = {"memory_l2_theoretical_sectors_global", "memory_l1_wavefronts_shared"}
    assert theoretical < set(ncu.QUANTITIES)
    assert not [metric for metric in ncu.QUANTITIES if "bank_conflicts" in metric]


def test_a_planted_difference_is_shown_and_only_sectors_per_request_are_held_against_us(counted):
    def differing(**changes):
        rows = ncu.compared(as_profiled(counted, **changes), counted)
        return {row.quantity: (row.difference, row.apart) for row in rows if row.difference}

    numbers = next(numbers for _, kernel, numbers in counted if kernel == "copy_kernel")
    requests, sectors = numbers["load requests"], numbers["load sectors"]
    assert differing(shared_wavefronts=7) == {"shared wavefronts": (7, False)}
    merged = differing(load_requests=requests // 2, load_sectors=sectors // 2)
    assert set(merged) == {"load requests", "load sectors", "load sectors per request"}
    assert not any(apart for _, apart in merged.values())
    more = differing(load_sectors=sectors * 1.06)
    assert more["load sectors per request"] == (pytest.approx(0.06 * sectors / requests), True)
    assert not more["load sectors"][1]
    assert differing(store_requests=0, store_sectors=0)["store sectors per request"][1]


def test_counters_of_other_launches_are_not_compared(counted):
    found = as_profiled(counted)
    for other in (found[:-1], found[1:] + found[:1], []):
        with pytest.raises(ncu.CannotProfile, match="where these were launched"):
            list(ncu.compared(other, counted))


@pytest.fixture
def fake_ncu(monkeypatch, tmp_path):
    """Put on the PATH an `ncu` that notes what it is told and prints what it is given."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(printed):
        (tmp_path / "printed").write_text(printed)
        fake = tmp_path / "ncu"
        fake.write_text(
            f'#!/bin/sh\necho "$LC_ALL" "$@" > {tmp_path}/told\n/bin/cat {tmp_path}/printed >&2\n'
        )
        fake.chmod(0o755)
        return tmp_path

    return install


def as_printed(launches):
    metrics = {quantity: metric for metric, quantity in ncu.QUANTITIES.items()}
    lines = [
        f'"{i}","{kernel}","{metrics[quantity]}","{number:,}"'
        for i, (kernel, numbers) in enumerate(launches)
        for quantity, number in numbers.items()
    ]
    return "\n".join(['"ID","Kernel Name","Metric Name","Metric Value"', *lines])


def test_the_step_writes_every_difference_and_fails_only_for_sectors_per_request(fake_ncu, counted):
    out = fake_ncu(as_printed(as_profiled(counted, shared_wavefronts=7)))
    assert ncu.compare_with_profiler(out, math.inf) == 0
    rows = json.loads((out / "profiler.json").read_text())
    (planted,) = [row for row in rows if row["difference"]]
    assert planted["quantity"] == "shared wavefronts" and planted["profiler"] == 7
    assert "FAILED" not in (out / "profiler.txt").read_text()
    told = (out / "told").read_text()
    assert told.startswith("C --csv --clock-control none ")
    assert told.endswith(f" {sys.executable} {ncu.__file__} {ncu.SECONDS}\n")

    fake_ncu(as_printed(as_profiled(counted, load_sectors=1)))
    assert ncu.compare_with_profiler(out, math.inf) == 1
    (failed,) = [s for s in (out / "profiler.txt").read_text().splitlines() if "FAILED" in s]
    assert "load sectors per request" in failed


LAUNCHES = """
import runpy, signal, sys
from warplens import tracing
script, sys.argv[1:] = sys.argv[1], ["60"]
with tracing() as launches:
    runpy.run_path(script, run_name="__main__")
assert 0 < signal.alarm(0) <= 60, "it would not end by itself"
print(*(trace.kernel for trace in launches))
"""


def test_what_ncu_is_given_to_run_makes_the_launches_that_are_counted_and_ends_in_time(counted):
    command = [sys.executable, "-c", LAUNCHES, ncu.__file__]
    env = {**os.environ, "PYTHONPATH": str(BENCHMARKS.parent)}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == [kernel for _, kernel, _ in counted]


def test_without_permission_or_without_ncu_one_sentence_is_written_and_nothing_fails(
    fake_ncu, capsys
):
    out = fake_ncu(f"==ERROR== {DENIED}\n")
    assert ncu.compare_with_profiler(out, math.inf) == 0
    assert capsys.readouterr().out == f"Not compared with NVIDIA's profiler: {DENIED}\n"
    (out / "ncu").unlink()
    assert ncu.compare_with_profiler(out, math.inf) == 0
    assert "install NVIDIA Nsight Compute" in (out / "profiler.txt").read_text()
    assert json.loads((out / "profiler.json").read_text()) == []


# -- A GPU machine's own Python has few libraries.

WITHOUT = """
import sys
missing = "psutil threadpoolctl tqdm cpuinfo pynvml ipywidgets matplotlib IPython pygments"
for name in missing.split():
    sys.modules[name] = None
import gpu
from gpulessons import compare, relu
assert relu in gpu.every_op()
compared = compare(relu, [1000], ["NumPy", "Numba, one core"], budget=0.01, recorded=())
assert len(compared.timings) == 2, compared
"""


def test_checking_and_recording_need_none_of_the_notebooks_libraries():
    path = os.pathsep.join([str(BENCHMARKS), str(BENCHMARKS.parent)])
    command = [sys.executable, "-c", WITHOUT]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=True)
