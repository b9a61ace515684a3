"""torchrun as a fork of a server: PyTorch is imported once, for all launches of a process.

This file is run as a Python of its own, which knows neither the package nor a reader's modules:
each fork imports them anew. The server ends with whoever started it, and its forks end with it.
"""

import ctypes
import importlib
import json
import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any

ROOM = "-" * 4096  # a path at most: where a fork writes the mark of its launch
LOCK = Lock()  # two threads may launch at the same time
started: Any = None  # (what this process's server was started with, its Popen)


class Fork:
    """torchrun of one launch, as a fork; poll and returncode are a Popen's."""

    returncode: int | Any = None

    def __init__(self, words: list[str], env: dict[str, str], mark: str, noise: IO[str]) -> None:
        """mark: the name in env of the folder of the launch."""
        self.report = Path(env[mark])
        (self.report / "order").write_text(json.dumps([words, env, os.getcwd()]))
        with LOCK, suppress(BrokenPipeError):  # it dies this moment: poll tells
            # What PyTorch read as it was imported holds, but for two that each launch may set.
            common = {**env, mark: ROOM, "PET_LOG_DIR": "", "OMP_NUM_THREADS": "1"}
            self.server = server(common, mark, noise)
            os.write(self.server.stdin.fileno(), f"{self.report}\n".encode())

    def poll(self) -> int | None:
        """Its exit status, or that of the server, which ends its forks when it ends."""
        self.returncode = self.server.poll()
        with suppress(FileNotFoundError, ValueError):  # not there, or not yet written
            self.returncode = int((self.report / "status").read_text())
        return self.returncode


def server(env: dict[str, str], mark: str, noise: IO[str]) -> Any:
    """This process's server: another one where it was killed, or what it began with has changed."""
    global started
    wanted = os.getpid(), os.sched_getaffinity(0), env
    if not started or started[0] != wanted or started[1].poll() is not None:
        if started:
            started[1].stdin.close()  # it ends with its last fork; a parent's is left alone
        started = wanted, subprocess.Popen(
            [sys.executable, __file__, str(os.getpid()), mark], env=env, bufsize=0,
            stdin=subprocess.PIPE, stdout=noise, stderr=noise, start_new_session=True,
        )  # fmt: skip
    return started[1]


def serve(launcher: int) -> str:
    """Fork for each folder of a launch that is read; returns it, in the fork."""
    orders, listening = open(0, "rb", buffering=0), [0]  # noqa: SIM115 (until the end)
    forks: dict[int, str] = {}
    while os.getppid() == launcher and (listening or forks):
        if select.select(listening, [], [], 0.02 if forks else 0.2)[0]:
            if not (report := orders.readline().decode().removesuffix("\n")):
                listening = []
            elif not (pid := os.fork()):
                return report
            else:
                forks[pid] = report
        while forks and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with suppress(OSError):  # the launch was given up
                status = Path(forks.pop(ended[0]), "status")
                status.write_text(str(os.waitstatus_to_exitcode(ended[1])))
    os._exit(0)


def become(report: bytes, mark: bytes) -> None:
    """Take over what a process of this launch would have been started with.

    Its mark is written to where /proc shows it, and every fork, in whatever session, inherits it.
    """
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    ctypes.memmove(getenv(mark), report + b"\0", len(report) + 1)
    os.setsid()
    sys.argv[:], env, folder = json.loads(Path(os.fsdecode(report), "order").read_text())
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.path[:] = map(os.path.abspath, env["PYTHONPATH"].split(os.pathsep))
    importlib.invalidate_caches()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open(report + b"/torchrun", os.O_WRONLY | os.O_APPEND), stream)


if __name__ == "__main__":
    import numpy as np
    import torch._dynamo
    import torch.distributed.run  # noqa: F401

    this = os.getpid()
    become(os.fsencode(serve(int(sys.argv[1]))), os.fsencode(sys.argv[2]))
    np.random.seed()  # not every launch draws the same
    from gpulessons.workers.launcher.torchrun import main

    main(this)
