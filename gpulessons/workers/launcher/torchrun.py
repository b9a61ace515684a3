"""torchrun, as PyTorch has it, but ending with its launcher, and handing on how workers ended.

A launch names its folder in the environment of what it starts, and among its words. Every process
inherits the first mark, also from a parent that is dead by now; a Mac often hides it, but not the
second. Both hold when a number that was a process has become another: a list of ids would not.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

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


def main() -> None:
    report = Path(os.environ[REPORT])
    Thread(target=end_with, args=(os.getppid(), report), daemon=True).start()
    statuses = run(sys.argv[1:])
    (report / "ended").write_text(json.dumps(statuses))
    sys.exit(bool(statuses))


def end_with(launcher: int, report: Path) -> None:
    """End this process and the whole launch when the launcher is gone, however that died."""
    while os.getppid() == launcher:
        time.sleep(0.2)
    end_all(report)
    shutil.rmtree(report, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGKILL)


def run(words: list[str]) -> dict[int, int]:
    """Let torchrun do what its command line says; {rank: exit status} of workers that failed."""
    from torch.distributed import run as torchrun
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    try:
        torchrun.run(torchrun.parse_args(words))
    except ChildFailedError as trouble:
        return {rank: one.exitcode for rank, one in trouble.failures.items()}
    return {}


if __name__ == "__main__":
    main()
