"""compiled(): a PyTorch function as torch.compile leaves it, and what compiling it took.

The graph is captured and compiled anew each time, in a folder of its own: what an earlier run left
in a cache would make compiling look cheap. Which vectors this CPU has is found out before the clock
starts: the answer, for which a small program is compiled too, belongs to the machine.
"""

import math
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from unittest.mock import patch

# One thread that compiles; and headers as they are, since they would be prepared for one use.
PLAINLY = {"compile_threads": 1, "cpp_cache_precompile_headers": False}


@dataclass(frozen=True)
class Compiled:
    """What came of compiling a function."""

    call: Callable | None  # None where it could not be compiled
    seconds: float | None  # of the first call, in which it was compiled
    why: str  # it could not, in a sentence; "" where it could

    def paid_after(self, eager: float, compiled: float) -> int | None:
        """After how many calls compiling has paid, of so many seconds each; None if it never does,
        or was not done."""
        if self.seconds is None or compiled >= eager:
            return None
        return math.ceil(self.seconds / (eager - compiled))


def compiled(function: Callable, *inputs: Any, dynamic: bool = True) -> Compiled:
    """Compile a function of tensors by calling it once on these; other lengths need no second time,
    if dynamic.

    One graph, and one thread that compiles. Where a C++ compiler or anything else is missing, the
    result says so: nothing is raised.
    """
    if why := no_compiler():
        return Compiled(None, None, why)
    import torch
    from torch._inductor import config

    call = torch.compile(function, dynamic=dynamic, fullgraph=True)
    try:
        look_for_vectors()
        known = {name: value for name, value in PLAINLY.items() if hasattr(config, name)}
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=folder), config.patch(known),
        ):  # fmt: skip
            start = perf_counter()
            call(*inputs)
            return Compiled(call, perf_counter() - start, "")
    except Exception as error:  # of a compiler, of a missing header, of an unsupported Python …
        head = str(error).strip().partition("\n")[0]
        why = f"torch.compile gave up here ({type(error).__name__}: {head})"
        return Compiled(None, None, why)


def no_compiler() -> str:
    """ "" where a C++ compiler is found, else a sentence about what is missing."""
    wanted = os.environ.get("CXX")
    if any(map(shutil.which, [wanted] if wanted else ["g++", "clang++", "c++", "cl"])):
        return ""
    name = f"CXX={wanted}" if wanted else "g++ or clang++"
    return f"torch.compile writes C++ for a CPU, and no compiler was found here ({name})"


def look_for_vectors() -> None:
    """Let PyTorch find out, once in a process, which vector instructions it can compile for."""
    with suppress(ImportError):  # where another version keeps it, its time counts as compiling
        from torch._inductor.cpu_vec_isa import pick_vec_isa

        pick_vec_isa()
