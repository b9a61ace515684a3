"""torchrun, as PyTorch has it, but ending with its launcher, and handing on how workers ended."""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from threading import Thread

from ..worker import REPORT
from .launching import end_all


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
