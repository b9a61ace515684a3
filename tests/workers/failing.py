"""A program for the tests that ends in whatever way it is told."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

from gpulessons.workers.worker import MEMORY, REPORT


def main(worker, how="well", meet=True):
    """The rank; but worker 1 does what `how` names, while the others wait for it (meet) or not."""
    worker.say("knows", how)
    print("and prints, too: é", end="")
    sys.stdout.flush()
    worker.progress(1, 2, "half way")
    print("last line")
    dist.all_reduce(torch.ones(1))
    if worker.rank == 1:
        while not meet and not (worker.report / "result-0").exists():
            time.sleep(0.01)
        globals()[how]()
    if meet:
        dist.all_reduce(torch.ones(1))
    return worker.rank


def well():
    print("half a line", end="")


def raises():
    """Leaves a process behind, if nobody ends that: one in a session of its own."""
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    return 1 / 0


def fills():
    """Leaves memory behind, if nobody frees it."""
    (MEMORY / f"{Path(os.environ[REPORT]).name}-left").write_bytes(b"full")
    return 1 / 0


def trips():
    """Comes to grief on the way out, when all is done."""
    home = sys.modules["__main__"]  # gpulessons.workers.launcher.harness
    ends = home.end
    home.end = lambda status: ends(status) if status else os.abort()


def stops():
    """Stops torchrun, which will not tell that all have done their work."""
    os.kill(os.getppid(), signal.SIGSTOP)


def whispers():
    """Takes longer than the timeout of the tests, and says so in half a line."""
    for _ in range(14):
        print(".", end="", flush=True)
        time.sleep(0.5)


def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def leaves():
    os._exit(0)


def spins():
    """Hangs, and is deaf: numba holds Python's lock, so that no thread of Python runs."""
    from numba import njit

    @njit("int64()")  # compiled here, and not when others already wait for it to hang
    def forever():
        n = 1
        while n:
            n = n % 7 + 1
        return n

    print("hangs from now on", flush=True)
    forever()
