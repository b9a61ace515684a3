"""launch(): a program on several worker processes, from a notebook's cell or a terminal.

    launch("hello", workers=2)

The engine is PyTorch's own torchrun, so the same program runs on one laptop and on many hosts. Here
it is watched: lines appear as they are printed, results come back as values, and a worker that
crashes, hangs or is killed is named, with where it was. Nothing is left running.
"""

import importlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

with suppress(ImportError):  # a browser has none, and starts no process
    import psutil

from gpulessons import progress
from gpulessons.hardware.system import cores
from gpulessons.hardware.timer import Advance

from ..worker import MARK, MEMORY, REPORT
from .failures import WorkersFailed, hung, left, why
from .forkserver import Fork

PROGRAMS = Path(__file__).parents[1] / "programs"
TIMEOUT = 120.0  # seconds without a word from any worker: something hangs
ALONE = "--standalone", "--local-addr=127.0.0.1"  # a laptop's own name may lead nowhere
# Where a system forks safely, torchrun is a fork of our server, and its workers are forks of it.
FORK = ("--start-method=fork", "--run-path") if sys.platform == "linux" else ()


def launch(
    program: str,
    workers: int = 2,
    *,
    hosts: Sequence[str] = (),
    timeout: float = TIMEOUT,
    restarts: int = 0,
    show: Callable[[str], object] = progress.say,
    advance: Advance | None = None,
    **options: Any,
) -> list[Any]:
    """Run main(worker, **options) of a module in several processes; returns [result of each].

    program: the short name of one of the course's, or else a module to import from here.
    options: what JSON can carry. hosts: torchrun's options where there is more than this machine,
    such as ("--nnodes=2", "--node-rank=0", "--master-addr=10.0.0.1"); then the results are those of
    the workers here. timeout: seconds of silence after which the workers count as hung; they have
    at least TIMEOUT to begin. restarts: how often torchrun starts all of them anew when one has
    failed. show(line) is called for what they print, advance(done, total, words) instead of a
    progress bar. Raises WorkersFailed; ValueError or TypeError before anything has begun. Ctrl-C
    ends every worker.
    """
    words = command(found(program), workers, hosts, options, restarts)
    bar = nullcontext(advance) if advance else progress.progress_bar(program)
    with tempfile.TemporaryDirectory(prefix="gpulessons-") as folder, bar as advance:
        report = Path(folder)
        try:
            process = start(words, workers, report)
            for rank, line in lines_of(process, report, timeout):
                pass_on(rank, line, show, advance)
        finally:
            end_all(report)
        results = left(report, "result")
        if len(results) < workers:
            raise WorkersFailed(why(report, process.returncode))
    return [pickle.loads(result) for result in results.values()]


# -- Before they begin.


def found(program: str) -> str:
    """The full name of a program's module; ValueError where there is none."""
    importlib.invalidate_caches()  # a cell may have written it a moment ago
    ours = sorted(path.stem for path in PROGRAMS.glob("[!_]*.py"))
    if program in ours:
        return f"gpulessons.workers.programs.{program}"
    with suppress(ModuleNotFoundError, ValueError):  # no parent package, or no file
        if find_spec(program):
            return program
    raise ValueError(
        f"There is no module {program!r} to import here. The course has {', '.join(ours)}."
    )


def command(
    program: str, workers: int, hosts: Sequence[str], options: Mapping[str, Any], restarts: int = 0
) -> list[str]:
    """torchrun's command line, but for the folder of the launch."""
    if os.name == "nt":
        raise ValueError("Workers need Linux or macOS: on Windows, run the course under WSL.")
    if not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers is how many processes to start, 1 or more; not {workers!r}.")
    return [
        *(sys.executable, "-m", f"{__package__}.torchrun", *(hosts or ALONE)),
        *(f"--nproc-per-node={workers}", f"--max-restarts={restarts}"),
        *(*FORK, str(Path(__file__).with_name("harness.py")), program, json.dumps(options)),
    ]


def start(command: Sequence[str], workers: int, report: Path) -> "subprocess.Popen[bytes] | Fork":
    """Start torchrun; what it says itself, and logs, goes into the folder of the launch.

    That folder is also the mark of all its processes: see `marked`.
    """
    here = {
        REPORT: str(report),
        "PYTHONPATH": os.pathsep.join(each or "." for each in map(str, sys.path)),
        "PYTHONSAFEPATH": "1",  # what we import, and no more
        "OMP_NUM_THREADS": str(max(1, cores() // workers)),
        "PET_LOG_DIR": str(report),
        # A store of torchrun's own outlives a restart, with the addresses of dead workers in it.
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }
    # PET_… are torchrun's options: a cluster sets them for jobs of its own.
    around = {name: value for name, value in os.environ.items() if not name.startswith("PET_")}
    words, env = [*command, str(report)], {"TORCH_CPP_LOG_LEVEL": "ERROR", **around, **here}
    with open(report / "torchrun", "w") as noise:
        if FORK:
            return Fork(words[2:], env, REPORT, noise)
        return subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stdout=noise, stderr=noise,
            start_new_session=True,  # Ctrl-C in a terminal is ours to pass on
        )  # fmt: skip


# -- While they work.


def lines_of(
    process: "subprocess.Popen[bytes] | Fork", report: Path, timeout: float
) -> Iterator[tuple[int, str]]:
    """Yield (rank, line) as workers print, until torchrun ends; WorkersFailed after a silence."""
    read: dict[Path, int] = {}  # bytes of each output
    signs, last_sign = None, time.monotonic()
    while True:
        over = process.poll() is not None  # asked first, so that no last word is missed
        for path in sorted(report.glob("output-*")):
            lines, read[path] = news(path, read.get(path, 0), over)
            for line in lines:
                yield int(path.name.removeprefix("output-")), line
        if over:
            return
        files = [(path, path.stat().st_size) for path in report.glob("*-*[0-9]")]
        if files != signs:  # a worker has printed, if only half a line, or left something
            signs, last_sign = files, time.monotonic()
        limit = timeout if any(report.glob("joined-*")) else max(timeout, TIMEOUT)
        if time.monotonic() - last_sign > limit:
            raise WorkersFailed(hung(report, limit))
        time.sleep(0.1)


def news(path: Path, start: int, over: bool) -> tuple[list[str], int]:
    """([the whole lines of a file from byte `start` on], where they end)"""
    with open(path, "rb") as file:
        file.seek(start)
        text = file.read()
    end = len(text) if over else text.rfind(b"\n") + 1
    lines = text[:end].decode(errors="replace").removesuffix("\n").split("\n")
    return lines if end else [], start + end


def pass_on(rank: int, line: str, show: Callable[[str], object], advance: Advance | None) -> None:
    """A line for the reader is shown; a note about progress is passed on."""
    words, mark, note = line.partition(MARK)
    if words or not mark:
        show(f"worker {rank}: {words}")
    if mark and advance:
        advance(*json.loads(note))


# -- When it is over.


def marked(report: Path) -> "list[psutil.Process]":
    """The living processes of one launch, without the one that asks.

    A launch names its folder in the environment (as /proc shows it) and among the words. Every
    process inherits the first mark, also from a parent that is dead by now; a Mac often hides it,
    but not the second. A list of ids would not hold: a number may have become another process.
    """
    found, mark = [], str(report)
    for each in psutil.process_iter():
        with suppress(psutil.Error, OSError, SystemError):  # it has just ended, or is another's
            ours = mark in each.cmdline() or each.environ().get(REPORT) == mark
            if ours and each.pid != os.getpid():
                found.append(each)
    return found


def end_all(report: Path) -> None:
    """Kill every process of a launch, and free its memory: programs have nothing to tidy up."""
    for _ in range(2):  # one may have been starting another
        for process in (found := marked(report)):
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(found, timeout=3)
    for file in MEMORY.glob(f"{report.name}-*"):
        file.unlink(missing_ok=True)
