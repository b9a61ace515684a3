"""launch(): a program on several worker processes, from a notebook's cell or a terminal.

    launch("gpulessons.workers.hello", workers=2)

The engine is PyTorch's own torchrun, so the same program runs on one laptop and on many hosts. Here
it is watched: lines appear as they are printed, results come back as values, and a worker that
crashes, hangs or is killed is named, with what it was doing. Nothing is left running.
"""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

from gpulessons.workers.worker import LAUNCHER, MARK, REPORT

PATIENCE = 120.0  # seconds without a word from any worker: something hangs
GRACE = 5.0  # seconds to end in peace


class WorkersFailed(RuntimeError):
    """Some worker did not finish: which one, why, and the last lines it printed."""


def launch(program, workers=2, *, hosts=(), patience=PATIENCE, show=print, tell=None, **options):
    """Run main(worker, **options) of an importable module in several processes; [result of each].

    hosts: torchrun's options where there is more than this machine, such as ("--nnodes=2",
    "--node-rank=0", "--master-addr=10.0.0.1"); then the results are those of the workers here.
    patience: seconds of silence after which the workers count as hung. show(line) and tell(done,
    total, words) are called as they work. Raises WorkersFailed; Ctrl-C ends every worker.
    """
    with tempfile.TemporaryDirectory(prefix="gpulessons-") as folder:
        report = Path(folder)
        process = start(program, workers, hosts or ("--standalone",), options, report)
        lines = []
        try:
            for line in spoken(process, patience, report):
                heard(line, lines, show, tell)
        finally:
            end(process, report)
        if process.returncode:
            raise WorkersFailed(why(report, lines))
        return results(report)


def start(program, workers, hosts, options, report):
    """torchrun, with a pipe for what the workers print and a file for what it says itself."""
    command = [
        *(sys.executable, "-m", "torch.distributed.run", *hosts, f"--nproc-per-node={workers}"),
        *("-m", "gpulessons.workers.worker", program, json.dumps(options)),
    ]
    threads = max(1, (os.cpu_count() or 1) // workers)
    here = {REPORT: str(report), LAUNCHER: str(os.getpid()), "OMP_NUM_THREADS": str(threads),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # fmt: skip
    with open(report / "torchrun", "w") as noise:
        return subprocess.Popen(
            command, env={**os.environ, **here},
            stdout=subprocess.PIPE, stderr=noise, text=True, errors="replace",
            start_new_session=True,  # Ctrl-C in a terminal is ours to pass on
        )  # fmt: skip


# -- While they work.


def spoken(process, patience, report):
    """Yield each line the workers print; WorkersFailed when all are silent for too long."""
    queue = Queue()

    def read():
        for line in process.stdout:
            queue.put(line.rstrip("\n"))
        queue.put(None)

    Thread(target=read, daemon=True).start()
    while True:
        try:
            line = queue.get(timeout=patience)
        except Empty:
            raise WorkersFailed(hung(report, patience)) from None
        if line is None:
            process.wait()
            return
        yield line


def heard(line, lines, show, tell):
    """A line for the reader is shown and kept; a note about progress is passed on."""
    if not line.startswith(MARK):
        lines.append(line)
        show(line)
    elif tell:
        told = json.loads(line.removeprefix(MARK))
        tell(told["done"], told["total"], told["words"])


def end(process, report):
    """Ask torchrun to end its workers; end those that are still there. Nothing is left."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    for pid in [process.pid] * (process.poll() is None) + list(pids(report).values()):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


# -- What they left.


def left(report, name):
    """{rank: bytes} of the files of one name."""
    found = report.glob(f"{name}-*")
    return {int(path.name.rpartition("-")[2]): path.read_bytes() for path in sorted(found)
            if path.suffix != ".partial"}  # fmt: skip


def pids(report):
    return {rank: int(pid) for rank, pid in left(report, "pid").items()}


def results(report):
    found = left(report, "result")
    return [pickle.loads(found[rank]) for rank in sorted(found)]


def why(report, lines):
    """What went wrong first, in a sentence, and the last lines of the worker it happened to."""
    noise = (report / "torchrun").read_text(errors="replace")
    died = re.search(r"\(exitcode: (-?\d+)\) local_rank: (\d+)", noise)
    troubles = {rank: text.decode() for rank, text in left(report, "trouble").items()}
    if died and int(died[1]) < 0:
        rank, name = int(died[2]), signal.Signals(-int(died[1])).name
        return with_last_lines(rank, f"worker {rank} was killed ({name})", lines)
    if troubles:
        rank = int(died[2]) if died and int(died[2]) in troubles else min(troubles)
        return with_last_lines(rank, f"worker {rank} raised:\n{troubles[rank].strip()}", lines)
    return unreachable(noise) or f"torchrun ended before its workers began:\n{noise[-800:].strip()}"


def unreachable(noise):
    """A sentence for the two usual troubles of a network, or ""."""
    if re.search(r"EADDRINUSE|[Aa]ddress already in use", noise):
        return "the port is in use on this host: choose another with --master-port"
    if re.search(r"getaddrinfo|not known|ETIMEDOUT|ECONNREFUSED|[Tt]imed out", noise):
        return (
            "nobody answers at the master's address: start the host of --node-rank=0 first, and "
            "see that --master-addr and --master-port reach it"
        )
    return ""


def hung(report, patience):
    """Which worker hangs, and where: each is asked for its stack."""
    for pid in pids(report).values():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
    time.sleep(0.5)
    stacks = {rank: innermost(text.decode()) for rank, text in left(report, "stack").items()}
    waiting = {rank for rank, at in stacks.items() if "torch" in at}
    first = sorted(set(stacks) - waiting) or sorted(stacks)
    where = "\n".join(f"  worker {rank}{' (waiting for the others)' * (rank in waiting)}: {at}"
                      for rank, at in stacks.items())  # fmt: skip
    named = " and ".join(f"worker {rank}" for rank in first) or "torchrun"
    return f"no word for {patience:g} s: {named} hangs.\n{where}".rstrip()


def innermost(stack):
    """The line a worker is at, from faulthandler's words: `File "…/x.py", line 3 in main`."""
    frames = re.findall(r'File "(.*?)", line (\d+) in (.*)', stack)
    return "{0}, line {1}, in {2}".format(*frames[0]) if frames else "not started"


def with_last_lines(rank, sentence, lines):
    own = [line for line in lines if line.startswith(f"worker {rank}:")][-5:]
    return "\n".join([sentence, *(["Its last lines:", *own] if own else [])])
