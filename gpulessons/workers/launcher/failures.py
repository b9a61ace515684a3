"""What went wrong, for a reader: which worker, why, and where in its program.

A worker that fails is told of by torchrun's own records: harness.run is under its @record. A worker
that hangs is asked for its stack, by a signal: faulthandler answers even where Python does not run.
"""

import os
import re
import signal
import sysconfig
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from traceback import FrameSummary
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed.elastic.multiprocessing.errors import ProcessFailure

OURS = str(Path(__file__).parents[2])
LIBRARIES = "<frozen", sysconfig.get_path("stdlib")
FAILED = "failed"  # the file with the cause


class WorkersFailed(RuntimeError):
    """Some worker did not finish: which one, why, and where."""


def lost(trouble: BaseException) -> bool:
    """Did a call to the other workers fail? Then one of them was the first to fail."""
    innermost = traceback.extract_tb(trouble.__traceback__)[-1]
    return isinstance(trouble, RuntimeError) and meets(innermost)


def meets(frame: FrameSummary) -> bool:
    """Is this a call that waits for other workers?"""
    return "torch/distributed" in frame.filename or ".wait(" in (frame.line or "")


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
    """Which worker hangs, and where: each that has not finished is asked for its stack."""
    silence, longer = f"No word for {timeout:g} s", "Should they only need longer: raise `timeout`."
    pids = left(report, "pid")
    if not pids:
        return (f"{silence}, and no worker here has begun: has every host, and does --master-addr "
                f"lead to the one of --node-rank=0? {longer}")  # fmt: skip
    for rank in pids.keys() - left(report, "result").keys():
        with suppress(ProcessLookupError):
            os.kill(int(pids[rank]), signal.SIGUSR1)
    time.sleep(0.5)
    stacks = {rank: stack for rank, stack in left(report, "stack").items() if frames_of(stack)}
    hanging = [f"worker {rank}" for rank, stack in stacks.items() if not waits(stack)]
    cause = f"{' and '.join(hanging)} {'hang' if hanging[1:] else 'hangs'}"
    where = [
        f"  worker {rank}{' (waiting for the others)' * waits(stack)}: {place(stack)}"
        for rank, stack in stacks.items()
    ]
    head = f"{silence}: {cause if hanging else 'all wait for each other'}."
    return "\n".join([head, *where, longer])


def frames_of(stack: bytes) -> list[FrameSummary]:
    """The frames of faulthandler's last stack, the innermost first."""
    last = stack.rpartition(b"most recent call first")[2].decode("unicode_escape", "replace")
    found = re.findall(r'File "(.*)", line (\d+) in (.*)', last)
    return [FrameSummary(file, int(line), name) for file, line, name in found]


def waits(stack: bytes) -> bool:
    """Is this a worker that another one keeps waiting? Torch waits in its backward pass too."""
    at = frames_of(stack)[0]
    return meets(at) or "torch/cuda" in at.filename or "torch/autograd" in at.filename


def place(stack: bytes) -> str:
    """Where in its program a worker was; in a library, if it was in none of its own code."""
    frames = frames_of(stack)
    at = next((frame for frame in frames if own(frame.filename)), frames[0])
    return f"{at.filename}, line {at.lineno}, in {at.name}: {at.line}"


def own(file: str) -> bool:
    installed = {"site-packages", "dist-packages"}.intersection(Path(file).parts)
    return file.startswith(OURS) or not (installed or file.startswith(LIBRARIES))
