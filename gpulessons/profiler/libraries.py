"""library_calls(): what oneDNN and MKL say of themselves while a step runs on the CPU.

    from gpulessons import library_calls
    library_calls(lambda: network(x))

The profiler knows PyTorch's operators. Which code of which library they call, the libraries tell:
switched to verbose, each prints a line for every call on the process's standard output. Those lines
are caught and summed up; whatever else the step prints comes through afterwards. A name that comes
from here is no guess. What neither library computes (PyTorch's own loops) does not appear.
Sources: oneDNN's developer guide, "Verbose mode"; oneMKL's, "Using verbose mode".
"""

import ctypes
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, NamedTuple

from gpulessons import units

from .listing import Listing
from .owners import shortened

MKL_LINE = re.compile(r"MKL_VERBOSE (\w+)\(([^)]*)\) ([\d.]+)(ns|us|ms|s)\b")
SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
VERBOSE = ("onednn_verbose", "dnnl_verbose", "MKL_VERBOSE")


class LibraryCall(NamedTuple):
    """One routine of a library, called so often for one shape; seconds of all the calls."""

    library: str  # "oneDNN" or "MKL"
    routine: str  # "convolution forward_training", "SGEMM"
    code: str  # the implementation that oneDNN chose, such as "jit:avx512_core"; "" for MKL
    shape: str  # as the library writes it
    calls: int
    seconds: float


def library_calls(step: Callable[[], Any]) -> Listing:
    """Run `step()` twice and list the calls of oneDNN and MKL in the second run, longest first.

    OSError on Windows, where the lines cannot be caught. A library that is not there is silent.
    """
    if sys.platform == "win32":
        raise OSError(
            "What a library prints cannot be caught on Windows: run it on Linux or macOS."
        )
    from torch import backends

    step()
    with ExitStack() as verbose, caught() as lines:
        for library in (backends.mkldnn, backends.mkl):
            if library.is_available():
                verbose.enter_context(library.verbose(library.VERBOSE_ON))
        step()
        verbose.close()  # before the lines are read
    calls = summed(lines)
    rows = [
        (c.library, c.routine, c.code, shortened(c.shape), units.count(c.calls),
         units.seconds(c.seconds))
        for c in calls
    ]  # fmt: skip
    head = ("library", "routine", "its code", "shape", "calls", "time")
    return Listing("What the libraries say that they ran", head, rows, values=calls)


@contextmanager
def caught() -> Iterator[list[str]]:
    """Gives a list that holds, after the block, what was printed in it by libraries.

    The process's standard output goes into a file meanwhile; other lines are printed again.
    """
    lines: list[str] = []
    clib = ctypes.CDLL(None)
    sys.stdout.flush()
    clib.fflush(None)
    before = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            sys.stdout.flush()
            clib.fflush(None)
            os.dup2(before, 1)
            os.close(before)
            lines += read(file)


def read(file: IO[bytes]) -> Iterator[str]:
    """The libraries' lines; all others go where they were meant to go."""
    file.seek(0)
    for line in file:
        if line.decode(errors="replace").startswith(VERBOSE):
            yield line.decode(errors="replace").rstrip()
        else:
            os.write(1, line)


def summed(lines: list[str]) -> tuple[LibraryCall, ...]:
    """Calls of one routine for one shape together, the longest first."""
    found: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for line in lines:
        for *key, took in (*onednn(line), *mkl(line)):
            found[key[0], key[1], key[2], key[3]].append(took)
    calls = (LibraryCall(*key, len(took), sum(took)) for key, took in found.items())
    return tuple(sorted(calls, key=lambda call: -call.seconds))


def onednn(line: str) -> Iterator[tuple[str, str, str, str, float]]:
    """…,exec,cpu,convolution,jit:avx512_core,forward_training,…,mb64_ic3oc16…,8.68 (in ms)"""
    _, ran, rest = line.partition(",exec,")
    fields = rest.split(",")
    if not ran or len(fields) < 6:
        return
    _engine, routine, code, direction = fields[:4]
    words = routine if direction in ("undef", "") else f"{routine} {direction}"
    yield "oneDNN", words, code, fields[-2], 1e-3 * float(fields[-1])


def mkl(line: str) -> Iterator[tuple[str, str, str, str, float]]:
    """MKL_VERBOSE SGEMM(N,N,256,256,256,0x7ffd…,…) 4.15ms CNR:OFF …"""
    if match := MKL_LINE.match(line):
        routine, arguments, took, unit = match.groups()
        shape = ",".join(a for a in arguments.split(",") if not a.startswith("0x"))
        yield "MKL", routine, "", shape, float(took) * SCALES[unit]
