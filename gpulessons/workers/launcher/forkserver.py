"""torchrun as a fork of a server: PyTorch is imported once, for all launches of a process.

launching starts this file as a Python of its own, which knows neither the package nor a reader's
modules: each fork imports them anew. It takes over environment, folder and path of its launch. The
server ends with the process that started it, however that ends, and its forks end with it.
"""

import ctypes
import importlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOM = "-" * os.pathconf("/", "PC_PATH_MAX")  # for the mark of a launch: see `become`
started: tuple[object, subprocess.Popen[bytes]] | None = None  # (what it was started with, it)


class Fork:
    """torchrun of one launch; poll and returncode are those of a Popen."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str], report: Path, mark: str):
        self.report, self.returncode = report, None
        order = {"words": words, "env": env, "folder": os.getcwd()}
        (report / "order").write_text(json.dumps(order))
        self.server = server({**env, mark: ROOM}, mark, report)
        self.server.stdin.write(f"{report}\n".encode())  # so few bytes are written whole

    def poll(self) -> int | None:
        """Its exit status, or the server's if that has ended, and with it all its forks."""
        gone = self.server.poll()
        with suppress(FileNotFoundError):
            gone = int((self.report / "status").read_text())
        self.returncode = gone
        return gone


def server(env: dict[str, str], mark: str, report: Path) -> subprocess.Popen[bytes]:
    """This process's server: another one when it has been killed, or the environment is not the same.

    An imported library has read its variables. A former server ends with its last fork.
    """
    global started
    # The two that each launch may have otherwise: torchrun reads one, and sets the other.
    env |= {"PET_LOG_DIR": "", "OMP_NUM_THREADS": "1"}
    wanted = os.getpid(), os.sched_getaffinity(0), env
    if started is None or started[0] != wanted or started[1].poll() is not None:
        with open(report / "torchrun", "w") as noise:
            process = subprocess.Popen(
                [sys.executable, __file__, str(os.getpid()), mark], env=env, bufsize=0,
                stdin=subprocess.PIPE, stdout=noise, stderr=noise, start_new_session=True,
            )  # fmt: skip
        started = wanted, process
    return started[1]


# -- In the server.


def serve(launcher: int) -> str:
    """Fork for each folder of a launch that is read; returns it, in the fork."""
    orders, listening = open(0, "rb", buffering=0), [0]
    forks: dict[int, str] = {}
    while os.getppid() == launcher and (listening or forks):
        if select.select(listening, [], [], 0.02 if forks else 0.2)[0]:
            report = orders.readline().decode().removesuffix("\n")
            if not report:
                listening = []
            elif pid := os.fork():
                forks[pid] = report
            else:
                return report
        while forks and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            status = Path(forks.pop(ended[0]), "status")
            with suppress(OSError):  # the launch was given up
                status.with_suffix(".partial").write_text(str(os.waitstatus_to_exitcode(ended[1])))
                status.with_suffix(".partial").rename(status)
    os._exit(0)


def become(report: str, mark: str) -> None:
    """Take over all that a process of this launch would have been started with.

    The mark is also written to where /proc shows it: into the environment that the server was
    started with. Forks of a fork inherit it, in whatever session.
    """
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    name = os.fsencode(report) + b"\0"
    ctypes.memmove(libc.getenv(mark.encode()), name, len(name))
    os.setsid()
    order = json.loads(Path(report, "order").read_text())
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["folder"])
    sys.argv[:] = order["words"]
    sys.path[:] = map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep))
    importlib.invalidate_caches()
    noise = os.open(f"{report}/torchrun", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), noise, noise)):
        os.dup2(file, stream)


if __name__ == "__main__":
    import numpy as np
    import torch._dynamo
    import torch.distributed.run

    this = os.getpid()
    become(serve(int(sys.argv[1])), sys.argv[2])
    np.random.seed()  # not every launch draws the same

    from gpulessons.workers.launcher.torchrun import main

    main(this)
