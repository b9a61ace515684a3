"""torchrun, as PyTorch has it, but ending with whoever launched it: nothing stays behind."""

import os

from ..worker import REPORT
from .processes import PARENT, end_with_parent, tidy


def main():
    launcher, report = int(os.environ[PARENT]), os.environ[REPORT]
    end_with_parent(clean=True)
    os.environ[PARENT] = str(os.getpid())  # what the workers must not outlive
    from torch.distributed import run

    try:
        run.main()
    finally:
        if os.getppid() != launcher:  # torchrun may be done before the thread that watches
            tidy(report)


if __name__ == "__main__":
    main()
