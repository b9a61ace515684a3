"""What went wrong, for a reader: which worker, why, where in its program, and its last words.

A worker records its exception in the error file that torchrun keeps for it, as torch's @record
would, but in these words; torchrun's results hand them on, with the exit status of all that failed.
"""

import json
import os
import re
import signal
import sysconfig
import tempfile
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

from ..worker import Refused
from .processes import left, living

OURS = Path(__file__).parents[2]
HARNESS = {str(Path(__file__).with_name(f"{name}.py")) for name in ("harness", "torchrun")}
LIBRARIES = "<frozen", sysconfig.get_path("stdlib")


class WorkersFailed(RuntimeError):
    """Some worker did not finish: which one, why, and the last lines it printed.

    results: {rank: result} of those that had finished.
    """

    def __init__(self, words: str, results: Mapping[int, Any] | None = None) -> None:
        self.results = dict(results or {})
        if self.results:
            names = " and ".join(f"worker {rank}" for rank in self.results)
            words = f"{words}\nThe exception's .results has what {names} returned."
        super().__init__(words)


@dataclass(frozen=True)
class Failure:
    """A worker that torchrun found failed."""

    rank: int
    exitcode: int  # -n for signal n
    words: str = ""  # what it recorded; nothing where it ended at once
    waiting: bool = False  # was it in a call to the others?
    nanoseconds: int = 0  # when it recorded that


@dataclass(frozen=True)
class Ended:
    """How torchrun ended: these fields say nothing where all went well, or where it was killed."""

    failures: tuple[Failure, ...] = ()
    signal: int = 0  # by which it was ended
    raised: str = ""  # what kept it from having workers

    def write(self, report: Path) -> None:
        (report / "ended").write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, report: Path) -> "Ended":
        """What torchrun has left; nothing where it could not."""
        with suppress(OSError, ValueError):
            found = json.loads((report / "ended").read_text())
            failures = tuple(Failure(**failure) for failure in found.pop("failures"))
            return cls(failures, **found)
        return cls()


# -- On the worker's side.


def record(trouble: BaseException, file: str) -> None:
    """Leave an exception for torchrun, in the form of torch's own ErrorHandler; whole or not."""
    if file == os.devnull:  # a torchrun without a folder for logs; nothing may take that name
        return
    words, waiting = told(trouble)
    moment = time.time_ns()
    more = {"py_callstack": words, "timestamp": str(moment // 10**9)}
    message = {"message": words, "extraInfo": more, "waiting": waiting, "nanoseconds": moment}
    partial = Path(f"{file}.partial")  # torchrun trips over half a file
    with suppress(OSError):
        partial.write_text(json.dumps({"message": message}))
        partial.rename(file)


def told(trouble: BaseException) -> tuple[str, bool]:
    """(an exception in words, was it in a call to the others?)"""
    if isinstance(trouble, Refused):
        return f"refused: {trouble}", False
    frames = traceback.extract_tb(trouble.__traceback__)
    if not isinstance(trouble, RuntimeError) or not meets(frames[-1]):
        return f"raised\n{shortened(trouble)}", False
    own = [frame for frame in frames if matters(frame.filename)]
    reason = re.sub(r"^\[.*?\] |\. This is .*", "", str(trouble), flags=re.DOTALL)  # gloo's
    at = place((own or frames)[-1])
    return f"lost the others at {at}: {reason}", True


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
        return file not in HARNESS
    installed = {"site-packages", "dist-packages"}.intersection(Path(file).parts)
    return not (installed or file.startswith(LIBRARIES))


# -- On the launcher's side.


def why(
    report: Path, ended: Ended, status: int, heard: Mapping[int, Sequence[str]], elsewhere: bool
) -> str:
    """What went wrong first, in a sentence, and the last lines of the worker it happened to.

    status: torchrun's. heard: {rank: its last lines}. elsewhere: are there workers on other hosts?
    """
    if by := ended.signal or -min(status, 0):
        return f"torchrun was ended ({signal.Signals(by).name}), and its workers with it."
    failures = () if ended.raised else (*ended.failures, *silent(report, ended))
    if not any(failure.exitcode < 0 or failure.words for failure in failures) and full(report):
        return f"{report.parent} is full: make room there, or set TMPDIR to another folder."
    if not failures:
        return torchruns(report, ended.raised)
    first = min(failures, key=lambda failure: order(failure, failures, elsewhere))
    stack = left(report, "stack").get(first.rank, b"").decode()
    sentence = f"worker {first.rank} {said(first, stack)}"
    return "\n".join([sentence, *last_lines(heard.get(first.rank))])


def silent(report: Path, ended: Ended) -> list[Failure]:
    """Who began, returned nothing, and left as if all were well."""
    begun, done = (set(left(report, name)) for name in ("pid", "result"))
    known = {failure.rank for failure in ended.failures}
    return [Failure(rank, 0) for rank in sorted(begun - done - known)]


def order(failure: Failure, failures: Sequence[Failure], elsewhere: bool) -> tuple[int, int]:
    """What sorts a cause before its consequences.

    Whoever lost the others did so because one of them failed, here or elsewhere. torchrun ends by
    SIGTERM who still runs then, and lists them last; before these is whom somebody else ended so.
    """
    if failure.exitcode < 0 and failure.exitcode != -signal.SIGTERM:
        return 0, 0
    if failure.words:
        return (4 if failure.waiting else 2), failure.nanoseconds
    if failure.exitcode != -signal.SIGTERM:
        return 1, failure.rank
    ours = failure == failures[0] or not elsewhere
    return (3 if ours else 5), failures.index(failure)


def said(failure: Failure, stack: str) -> str:
    """What a worker did, by its own account or by its exit status."""
    if failure.exitcode < 0:
        return killed(-failure.exitcode, stack)
    return failure.words or f"ended without a word (exit status {failure.exitcode})."


def full(report: Path) -> bool:
    """Is there no room for a few bytes more?"""
    try:
        with tempfile.TemporaryFile(dir=report) as probe:
            probe.write(bytes(1 << 12))
    except OSError:
        return True
    return False


def killed(by: int, stack: str) -> str:
    name, frame = signal.Signals(by).name, innermost(stack)
    if name == "SIGKILL":
        return "was killed (SIGKILL): by somebody, or by the system because memory ran out."
    return f"was ended by {name}" + (f" at {place(frame)}." if frame else ".")


def last_lines(lines: Sequence[str] | None) -> list[str]:
    return ["Its last lines:", *(f"  {line}" for line in lines)] if lines else []


def torchruns(report: Path, raised: str) -> str:
    """Why torchrun itself failed; the usual troubles of a network have a sentence of their own."""
    if left(report, "pid"):
        return f"torchrun failed: {raised}"
    if re.search(r"EADDRINUSE|[Aa]ddress already in use", raised):
        return "The port is in use on this host: choose another with --master-port."
    if re.search(r"getaddrinfo|not known|ETIMEDOUT|ECONNREFUSED|[Tt]imed out", raised):
        return nobody()
    said = raised or (report / "torchrun").read_text(errors="replace")  # argparse, or Python itself
    lines = said.strip().splitlines() or ["nothing"]
    return f"torchrun ended before its workers began: {lines[-1]}"


def nobody() -> str:
    return (
        "Not every host has begun, or --master-addr and --master-port do not lead to the one of "
        "--node-rank=0."
    )


def hung(report: Path, timeout: float, heard: Mapping[int, Sequence[str]]) -> str:
    """Which worker hangs, and where: each is asked for its stack."""
    longer = "Should they only need longer: raise `timeout`."
    silence = f"No word for {timeout:g} s"
    if not left(report, "pid"):
        return f"{silence}, and no worker here has begun. {nobody()} {longer}"
    here = living(report)
    if not here:
        return f"{silence}: torchrun does not tell how its workers ended. Was it stopped?"
    for process in here.values():
        with suppress(psutil.Error):
            process.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    stacks = {rank: words.decode() for rank, words in left(report, "stack").items() if rank in here}
    waiting = [rank for rank in stacks if waits(stacks[rank])]
    first = [rank for rank in sorted(stacks) if rank not in waiting]
    named = " and ".join(f"worker {rank}" for rank in first)
    cause = f"{named} {'hang' if first[1:] else 'hangs'}" if first else "all wait for each other"
    where = [
        f"  worker {rank}{' (waiting for the others)' * (rank in waiting)}: "
        f"{place(at) if (at := innermost(stacks[rank])) else 'nobody knows where'}"
        for rank in sorted(stacks)
    ]
    said = last_lines(heard.get(first[0])) if first else []
    return "\n".join([f"{silence}: {cause}.", *where, *said, longer])


def frames_of(stack: str) -> list[FrameSummary]:
    """The frames in faulthandler's words, which are ASCII; the innermost first."""
    stack = stack.encode().decode("unicode_escape", "replace")
    found = re.findall(r'File "(.*?)", line (\d+) in (.*)', stack)
    return [FrameSummary(file, int(line), name) for file, line, name in found]


def innermost(stack: str) -> FrameSummary | None:
    """The frame where its program is, None where nobody knows."""
    frames = frames_of(stack)
    own = [frame for frame in frames if matters(frame.filename)]
    return next(iter(own or frames), None)


def waits(stack: str) -> bool:
    """Is this a worker that another one keeps waiting? Torch waits in its backward pass, too."""
    homes = "torch/cuda", "torch/autograd"
    inner = frames_of(stack)[:1]
    return any(meets(at) or any(home in at.filename for home in homes) for at in inner)


def place(frame: FrameSummary) -> str:
    return f"{frame.filename}, line {frame.lineno}, in {frame.name}"
