"""`python -m gpulessons` is the command `gpulessons`."""

import sys

from gpulessons.cli import main

if __name__ == "__main__":
    sys.exit(main())
