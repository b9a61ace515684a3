"""How many threads compute: the CPU's best is part of an honest comparison, and it may be one."""

import functools
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from typing import Any

from .system import cores

BRING_A_BLAS = {"numpy", "scipy.linalg", "torch", "faiss"}  # each loads one of its own
PAUSE = 5e-4  # seconds, to see whether anybody computes


def thread_choices() -> tuple[int, ...]:
    """The thread counts worth trying: one, and every core that this process may use."""
    return tuple(sorted({1, cores()}))


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Inside, BLAS, Numba and torch compute with n threads each; after, as before.

    Only libraries that are imported already are set: one imported inside keeps its own count.
    """
    if n < 1:
        raise ValueError(f"A computation needs at least 1 thread, not {n}.")
    with ExitStack() as restored:
        restored.enter_context(blas_threads(n))
        for name in ("numba", "torch"):
            library: Any = sys.modules.get(name)
            if hasattr(library, "set_num_threads"):  # and not half-imported or blocked
                restored.callback(library.set_num_threads, library.get_num_threads())
                launched = library.config.NUMBA_NUM_THREADS if name == "numba" else n
                library.set_num_threads(min(n, launched))  # Numba refuses more than it launched
        yield


def rest() -> None:
    """Return when the other threads of this process have stopped computing, or never seem to.

    After a call a pool's threads spin for a while, in case another comes, on cores that whoever is
    measured next needs: GNU's OpenMP, which Numba and PyTorch bring, was seen to do so for 3 ms,
    and OpenBLAS, where it was not told to sleep, for 100.
    """
    for _ in range(400):
        before = computed_by_others()
        time.sleep(PAUSE)
        if computed_by_others() - before < PAUSE / 10:
            break


def computed_by_others() -> float:
    """Seconds that the other threads of this process have computed, up to now.

    Linux adds a running thread to the process's own clock only now and then, at a tick or when it
    stops: too late for a sample of two milliseconds. Each thread's clock is never behind.
    """
    try:
        every = {int(name) for name in os.listdir("/proc/self/task")}
    except OSError:  # no Linux
        return time.process_time() - time.thread_time()
    seconds = 0.0
    for thread in every - {threading.get_native_id()}:
        with suppress(OSError):  # it has ended meanwhile
            seconds += time.clock_gettime(~thread << 3 | 6)  # the clock of that thread
    return seconds


def blas_threads(n: int) -> AbstractContextManager:
    try:
        users = frozenset(BRING_A_BLAS & set(sys.modules))
        return blas_controller(users).limit(limits=n, user_api="blas")
    except ImportError:  # threadpoolctl
        return nullcontext()


def blas_in_words() -> str:
    """Which BLAS NumPy multiplies with, for which CPU, and who chose that; "" if nobody can tell.

    A library that takes this CPU for an older one is half as fast, and every share of it doubles.
    """
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return ""
    import numpy  # noqa: F401 (brings its BLAS)

    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    if not found:
        return ""
    made_for = found[0].get("architecture")
    words = f"{found[0]['internal_api']} {found[0]['version']}"
    words += f", with kernels for {made_for}" if made_for else ""
    if asked := os.environ.get("OPENBLAS_CORETYPE"):
        words += f", as OPENBLAS_CORETYPE={asked} says: unset it, and OpenBLAS looks at the CPU"
    return words


@functools.cache
def blas_controller(users: frozenset[str]) -> Any:
    """Finding the loaded BLAS takes 5 ms, using what was found 0.06: look again only when another
    library that brings one was imported."""
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController()
    for library in controller.lib_controllers:
        let_sleep(library.dynlib)
    return controller


def let_sleep(blas: Any) -> None:
    """Let OpenBLAS's idle threads sleep after half a millisecond (2^20 cycles).

    By itself they spin for a tenth of a second, on a core that whoever is measured next needs: a
    loop of Numba's on two cores was seen at half its speed for ten calls. The pool is ended, as
    before a fork, and comes back with the next product.
    """
    if hasattr(blas, "openblas_read_env") and hasattr(blas, "blas_thread_shutdown_"):
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
        blas.openblas_read_env()
        blas.blas_thread_shutdown_()
