"""What went wrong, for a reader: which worker, why, where in its program, and its last words."""

import json
import re
import signal
import sysconfig
import time
import traceback
from contextlib import suppress
from pathlib import Path
from traceback import FrameSummary

import psutil

from ..worker import Refused
from .processes import marked

OURS = Path(__file__).parents[2]
HARNESS = {str(Path(__file__).with_name(f"{name}.py")) for name in ("harness", "torchrun")}
LIBRARIES = "<frozen", sysconfig.get_path("stdlib")


class WorkersFailed(RuntimeError):
    """Some worker did not finish: which one, why, and the last lines it printed.

    results: {rank: result} of those that had finished.
    """

    def __init__(self, words, results=()):
        self.results = dict(results)
        if self.results:
            names = " and ".join(f"worker {rank}" for rank in self.results)
            words = f"{words}\nThe exception's .results has what {names} returned."
        super().__init__(words)


# -- On the worker's side.


def told(trouble):
    """An exception as the launcher wants it: {"words", "waiting": was it a call to the others?}"""
    if isinstance(trouble, Refused):
        return {"words": f"refused: {trouble}", "waiting": False}
    frames = traceback.extract_tb(trouble.__traceback__)
    if not isinstance(trouble, RuntimeError) or not meets(frames[-1]):
        return {"words": f"raised\n{shortened(trouble)}", "waiting": False}
    own = [frame for frame in frames if matters(frame.filename)]
    reason = re.sub(r"^\[.*?\] |\. This is .*", "", str(trouble), flags=re.DOTALL)  # gloo's
    at = place((own or frames)[-1])
    return {"words": f"lost the others at {at}: {reason}", "waiting": True}


def meets(frame):
    """Is this a call that waits for other workers?"""
    return "torch/distributed" in frame.filename or ".wait(" in (frame.line or "")


def shortened(trouble):
    """The traceback of an exception and its causes, without the frames of harness and libraries."""
    whole = link = traceback.TracebackException.from_exception(trouble)
    while link:
        frames = [frame for frame in link.stack if matters(frame.filename)]
        link.stack = traceback.StackSummary.from_list(frames)
        link = link.__cause__ or link.__context__
    return "".join(whole.format()).strip()


def matters(file):
    if file.startswith(str(OURS)):
        return file not in HARNESS
    installed = {"site-packages", "dist-packages"}.intersection(Path(file).parts)
    return not (installed or file.startswith(LIBRARIES))


# -- On the launcher's side.


def left(report, name):
    """{rank: bytes} of the files of one name that workers left, the earliest first."""
    found = [path for path in report.glob(f"{name}-*") if path.name[len(name) + 1 :].isdigit()]
    found.sort(key=lambda path: path.stat().st_mtime_ns)
    return {int(path.name.rpartition("-")[2]): path.read_bytes() for path in found}


def why(report, status, heard):
    """What went wrong first, in a sentence, and the last lines of the worker it happened to.

    status: torchrun's. heard: {rank: its last lines}.
    """
    noise = (report / "torchrun").read_text(errors="replace")
    rank, sentence = blamed(report, noise, status)
    if rank is None:
        return sentence or unreachable(noise) or early(noise)
    return "\n".join([f"worker {rank} {sentence}", *last_lines(heard.get(rank))])


def blamed(report, noise, status):
    """(rank, what it did), the cause before its consequences; the rank is None for torchrun."""
    if by := -status * (status < 0) or int(*re.findall(r"got signal: (\d+)", noise)[:1] or [0]):
        return None, f"torchrun was ended ({signal.Signals(by).name}), and its workers with it."
    codes, ended = died(noise)
    troubles = {rank: json.loads(words) for rank, words in left(report, "trouble").items()}
    for rank in sorted(set(codes) - ended):
        if codes[rank] < 0:
            return rank, killed(-codes[rank], left(report, "stack").get(rank, b"").decode())
    for rank in sorted(set(left(report, "pid")) - set(left(report, "result")) - ended):
        if rank not in troubles:
            return rank, f"ended without a word (exit status {codes.get(rank, 0)})."
    for rank in sorted(troubles, key=lambda rank: troubles[rank]["waiting"]):
        return rank, troubles[rank]["words"]
    return None, ""


def died(noise):
    """({rank: exit status, −n for signal n}, the ranks that torchrun ended), by its own account."""
    account = r"rank\s+: (\d+) \(local.*\s+exitcode\s+: (-?\d+) \(pid: (\d+)\)"
    found = [(int(rank), int(code), pid) for rank, code, pid in re.findall(account, noise)]
    sent = set(re.findall(r"Sending process (\d+) closing signal", noise))
    ended = {rank for rank, _, pid in found if pid in sent}
    return {rank: code for rank, code, _ in found}, ended


def killed(by, stack):
    name, frame = signal.Signals(by).name, innermost(stack)
    if name == "SIGKILL":
        return "was killed (SIGKILL): by somebody, or by the system because memory ran out."
    return f"was ended by {name}" + (f" at {place(frame)}." if frame else ".")


def last_lines(lines):
    return ["Its last lines:", *(f"  {line}" for line in lines)] if lines else []


def unreachable(noise):
    """A sentence for the usual troubles of a network, or ""."""
    if re.search(r"EADDRINUSE|[Aa]ddress already in use", noise):
        return "The port is in use on this host: choose another with --master-port."
    if re.search(r"getaddrinfo|not known|ETIMEDOUT|ECONNREFUSED|[Tt]imed out", noise):
        return nobody()
    return ""


def nobody():
    return (
        "Not every host has begun, or --master-addr and --master-port do not lead to the one of "
        "--node-rank=0."
    )


def early(noise):
    said = noise.split("\n") if noise.strip() else ["nothing"]
    return f"torchrun ended before its workers began: {[line for line in said if line][-1]}"


def hung(report, patience, heard):
    """Which worker hangs, and where: each is asked for its stack."""
    pids = set(map(int, left(report, "pid").values()))
    for process in marked(report):
        if process.pid in pids:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    longer = "Should they only need longer: raise `patience`."
    stacks = {rank: words.decode() for rank, words in sorted(left(report, "stack").items())}
    if not stacks:
        return f"No word for {patience:g} s, and no worker here has begun. {nobody()} {longer}"
    waiting = [rank for rank in stacks if waits(stacks[rank])]
    first = [rank for rank in stacks if rank not in waiting]
    named = " and ".join(f"worker {rank}" for rank in first)
    cause = f"{named} {'hang' if first[1:] else 'hangs'}" if first else "all wait for each other"
    where = [
        f"  worker {rank}{' (waiting for the others)' * (rank in waiting)}: "
        f"{place(innermost(stack)) if innermost(stack) else 'nobody knows where'}"
        for rank, stack in stacks.items()
    ]
    said = last_lines(heard.get(first[0])) if first else []
    return "\n".join([f"No word for {patience:g} s: {cause}.", *where, *said, longer])


def frames_of(stack):
    """The frames in faulthandler's words, which are ASCII; the innermost first."""
    stack = stack.encode().decode("unicode_escape", "replace")
    found = re.findall(r'File "(.*?)", line (\d+) in (.*)', stack)
    return [FrameSummary(file, int(line), name) for file, line, name in found]


def innermost(stack):
    """The frame where its program is, None where nobody knows."""
    frames = frames_of(stack)
    return next((frame for frame in frames if matters(frame.filename)), *frames[:1] or [None])


def waits(stack):
    """Is this a worker that another one keeps waiting? Torch waits in its backward pass, too."""
    homes = "torch/cuda", "torch/autograd"
    inner = frames_of(stack)[:1]
    return any(meets(at) or any(home in at.filename for home in homes) for at in inner)


def place(frame):
    return f"{frame.filename}, line {frame.lineno}, in {frame.name}"
