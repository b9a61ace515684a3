"""torchrun, as PyTorch has it, but ending with its launcher, and handing on what failed first."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from threading import Thread

from gpulessons.hardware.pools import threads

from ..worker import REPORT
from .failures import FAILED, cause
from .launching import end_all


def main(parent: int) -> None:
    report = Path(os.environ[REPORT])
    (watch := Thread(target=end_with, args=(parent, report), daemon=True)).start()
    import torch._dynamo  # noqa: F401  # an optimizer's first step would, in each of the workers
    from torch.distributed import run as torchrun
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    failed = False
    try:
        with threads(int(os.environ["OMP_NUM_THREADS"])):  # a fork's BLAS has read another
            torchrun.run(torchrun.parse_args(sys.argv[1:]))
    except ChildFailedError as trouble:
        (report / FAILED).write_text(cause(trouble.failures))
        failed = True
    finally:
        if os.getppid() != parent:
            watch.join()  # it tidies up, and ends this process
    os._exit(failed)  # an ordinary exit takes PyTorch a second


def end_with(parent: int, report: Path) -> None:
    """End this process and the whole launch when its parent is gone, or nobody waits for it."""
    while os.getppid() == parent and report.exists():
        time.sleep(0.2)
    end_all(report)
    time.sleep(2)  # a launcher that lives ends this one meanwhile, and reads what is there
    shutil.rmtree(report, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(os.getppid())
