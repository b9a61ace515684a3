"""torchrun, as PyTorch has it, but ending with its launcher, and handing on what failed first."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from threading import Thread

from ..worker import REPORT
from .failures import FAILED, cause
from .launching import end_all


def main() -> None:
    report = Path(os.environ[REPORT])
    Thread(target=end_with, args=(os.getppid(), report), daemon=True).start()
    import torch._dynamo  # noqa: F401  # an optimizer's first step would, in each of the workers
    from torch.distributed import run as torchrun
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    try:
        torchrun.run(torchrun.parse_args(sys.argv[1:]))
    except ChildFailedError as trouble:
        (report / FAILED).write_text(cause(trouble.failures))
        sys.exit(1)


def end_with(launcher: int, report: Path) -> None:
    """End this process and the whole launch when the launcher is gone, however that died."""
    while os.getppid() == launcher:
        time.sleep(0.2)
    end_all(report)
    shutil.rmtree(report, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
