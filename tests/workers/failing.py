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
    """Leaves behind, if nobody ends and frees them: processes in sessions of their own, memory."""
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    if not os.fork():
        os.setsid()
        os.closerange(3, 256)  # of torchrun's pipes, by which it sees this worker end
        time.sleep(1000)
    (MEMORY / f"{Path(os.environ[REPORT]).name}-left").write_bytes(b"full")
    return 1 / 0


def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def leaves():
    os._exit(0)


def sleeps():
    time.sleep(1000)


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
