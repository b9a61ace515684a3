"""torchrun, as PyTorch has it, but ending with whoever launched it, and handing on how it ended."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..worker import REPORT
from .failures import Ended, Failure
from .processes import PARENT, end_with_parent, tidy

if TYPE_CHECKING:
    from torch.distributed.elastic.multiprocessing.errors import ProcessFailure


def main() -> None:
    launcher, report = int(os.environ[PARENT]), Path(os.environ[REPORT])
    end_with_parent(clean=True)
    os.environ[PARENT] = str(os.getpid())  # what the workers must not outlive
    try:
        ended = run(sys.argv[1:])
        with suppress(OSError):  # where there is no room, the launcher sees for itself
            ended.write(report)
    finally:
        if os.getppid() != launcher:  # torchrun may be done before the thread that watches
            tidy(report)
    sys.exit(ended != Ended())


def run(words: list[str]) -> Ended:
    """Let torchrun do what its command line says."""
    from torch.distributed import run as torchrun
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    try:
        torchrun.run(torchrun.parse_args(words))
    except ChildFailedError as trouble:
        return Ended(failures=failures(trouble.failures))
    except SignalException as trouble:
        return Ended(signal=int(trouble.sigval))
    except Exception as trouble:
        reasons = [trouble, *([trouble.__cause__] if trouble.__cause__ else [])]
        return Ended(raised=" ".join(f"{type(each).__name__}: {each}" for each in reasons))
    return Ended()


def failures(found: Mapping[int, "ProcessFailure"]) -> tuple[Failure, ...]:
    """As torchrun found them: those that it ended itself, because of the others, come last."""
    told = []
    for rank, failure in found.items():
        # What failures.record() wrote; else a sentence of torch's, in which nothing is new.
        record: dict[str, Any] = failure.message if isinstance(failure.message, dict) else {}
        words, waiting = record.get("message", ""), record.get("waiting", False)
        told.append(Failure(rank, failure.exitcode, words, waiting, record.get("nanoseconds", 0)))
    return tuple(told)


if __name__ == "__main__":
    main()
