"""torchrun, as PyTorch has it, but ending with its launcher, and handing on how workers ended."""

import json
import os
import sys
from pathlib import Path

from ..worker import REPORT
from .processes import end_all, end_with_parent


def main() -> None:
    launcher = end_with_parent(launch=True)
    report = Path(os.environ[REPORT])
    try:
        ended = run(sys.argv[1:])
        (report / "ended").write_text(json.dumps(ended))
    finally:
        if os.getppid() != launcher:  # torchrun may be done before the thread that watches
            end_all(report, remove=True)
    sys.exit(bool(ended))


def run(words: list[str]) -> dict[str, object]:
    """Let torchrun do what its command line says; {} where all went well."""
    from torch.distributed import run as torchrun
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    try:
        torchrun.run(torchrun.parse_args(words))
    except ChildFailedError as trouble:
        return {"statuses": {rank: one.exitcode for rank, one in trouble.failures.items()}}
    except SignalException as trouble:
        return {"signal": int(trouble.sigval)}
    except Exception as trouble:
        return {"raised": f"{type(trouble).__name__}: {trouble.__cause__ or trouble}"}
    return {}


if __name__ == "__main__":
    main()
