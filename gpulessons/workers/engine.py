"""torchrun, as PyTorch has it, but ending with whoever launched it: nothing stays behind."""

import os

from gpulessons.workers.processes import PARENT, end_with_parent


def main():
    end_with_parent(clean=True)
    os.environ[PARENT] = str(os.getpid())  # what the workers must not outlive
    from torch.distributed.run import main

    main()


if __name__ == "__main__":
    main()
