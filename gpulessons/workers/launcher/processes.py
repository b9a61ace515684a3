"""Which processes belong to a launch, and how they end with it.

A launch names a folder in the environment of what it starts, and among its words. Every process
inherits the first mark, also from a parent that is dead by now; a Mac often hides it, but not the
second. Both hold when a number that was a process has become another: a list of ids would not.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

with suppress(ImportError):  # a browser has none, and starts no process
    import psutil

from ..worker import MEMORY, REPORT

PARENT = "GPULESSONS_PARENT"  # the process that this one must not outlive
GRACE = 3.0  # seconds to end in peace


def marked(report: Path) -> list[psutil.Process]:
    """The living processes of one launch, without the one that asks."""
    here = psutil.process_iter()
    return [each for each in here if each.pid != os.getpid() and carries(each, str(report))]


def carries(process: psutil.Process, mark: str) -> bool:
    for found in (lambda: process.environ().get(REPORT) == mark, lambda: mark in process.cmdline()):
        with suppress(psutil.Error, OSError, SystemError):  # it has just ended, or is another's
            if found():
                return True
    return False


def living(report: Path) -> dict[int, psutil.Process]:
    """{rank: process} of the workers of one launch that have not ended."""
    here = {process.pid: process for process in marked(report)}
    pids = {rank: int(pid) for rank, pid in left(report, "pid").items()}
    return {rank: here[pid] for rank, pid in pids.items() if pid in here}


def left(report: Path, name: str) -> dict[int, bytes]:
    """{rank: bytes} of the files of one name that workers left."""
    found = [path for path in report.glob(f"{name}-*") if path.name[len(name) + 1 :].isdigit()]
    return {int(path.name.rpartition("-")[2]): path.read_bytes() for path in sorted(found)}


def end_all(report: Path) -> None:
    """Ask every process of a launch to end; then those that are still there; free memory."""
    try:
        each(psutil.Process.terminate, report)
    finally:  # for those in a hurry, too: Ctrl-C, and Ctrl-C again
        each(psutil.Process.kill, report)
        for file in MEMORY.glob(f"{report.name}-*"):
            file.unlink(missing_ok=True)


def tidy(report: Path) -> None:
    """Nothing is left of a launch whose launcher is gone."""
    end_all(report)
    shutil.rmtree(report, ignore_errors=True)


def each(end: Callable[[psutil.Process], None], report: Path) -> None:
    found = marked(report)
    for process in found:
        with suppress(psutil.Error):
            end(process)
    psutil.wait_procs(found, GRACE)


def end_with_parent(clean: bool = False) -> None:
    """End this process, and those it started, when its parent is gone, however that died.

    clean: end the whole launch, and remove its folder.
    """
    parent, report = int(os.environ[PARENT]), Path(os.environ[REPORT])

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        if clean:
            tidy(report)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
