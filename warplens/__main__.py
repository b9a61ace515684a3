"""`python -m warplens script.py …`: run a Numba-CUDA program without a GPU, say what is wrong.

Prints what the program prints, then every race, fault and caution with its file and line. The exit
status is 0 where nothing was found, 1 where something was, 2 where the program uses what is not
followed; otherwise the program's own.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from traceback import extract_tb

from . import KernelFault, Unsupported, tracing
from .findings import findings, short_path

FOUND, NOT_FOLLOWED = 1, 2


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else NOT_FOLLOWED
    script, sys.argv = arguments[0], arguments
    sys.path.insert(0, str(Path(script).resolve().parent))
    stopped: list[str] = []
    status = 0
    with tracing() as launches:
        try:
            runpy.run_path(script, run_name="__main__")
        except Unsupported as trouble:
            stopped, status = [f"{where(trouble, script)}: {trouble}"], NOT_FOLLOWED
        except KernelFault as fault:
            stopped = [f"{where(fault, script)}: {type(fault).__name__}: {fault}"]
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code))
    lines = findings(launches) + stopped
    print(*lines, sep="\n", end="\n" * bool(lines))
    print(f"warplens: {len(launches)} launches, {len(lines)} findings")
    return status or FOUND * bool(lines)


def where(trouble: KernelFault | Unsupported, script: str) -> str:
    """The program's own file and line: those of the kernel, or of the call that raised it."""
    file = Path(script).resolve()
    called = [at.lineno for at in extract_tb(trouble.__traceback__)
              if Path(at.filename).resolve() == file]  # fmt: skip
    line = trouble.line if trouble.line is not None else called[-1]
    return f"{short_path(str(file))}:{line}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
