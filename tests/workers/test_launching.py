"""launch(): what it gives back, how each failure is told, and that no process is ever left.

Each test that launches starts a server that imports PyTorch: the fast suite has a few here.
"""

import json
import os
import signal
import subprocess
import sys
import time
from uuid import uuid4

import numpy as np
import psutil
import pytest
from torch.distributed.elastic.multiprocessing.errors import ProcessFailure

from gpulessons import launch
from gpulessons.workers import WorkersFailed
from gpulessons.workers.launcher import forkserver, launching
from gpulessons.workers.launcher.failures import cause, hung, left, lost, why
from gpulessons.workers.launcher.launching import found, pass_on, start
from gpulessons.workers.worker import MARK, MEMORY

TOKEN = "GPULESSONS_TEST_TOKEN"
forks = pytest.mark.skipif(not launching.FORK, reason="a launch is a Python of its own here")
TORCH = "/home/me/.local/lib/python3.12/site-packages/torch"


@pytest.fixture(autouse=True)
def token(monkeypatch):
    """A mark that everything started by a test inherits, also a server of its own; in the end
    nothing may carry it."""
    token = uuid4().hex
    monkeypatch.setenv(TOKEN, token)
    yield token
    if forkserver.started:
        forkserver.started[1].stdin.close()
        forkserver.started = None
    if not patiently(lambda: not marked(token)):
        for process in marked(token):
            process.kill()
        pytest.fail("a process was left behind")


def marked(token):
    """The living processes with this mark; this one has it in Python only, not for the system."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(TOKEN) == token:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def patiently(condition, seconds=300.0):
    """Wait until it holds; False if it never did."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def failed(program, **options):
    """(the exception of a launch, the lines that were shown)"""
    lines = []
    with pytest.raises(WorkersFailed) as trouble:
        launch(program, show=lines.append, **options)
    return trouble.value, lines


def in_a_terminal(code):
    """A Python of its own, which launches workers."""
    here = os.pathsep.join([os.getcwd(), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", f"from gpulessons import launch\n{code}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": here, "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip


# -- The fast suite's two launches.


def test_a_hung_worker_is_named_with_its_line_and_all_that_was_printed_is_shown():
    progress = []
    trouble, lines = failed("failing", how="sleeps", meet=False, timeout=6,
                            advance=lambda *words: progress.append(words))  # fmt: skip
    told = str(trouble).splitlines()
    assert told[0].startswith("No word for 6 s. ") and told[1] == "worker 1 is in"
    assert 'failing.py", line ' in told[2] and told[2].endswith(" in sleeps")
    for rank in range(2):
        expected = [f"worker {rank}: {words}" for words in
               ("knows sleeps", "and prints, too: é", "last line")]  # fmt: skip
        assert [line for line in lines if line.startswith(f"worker {rank}: ")] == expected
    assert progress == [(1, 2, "half way")] * 2


@pytest.fixture
def working(token):
    """A launch from a terminal, whose second worker hangs: (it, its torchrun)."""
    process = in_a_terminal("launch('failing', how='sleeps')")
    printed = [process.stdout.readline() for _ in range(6)]
    assert sum("last line" in line for line in printed) == 2, (printed, process.stderr.read())
    server = bool(launching.FORK)
    assert len(marked(token)) == 4 + server  # with the launcher, torchrun and two workers
    torchrun = psutil.Process(process.pid).children(recursive=True)[server]
    yield process, torchrun
    process.kill()
    process.communicate()


def test_ctrl_c_ends_every_worker(working, token):
    process, torchrun = working
    folder = torchrun.environ()["GPULESSONS_REPORT"]
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300)[1].endswith("KeyboardInterrupt\n")
    assert not os.path.exists(folder)
    assert patiently(lambda: not marked(token), 20)  # the server looks five times a second


@forks
def test_each_launch_sees_what_is_there_now_and_pytorch_waits(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(launching, "cores", lambda: 6)
    servers = []
    for turn, (workers, seen) in enumerate([(2, "one"), (1, "one"), (2, "two"), (1, "two")]):
        if turn == 3:
            psutil.Process(servers[-1]).kill()
            forkserver.started[1].wait()
        (folder := tmp_path / str(turn)).mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("SEEN", seen)
        (tmp_path / "looks.py").write_text(
            f"import os, torch\ndef main(worker): return [os.getcwd(), os.environ['SEEN'], "
            f"torch.get_num_threads(), torch.cuda.is_initialized(), {turn}]"
        )
        expected = [str(folder), seen, 6 // workers, False, turn]
        assert launch("looks", workers=workers) == [expected] * workers
        servers.append(forkserver.started[1].pid)
    assert servers[0] == servers[1] and len(set(servers)) == 3


@forks
def test_launches_at_the_same_time_do_not_mix_and_a_forks_are_its_own():
    process = in_a_terminal("""
import os
from concurrent.futures import ThreadPoolExecutor
from gpulessons.workers.launcher import forkserver
def together(*numbers):
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(launch, "failing", workers=n, show=len) for n in numbers]
    return [job.result() for job in jobs]
print(together(2, 3), (first := forkserver.started[1].pid) > 0, flush=True)
if child := os.fork():
    os.waitpid(child, 0)
print(together(2), forkserver.started[1].pid == first, flush=True)
""")
    told = process.communicate(timeout=300)[0].splitlines()
    assert told == ["[[0, 1], [0, 1, 2]] True", "[[0, 1]] False", "[[0, 1]] True"]


def test_a_killed_worker_costs_the_steps_since_the_last_checkpoint_and_nothing_else():
    lines = []
    ended = launch("restarting", restarts=1, steps=14, every=5, dies_at=13, show=lines.append)
    assert [(one.life, one.resumed, one.steps) for one in ended] == [(1, 10, 4)] * 2
    assert "worker 1: is killed before step 13" in lines
    unbroken = launch("restarting", steps=14, every=5)
    assert [(one.life, one.resumed, one.steps) for one in unbroken] == [(0, 0, 14)] * 2
    for one in ended:
        assert np.array_equal(one.weights, unbroken[0].weights)  # to the last bit


# -- Failures without a process: what workers and torchrun left is enough.


def raised_in(file):
    with pytest.raises(RuntimeError) as trouble:
        exec(compile("raise RuntimeError('out of range')", file, "exec"))
    return trouble.value


def left_behind(report, **files):
    """A launch's folder, of three workers: stack-1 and so on by stack={1: …}."""
    for name, contents in {"pid": dict.fromkeys(range(3), b"1"), **files}.items():
        for rank, each in contents.items():
            (report / f"{name}-{rank}").write_bytes(each)


def failures(folder, statuses, **raised):
    """torchrun's records: {rank: exit status}; what worker_1 and so on raised, by name."""
    for name, traceback in raised.items():
        told = {"message": "…", "extraInfo": {"py_callstack": traceback, "timestamp": "0"}}
        (folder / name).write_text(json.dumps({"message": told}))
    return {rank: ProcessFailure(rank, 77, status, str(folder / f"worker_{rank}"))
            for rank, status in statuses.items()}  # fmt: skip


def test_the_cause_is_told_and_not_its_consequences(tmp_path):
    for statuses, raised, expected in (
        ({0: -15, 1: 1, 2: -15}, {"worker_1": "Trace\n"}, "worker 1 raised\nTrace"),
        ({0: -15, 1: -9}, {}, "worker 1: Signal 9 (SIGKILL) received by PID 77: from outside, or"),
        ({0: -15, 2: 3}, {}, "worker 2 ended without a word (exit status 3)."),
        ({0: -11}, {}, "worker 0: Signal 11 (SIGSEGV) received by PID 77."),
    ):
        assert cause(failures(tmp_path, statuses, **raised)).startswith(expected)
        for name in raised:
            (tmp_path / name).unlink()


def test_who_returned_nothing_and_what_torchrun_said_last(tmp_path):
    left_behind(tmp_path, result={0: b"", 2: b""})
    assert why(tmp_path, 0).startswith("worker 1 left as if all were well")
    (tmp_path / "torchrun").write_text("much\nSignalException: got signal: 15\n")
    assert why(tmp_path, 1).endswith("last word was: SignalException: got signal: 15")


def test_what_workers_left_comes_in_the_order_of_their_ranks(tmp_path):
    for rank in (10, 2, 0):
        (tmp_path / f"result-{rank}").write_bytes(b"%d" % rank)
    (tmp_path / "result-1.partial").write_bytes(b"not yet")
    assert list(left(tmp_path, "result").items()) == [(0, b"0"), (2, b"2"), (10, b"10")]


def test_who_fails_in_a_call_to_the_others_has_lost_them_and_waits():
    assert lost(raised_in(f"{TORCH}/distributed/distributed_c10d.py"))
    assert not lost(raised_in(f"{TORCH}/cuda/streams.py"))


def test_a_silence_before_anybody_has_begun_asks_for_the_other_hosts(tmp_path):
    assert "no worker here has begun: has every host" in hung(tmp_path, 5)


def test_whatever_a_program_prints_is_for_the_reader_but_for_its_progress():
    shown, progress = [], []
    for line in ("\x1e[1, 2]", f'half a line{MARK}[1, 2, "steps"]'):
        pass_on(0, line, shown.append, lambda *note: progress.append(note))
    assert shown == ["worker 0: \x1e[1, 2]", "worker 0: half a line"]
    assert progress == [(1, 2, "steps")]


# -- What is refused before anything begins.


def test_the_courses_own_programs_go_before_files_of_the_same_name(tmp_path, monkeypatch):
    for name in ("hello", "greeting", "memory"):  # the last is a part of the course, no program
        (tmp_path / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert found("hello") == "gpulessons.workers.programs.hello"
    assert [found("greeting"), found("memory")] == ["greeting", "memory"]


def test_torchruns_options_that_a_cluster_has_set_for_its_own_jobs_are_not_ours(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("PET_NNODES", "2")  # we would wait for another host
    monkeypatch.setattr(launching, "FORK", ())
    monkeypatch.setattr(subprocess, "Popen", lambda words, env, **options: env)
    env = start(["torchrun"], 1, tmp_path)
    assert [name for name in env if name.startswith("PET_")] == ["PET_LOG_DIR"]
    assert env[TOKEN] == os.environ[TOKEN]  # all else is passed on


def test_a_launch_that_cannot_be_is_refused_in_a_sentence():
    for program, options, words in (
        ("hello", {"workers": 0}, "workers is how many processes to start, 1 or more; not 0"),
        ("hello.py", {}, "no module 'hello.py'"),
        ("helo", {}, r"no module 'helo' .* The course has .*hello.*pipeline"),
        ("nowhere.at.all", {}, "no module 'nowhere.at.all'"),
        ("hello", {"greeting": np.ones(2)}, "ndarray is not JSON"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            launch(program, **options)


# -- The zoo: a launch each.


@pytest.mark.nightly
def test_a_crash_is_told_with_its_traceback_and_leaves_neither_process_nor_memory():
    told = str(failed("failing", how="raises")[0])
    assert told.startswith("worker 1 raised\nTraceback") and "    return 1 / 0\n" in told
    assert told.endswith("ZeroDivisionError: division by zero")
    assert not list(MEMORY.glob("gpulessons-*-left"))


@pytest.mark.nightly
def test_a_worker_that_is_killed_is_named_and_not_those_that_lost_it():
    assert str(failed("failing", workers=3, how="is_killed")[0]).startswith("worker 1: Signal 9")
    assert str(failed("failing", how="leaves")[0]).startswith("worker 0 raised\nTraceback")


@pytest.mark.nightly
def test_where_a_system_does_not_fork_safely_each_launch_is_a_python_of_its_own(monkeypatch):
    monkeypatch.setattr(launching, "FORK", ())
    assert launch("failing") == [0, 1] and forkserver.started is None
    assert str(failed("failing", how="raises")[0]).startswith("worker 1 raised\nTraceback")


@pytest.mark.nightly
@forks
def test_a_server_that_is_killed_ends_its_launch():
    def kill(line):
        if "last line" in line:
            forkserver.started[1].kill()

    with pytest.raises(WorkersFailed, match=r"torchrun failed \(exit status -9\)"):
        launch("failing", how="sleeps", show=kill)


@pytest.mark.nightly
def test_a_deaf_worker_is_asked_for_its_stack_too():
    told = str(failed("failing", how="spins", timeout=15)[0]).splitlines()
    assert told[1] == "worker 0 is in" and "torch/distributed" in told[2]
    assert told[told.index("worker 1 is in") + 1].endswith(" in spins")


@pytest.mark.nightly
def test_a_skipped_call_is_filled_by_the_next_until_one_waits_in_vain():
    (seconds, sums, said), (_, others, _) = launch("faults", patience=1.0)
    assert sums == others == [11.0, 110.0] and "Timed out waiting 1000ms" in said
    assert seconds[1] > seconds[0] + 0.02


@pytest.mark.nightly
def test_nothing_survives_a_launcher_that_is_killed(working, token):
    process, torchrun = working
    folder = torchrun.environ()["GPULESSONS_REPORT"]
    process.kill()
    assert patiently(lambda: not marked(token) and not os.path.exists(folder))
