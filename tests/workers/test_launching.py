"""launch(): what it gives back, how each failure is told, and that no process is ever left."""

import inspect
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from contextlib import contextmanager, suppress
from importlib import import_module
from uuid import uuid4

import numpy as np
import psutil
import pytest

from gpulessons import launch
from gpulessons.cli import main
from gpulessons.cli.running import value_of
from gpulessons.workers import WorkersFailed, memory
from gpulessons.workers.launcher.harness import choose_network, entrance
from gpulessons.workers.launcher.launching import found, programs, start
from gpulessons.workers.worker import MEMORY, REPORT, Refused, Worker

TORCHRUN = "gpulessons.workers.launcher.torchrun"
TOKEN = "GPULESSONS_TEST_TOKEN"


@pytest.fixture(autouse=True)
def token(monkeypatch):
    """A mark that everything started by a test inherits; in the end nobody may carry it."""
    token = uuid4().hex
    monkeypatch.setenv(TOKEN, token)
    yield token
    left = patiently(lambda: not marked(token)) or marked(token)
    for process in left if left is not True else ():
        process.kill()
    assert left is True


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
    """Wait until it holds; False if it never did. Ending may take twice GRACE, and scheduling."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def files_of_at_most(size):
    """A limit for this process: what a full disk would do."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def failed(program, **options):
    """(the exception of a launch, the lines that were shown)"""
    lines = []
    with pytest.raises(WorkersFailed) as trouble:
        launch(program, show=lines.append, **options)
    return trouble.value, lines


# -- When all is well.


def test_lines_progress_and_results_come_back():
    lines, told = [], []
    results = launch("failing", 3, show=lines.append, tell=lambda *words: told.append(words))
    assert results == [0, 1, 2]
    for rank in range(3):
        due = ["knows well", "and prints, too: é", "last line", *["half a line"] * (rank == 1)]
        own = [line for line in lines if line.startswith(f"worker {rank}: ")]
        assert own == [f"worker {rank}: {words}" for words in due]
    assert told == [(1, 2, "half way")] * 3


def test_the_command_takes_short_names_and_options_in_any_order():
    done = terminal("hello", "greeting=salut", "--workers", "1", "--timeout", "90").communicate()
    assert done == ("worker 0: salut from 1 of 1 on cpu\nworker 0 returned 1.0\n", "")


def test_the_courses_own_programs_go_before_files_of_the_same_name(tmp_path, monkeypatch):
    (tmp_path / "hello.py").write_text("")
    (tmp_path / "greeting.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert found("hello") == "gpulessons.workers.programs.hello"
    assert found("greeting") == "greeting"
    (tmp_path / "memory.py").write_text("")  # a part of the course, and no program
    assert found("memory") == "memory"


def test_the_command_finds_a_module_in_the_current_folder(tmp_path):
    (tmp_path / "mine.py").write_text("def main(worker):\n    return 'mine'\n")
    done = terminal("mine", "--workers=1", cwd=tmp_path).communicate()
    assert done == ("worker 0 returned 'mine'\n", "")


@pytest.mark.parametrize("name", programs())
def test_each_program_that_the_course_lists_begins_in_a_main_that_takes_a_worker(name):
    assert next(iter(inspect.signature(import_module(found(name)).main).parameters)) == "worker"


SCRIPT = """
import sys
from pathlib import Path
from gpulessons import launch
sys.path.append(Path("/nowhere"))  # Python takes no notice of it
print(launch("greeting", 1, show=lambda line: None))
"""


def test_workers_import_what_their_launcher_does_wherever_it_stands(tmp_path):
    here, home = tmp_path / "here", tmp_path / "a home, früher theirs"
    for folder in (here, home):
        folder.mkdir()
        (folder / "greeting.py").write_text(f"def main(worker):\n    return {folder.name!r}\n")
    (here / "queue.py").write_text("raise RuntimeError('not the one of Python')")
    (home / "script.py").write_text(SCRIPT)
    path = os.pathsep.join([os.getcwd(), *sys.path])
    done = subprocess.run(
        [sys.executable, home / "script.py"], cwd=here, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert done.stdout == f"['{home.name}']\n", done.stderr


def test_torchruns_options_that_a_cluster_has_set_for_its_own_jobs_are_not_ours(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("PET_NNODES", "2")  # we would wait for another host
    monkeypatch.setattr(subprocess, "Popen", lambda words, env, **options: env)
    env = start(["torchrun"], 1, tmp_path)
    assert [name for name in env if name.startswith("PET_")] == ["PET_LOG_DIR"]
    assert env[TOKEN] == os.environ[TOKEN]  # all else is passed on


def terminal(*words, cwd=None):
    """The command `gpulessons workers`, started as an installed one: from a folder of programs."""
    here = os.pathsep.join([os.getcwd(), *sys.path])
    ours = {"PYTHONPATH": here, "CUDA_VISIBLE_DEVICES": "", "PYTHONFAULTHANDLER": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "gpulessons", "workers", *words], cwd=cwd,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **ours},
    )  # fmt: skip


def ended(process):
    """What it complained of until its end; where it stands, if it will not end."""
    try:
        return process.communicate(timeout=300)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        pytest.fail(process.communicate()[1])


# -- When a worker fails.


def test_a_crash_is_told_with_the_programs_own_frames_and_what_others_had_returned_is_kept():
    trouble, _ = failed("failing", how="raises", meet=False)
    told = str(trouble)
    assert told.startswith("worker 1 raised\nTraceback")
    assert told.count("File ") == 2  # main and raises: neither harness nor library
    assert "ZeroDivisionError: division by zero" in told
    assert "Its last lines:\n  knows raises\n  and prints, too: é\n  last line" in told
    assert trouble.results == {0: 0}
    assert told.endswith("The exception's .results has what worker 0 returned.")


@pytest.mark.skipif(not os.access(MEMORY, os.W_OK), reason="this system has no /dev/shm")
def test_memory_that_a_worker_shared_is_free_again_when_it_crashes():
    failed("failing", how="fills")
    assert not list(MEMORY.glob("gpulessons-*-left"))


def test_a_worker_that_trips_on_its_way_out_has_done_its_work():
    assert launch("failing", how="trips", show=lambda line: None) == [0, 1]


def test_a_torchrun_that_is_stopped_does_not_keep_back_what_its_workers_returned():
    assert launch("failing", how="stops", timeout=3, show=lambda line: None) == [0, 1]


def test_half_a_line_is_a_word_from_a_worker_too():
    assert launch("failing", how="whispers", timeout=6, show=lambda line: None) == [0, 1]


def test_a_killed_worker_is_named_and_not_those_that_lost_it():
    trouble, _ = failed("failing", workers=3, how="is_killed")
    assert str(trouble).startswith("worker 1 was killed (SIGKILL)")


def test_a_worker_that_leaves_without_a_word_is_named():
    trouble, _ = failed("failing", how="leaves")
    assert str(trouble).startswith("worker 1 ended without a word (exit status 0).")


def test_a_hung_worker_is_named_with_the_line_it_hangs_in():
    trouble, _ = failed("failing", how="spins", timeout=3)
    told = str(trouble).splitlines()
    assert told[0] == "No word for 3 s: worker 1 hangs."
    assert told[1].startswith("  worker 0 (waiting for the others): ")
    assert told[1].endswith(", in main")
    assert told[2].endswith(", in spins")
    assert "  hangs from now on" in told


def test_a_program_that_cannot_be_imported_is_told_without_the_harness():
    trouble, lines = failed("broken")
    assert str(trouble).partition(" ")[2].partition(" ")[2].startswith("raised\nTraceback")
    assert str(trouble).count("File ") == 1
    assert str(trouble).endswith("ZeroDivisionError: division by zero")
    assert not lines


@pytest.fixture
def full(tmp_path, monkeypatch):
    """A folder for temporary files in which there is no room for any byte more."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", tmp_path])
    if made.returncode:
        pytest.skip("only root can make a small file system")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with suppress(OSError), open(tmp_path / "full", "wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_full_folder_for_temporary_files_is_told(full):
    trouble, _ = failed("failing")
    assert str(trouble) == f"{full} is full: make room there, or set TMPDIR to another folder."


def test_a_result_for_which_there_is_no_room_is_told_with_its_size(tmp_path, monkeypatch):
    for name in ("RANK", "LOCAL_RANK"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv(REPORT, str(tmp_path))
    with files_of_at_most(4096), pytest.raises(Refused, match=r"5,000 bytes do not fit into /"):
        Worker().keep("result", bytes(5000))
    assert not (tmp_path / "result-0").exists()


def test_memory_for_which_there_is_no_room_is_refused_with_its_size(tmp_path, monkeypatch):
    class Here:
        folder = tmp_path

    monkeypatch.setattr(memory, "MEMORY", tmp_path)
    with files_of_at_most(4096), pytest.raises(Refused, match=r"8,000 bytes do not fit into /"):
        memory.make(Here, 8000)


def test_options_that_main_does_not_take_are_named_with_those_that_it_does():
    with pytest.raises(Refused, match=r"argument 'greting'. .* greeting='hello'"):
        entrance("gpulessons.workers.programs.hello", {"greting": "hi"})


def test_a_module_without_main_is_no_program():
    trouble, _ = failed("gpulessons.workers.links")
    assert "refused: gpulessons.workers.links has no main(worker, **options)" in str(trouble)


# -- When there are several hosts.


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("program", ["hogwild", "lost_updates"])
def test_what_needs_shared_memory_refuses_several_hosts_in_a_sentence(program):
    both = "--workers=1", "--nnodes=2", "--master-addr=127.0.0.1", f"--master-port={free_port()}"
    hosts = [terminal(program, *both, f"--node-rank={rank}") for rank in range(2)]
    for rank, host in enumerate(hosts):
        told = host.communicate(timeout=120)[1]
        due = f"gpulessons: worker {rank} refused: this program needs shared memory, and several "
        assert told == f"{due}hosts have none in common.\n"


def test_a_port_in_use_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        hosts = ("--nnodes=2", "--node-rank=0", "--master-addr=127.0.0.1", f"--master-port={port}")
        trouble, _ = failed("hello", hosts=hosts)
    assert str(trouble) == "The port is in use on this host: choose another with --master-port."


def test_a_master_that_nobody_reaches_is_told():
    hosts = ("--nnodes=2", "--node-rank=1", "--master-addr=127.0.0.1", "--master-port=9")
    trouble, _ = failed("hello", hosts=hosts, timeout=4)
    assert str(trouble).startswith("No word for 4 s, and no worker here has begun. Not every host")
    assert str(trouble).endswith("raise `timeout`.")  # where there is but one, it may be slow


def test_between_hosts_gloo_takes_the_network_that_leads_to_the_master(monkeypatch):
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "29400")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "mine")
    choose_network()
    assert os.environ["GLOO_SOCKET_IFNAME"] == "mine"  # whoever has chosen knows better
    monkeypatch.delenv("GLOO_SOCKET_IFNAME")
    choose_network()
    chosen = psutil.net_if_addrs()[os.environ["GLOO_SOCKET_IFNAME"]]
    assert "127.0.0.1" in [each.address for each in chosen]


# -- When somebody ends it all.


@pytest.fixture
def working(token):
    """A launch from a terminal, whose second worker spins: (it, its torchrun)."""
    process = terminal("failing", "how=spins")
    said = [process.stdout.readline() for _ in range(6)]
    assert sum("last line" in line for line in said) == 2, (said, process.stderr.read())
    assert len(marked(token)) == 4  # the launcher, torchrun and two workers
    (torchrun,) = [one for one in marked(token) if TORCHRUN in one.cmdline()]
    yield process, torchrun
    process.kill()
    process.communicate()


def test_ctrl_c_ends_every_worker(working):
    process, _ = working
    process.send_signal(signal.SIGINT)
    trouble = ended(process)
    assert trouble.endswith("gpulessons: Interrupted.\n")
    assert "Traceback" not in trouble
    assert process.returncode == 130


def test_nothing_survives_a_launcher_that_is_killed(working, token):
    process, torchrun = working
    folder = torchrun.environ()["GPULESSONS_REPORT"]
    assert os.path.exists(folder)
    process.kill()
    process.wait()
    assert patiently(lambda: not marked(token) and not os.path.exists(folder))


def test_nothing_survives_a_torchrun_that_is_killed(working, token):
    process, torchrun = working
    torchrun.kill()
    trouble = ended(process)
    assert trouble.endswith("torchrun was ended (SIGKILL), and its workers with it.\n")
    assert process.returncode == 1
    assert not marked(token)


# -- What is refused before anything begins.


@pytest.mark.parametrize(
    ("program", "options", "words"),
    [
        ("hello", {"workers": 0}, "workers is how many processes to start, 1 or more; not 0"),
        ("hello", {"workers": 1.5}, "1 or more; not 1.5"),
        ("hello.py", {}, "named as `import` names it, not 'hello.py'"),
        ("./hello", {}, "named as `import` names it"),
        (main, {}, "names it, not <function main"),
        ("without_a_file", {}, "no module 'without_a_file'"),
        ("helo", {}, r"no module 'helo' .* The course has .*hello.*pipeline"),
        ("nowhere.at.all", {}, "no module 'nowhere.at.all'"),
        ("hello", {"greeting": np.ones(2)}, "as JSON.*ndarray"),
    ],
)
def test_a_launch_that_cannot_be_is_refused_in_a_sentence(program, options, words, monkeypatch):
    monkeypatch.setitem(sys.modules, "without_a_file", types.ModuleType("without_a_file"))
    with pytest.raises(ValueError, match=words):
        launch(program, **options)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("hello --workers=0", "workers is how many processes to start, 1 or more; not 0."),
        ("hello --workers=x", "argument --workers: it is a whole number, not 'x'."),
        ("hello --workrs 3", "has no option '--workrs'. Did you mean '--workers'"),
        ("hello workers=3", "workers is no option of a program."),
        ("hello 2nd=3", "A program's options are written name=value, not '2nd=3'."),
        ("helo", "There is no module 'helo' to import here."),
        ("hello --nnodes 0", "--nnodes is how many hosts there are, 1 or more; not 0."),
        ("hello --nnodes 2", "Of several hosts each needs its own --node-rank"),
        ("hello --nnodes 2 --node-rank 2 --master-addr ::1", "--node-rank is 0 to 1, not 2."),
        ("hello --nnodes 2 --node-rank 0 --master-addr a.invalid", "address 'a.invalid'"),
        ("doctor more=1", "unrecognized arguments: more=1."),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused_in_a_sentence(words, sentence, capsys):
    command = words.split() if words.startswith("doctor") else ["workers", *words.split()]
    assert main(command) in (1, 2)
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("3", 3), ("1e-3", 1e-3), ("[1, 2]", [1, 2]), ("true", True), ("None", None)],
        *[("a=b", "a=b"), ("{[]: 1}", "{[]: 1}")],
    ],
)
def test_options_are_read_as_numbers_lists_and_words(text, value):
    assert value_of(f"rate={text}") == ("rate", value)
