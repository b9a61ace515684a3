"""What went wrong, for a reader: which worker, why, and where in its program.

A worker that fails is told of by torchrun's own records: harness.run is under its @record. One that
hangs is asked for its stack, by a signal: faulthandler answers even where Python does not run.
"""

import os
import signal
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed.elastic.multiprocessing.errors import ProcessFailure

FAILED = "failed"  # the file with the cause
DEEPEST = 8  # lines of a stack


class WorkersFailed(RuntimeError):
    """Some worker did not finish: which one, why, and where."""


def lost(trouble: BaseException) -> bool:
    """Did a call to the other workers fail? Then one of them was the first to fail."""
    innermost = traceback.extract_tb(trouble.__traceback__)[-1]
    meets = "torch/distributed" in innermost.filename or ".wait(" in (innermost.line or "")
    return isinstance(trouble, RuntimeError) and meets


def left(report: Path, name: str) -> dict[int, bytes]:
    """{rank: bytes} of the files of one name that workers left, in order."""
    found = {path.name.removeprefix(f"{name}-"): path for path in report.glob(f"{name}-*")}
    ranks = sorted(int(rank) for rank in found if rank.isdigit())
    return {rank: found[str(rank)].read_bytes() for rank in ranks}


def cause(failures: "Mapping[int, ProcessFailure]") -> str:
    """Which worker failed first, and how, by torchrun's records of all that failed."""
    # Whoever was ended by SIGTERM was ended by torchrun, because of another.
    rank = min(failures, key=lambda rank: (failures[rank].exitcode == -signal.SIGTERM, rank))
    failure = failures[rank]
    recorded = failure.error_file_data["message"]
    if isinstance(recorded, dict):
        return f"worker {rank} raised\n{recorded['extraInfo']['py_callstack'].strip()}"
    if failure.exitcode > 0:
        return f"worker {rank} ended without a word (exit status {failure.exitcode})."
    killed = ": from outside, or by the system because memory ran out"
    return f"worker {rank}: {failure.message}{killed * (-failure.exitcode == signal.SIGKILL)}."


def why(report: Path, status: int) -> str:
    """Which worker failed first, and how. status: torchrun's."""
    if (report / FAILED).exists():
        return (report / FAILED).read_text()
    if status:
        *_, last = (report / "torchrun").read_text(errors="replace").strip().split("\n")
        return f"torchrun failed (exit status {status}), and its last word was: {last}"
    silent = min(left(report, "pid").keys() - left(report, "result").keys())
    return f"worker {silent} left as if all were well, and returned nothing."


# -- A worker that hangs.


def hung(report: Path, timeout: float) -> str:
    """Where each worker is that has not finished, by its stack, the innermost call first."""
    silence, longer = f"No word for {timeout:g} s", "Should they only need longer: raise `timeout`."
    pids = left(report, "pid")
    if not pids:
        return (f"{silence}, and no worker here has begun: has every host, and does --master-addr "
                f"lead to the one of --node-rank=0? {longer}")  # fmt: skip
    for rank in pids.keys() - left(report, "result").keys():
        with suppress(ProcessLookupError):
            os.kill(int(pids[rank]), signal.SIGUSR1)
    time.sleep(0.5)
    told = [f"{silence}. Whoever waits in torch/distributed waits for the others."]
    for rank, stack in left(report, "stack").items():
        if lines := stack.decode(errors="replace").splitlines()[1 : 1 + DEEPEST]:
            told += [f"worker {rank} is in", *lines]
    return "\n".join([*told, longer])
