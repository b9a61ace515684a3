"""Which processes belong to a launch, what they left in its folder, and how they end with it.

A launch names its folder in the environment of what it starts, and among its words. Every process
inherits the first mark, also from a parent that is dead by now; a Mac often hides it, but not the
second. Both hold when a number that was a process has become another: a list of ids would not.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

with suppress(ImportError):  # a browser has none, and starts no process
    import psutil

from ..worker import MEMORY, REPORT


def marked(report: Path) -> list[psutil.Process]:
    """The living processes of one launch, without the one that asks."""
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


def left(report: Path, name: str) -> dict[int, bytes]:
    """{rank: bytes} of the files of one name that workers left, in order."""
    found = {path.name.removeprefix(f"{name}-"): path for path in report.glob(f"{name}-*")}
    ranks = sorted(int(rank) for rank in found if rank.isdigit())
    return {rank: found[str(rank)].read_bytes() for rank in ranks}
