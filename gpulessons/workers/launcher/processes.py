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
from contextlib import suppress
from pathlib import Path

with suppress(ImportError):  # a browser has none, and starts no process
    import psutil

from ..worker import MEMORY, REPORT

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


def end_all(report: Path, remove: bool = False) -> None:
    """Ask every process of a launch to end; kill those that are still there; free memory.

    remove: the folder, too, where its launcher is gone.
    """
    try:
        for process in (asked := marked(report)):
            with suppress(psutil.Error):
                process.terminate()
        psutil.wait_procs(asked, GRACE)
    finally:  # for those in a hurry, too: Ctrl-C, and Ctrl-C again
        for process in (deaf := marked(report)):
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(deaf, GRACE)
        for file in MEMORY.glob(f"{report.name}-*"):
            file.unlink(missing_ok=True)
        if remove:
            shutil.rmtree(report, ignore_errors=True)


def end_with_parent(launch: bool = False) -> int:
    """End this process when its parent is gone, however that died; returns the parent's id.

    launch: and the whole launch with it.
    """
    parent, report = os.getppid(), Path(os.environ[REPORT])

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        if launch:
            end_all(report, remove=True)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    return parent


def left(report: Path, name: str) -> dict[int, bytes]:
    """{rank: bytes} of the files of one name that workers left."""
    found = [path for path in report.glob(f"{name}-*") if path.name[len(name) + 1 :].isdigit()]
    return {int(path.name.rpartition("-")[2]): path.read_bytes() for path in sorted(found)}
