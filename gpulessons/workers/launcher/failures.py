"""What went wrong, for a reader: which worker, why, where in its program, and its last words.

A worker leaves its exception in the folder of the launch, torchrun the exit status of all that
failed. A worker that hangs is asked for its stack: faulthandler answers for a deaf one, too.
"""

import json
import re
import signal
import sysconfig
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from traceback import FrameSummary
from typing import Any

with suppress(ImportError):  # a browser has none, and starts no process
    import psutil

from .processes import left, marked

OURS = Path(__file__).parents[2]
HARNESS = str(Path(__file__).with_name("harness.py"))
LIBRARIES = "<frozen", sysconfig.get_path("stdlib")
SILENT = 0  # the exit status of a worker that left as if all were well, and returned nothing
NOT_BEGUN = ("Not every host has begun, or --master-addr and --master-port do not lead to the one "
             "of --node-rank=0.")  # fmt: skip


class WorkersFailed(RuntimeError):
    """Some worker did not finish: which one, why, and the last lines it printed.

    results: {rank: result} of those that had finished.
    """

    def __init__(self, reason: str, results: Mapping[int, Any] | None = None) -> None:
        self.results = dict(results or {})
        if self.results:
            names = " and ".join(f"worker {rank}" for rank in self.results)
            reason = f"{reason}\nThe exception's .results has what {names} returned."
        super().__init__(reason)


# -- On the worker's side.


@dataclass(frozen=True)
class Error:
    """An exception that ended a worker."""

    text: str
    waiting: bool  # was it in a call to the others?
    moment: float  # when, in nanoseconds

    @classmethod
    def of(cls, trouble: BaseException) -> "Error":
        return cls(*describe(trouble), time.time_ns())

    @property
    def packed(self) -> bytes:
        return json.dumps(asdict(self)).encode()


def describe(trouble: BaseException) -> tuple[str, bool]:
    """(an exception as text, was it in a call to the others?)"""
    frames = traceback.extract_tb(trouble.__traceback__)
    if not isinstance(trouble, RuntimeError) or not meets(frames[-1]):
        return f"raised\n{shortened(trouble)}", False
    own = [frame for frame in frames if matters(frame.filename)]
    return f"lost the others at {place((own or frames)[-1])}: {trouble}", True


def meets(frame: FrameSummary) -> bool:
    """Is this a call that waits for other workers?"""
    return "torch/distributed" in frame.filename or ".wait(" in (frame.line or "")


def shortened(trouble: BaseException) -> str:
    """The traceback of an exception and its causes, without the frames of harness and libraries."""
    link: traceback.TracebackException | None
    whole = link = traceback.TracebackException.from_exception(trouble)
    while link:
        frames = [frame for frame in link.stack if matters(frame.filename)]
        link.stack = traceback.StackSummary.from_list(frames)
        link = link.__cause__ or link.__context__
    return "".join(whole.format()).strip()


def matters(file: str) -> bool:
    if file.startswith(str(OURS)):
        return file != HARNESS
    installed = {"site-packages", "dist-packages"}.intersection(Path(file).parts)
    return not (installed or file.startswith(LIBRARIES))


# -- On the launcher's side.


def why(report: Path, status: int, heard: Mapping[int, Sequence[str]]) -> str:
    """What went wrong first, in a sentence, and the last lines of the worker it happened to.

    status: torchrun's. heard: {rank: its last lines}.
    """
    ended = how_torchrun_ended(report)
    if by := ended.get("signal") or -min(status, 0):
        return f"torchrun was ended ({signal.Signals(by).name}), and its workers with it."
    if "raised" in ended:
        return f"torchrun failed: {ended['raised']}"
    errors = errors_of(report)
    statuses = {int(rank): exit for rank, exit in ended.get("statuses", {}).items()}
    unheard = left(report, "pid").keys() - left(report, "result").keys()
    statuses |= dict.fromkeys(unheard - statuses.keys(), SILENT)
    if not statuses:
        lines = (report / "torchrun").read_text(errors="replace").strip().splitlines()
        return f"torchrun ended before its workers began: {(lines or ['nothing'])[-1]}"
    rank = min(statuses, key=lambda rank: order(rank, statuses[rank], errors.get(rank)))
    stack = left(report, "stack").get(rank, b"").decode()
    text = errors[rank].text if rank in errors else without_a_word(statuses[rank], stack)
    return "\n".join([f"worker {rank} {text}", *last_lines(heard.get(rank))])


def errors_of(report: Path) -> dict[int, Error]:
    return {rank: Error(**json.loads(each)) for rank, each in left(report, "error").items()}


def how_torchrun_ended(report: Path) -> dict[str, Any]:
    """What torchrun has left; nothing where it could not."""
    with suppress(OSError, ValueError):
        return json.loads((report / "ended").read_text())
    return {}


def order(rank: int, status: int, error: Error | None) -> tuple[int, float]:
    """What sorts a cause before its consequences.

    Whoever lost the others did so because one of them failed, here or on another host; torchrun
    ends by SIGTERM those that still run then.
    """
    if error:
        return (3 if error.waiting else 1), error.moment
    if status == -signal.SIGTERM:
        return 4, rank
    return (0 if status < 0 else 2), rank


def without_a_word(status: int, stack: str) -> str:
    """What a worker did that left no exception, by its exit status."""
    if status >= 0:
        return f"ended without a word (exit status {status})."
    name, frame = signal.Signals(-status).name, innermost(stack)
    if name == "SIGKILL":
        return "was killed (SIGKILL): from outside, or by the system because memory ran out."
    return f"was ended by {name}" + (f" at {place(frame)}." if frame else ".")


def last_lines(lines: Sequence[str] | None) -> list[str]:
    return ["Its last lines:", *(f"  {line}" for line in lines)] if lines else []


# -- A worker that hangs.


def hung(report: Path, timeout: float, heard: Mapping[int, Sequence[str]]) -> str:
    """Which worker hangs, and where: each is asked for its stack."""
    longer = "Should they only need longer: raise `timeout`."
    silence = f"No word for {timeout:g} s"
    pids = {int(pid): rank for rank, pid in left(report, "pid").items()}
    if not pids:
        return f"{silence}, and no worker here has begun. {NOT_BEGUN} {longer}"
    for process in marked(report):
        with suppress(psutil.Error):
            if process.pid in pids:
                process.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    stacks = {rank: stack.decode() for rank, stack in left(report, "stack").items() if stack}
    waiting = [rank for rank in stacks if waits(stacks[rank])]
    first = [rank for rank in sorted(stacks) if rank not in waiting]
    named = " and ".join(f"worker {rank}" for rank in first)
    cause = f"{named} {'hang' if first[1:] else 'hangs'}" if first else "all wait for each other"
    where = [
        f"  worker {rank}{' (waiting for the others)' * (rank in waiting)}: {place(frame)}"
        for rank in sorted(stacks) if (frame := innermost(stacks[rank]))
    ]  # fmt: skip
    last = last_lines(heard.get(first[0])) if first else []
    return "\n".join([f"{silence}: {cause}.", *where, *last, longer])


def frames_of(stack: str) -> list[FrameSummary]:
    """The frames of faulthandler's last stack, the innermost first."""
    last = stack.rpartition("most recent call first")[2]
    last = last.encode().decode("unicode_escape", "replace")  # it writes ASCII
    found = re.findall(r'File "(.*)", line (\d+) in (.*)', last)
    return [FrameSummary(file, int(line), name) for file, line, name in found]


def innermost(stack: str) -> FrameSummary | None:
    """Where in its program a worker was; in a library, if it was in none of its own code."""
    frames = frames_of(stack)
    return next(iter([frame for frame in frames if matters(frame.filename)] or frames), None)


def waits(stack: str) -> bool:
    """Is this a worker that another one keeps waiting? Torch waits in its backward pass, too."""
    homes = "torch/cuda", "torch/autograd"
    inner = frames_of(stack)[:1]
    return any(meets(at) or any(home in at.filename for home in homes) for at in inner)


def place(frame: FrameSummary) -> str:
    return f"{frame.filename}, line {frame.lineno}, in {frame.name}"
