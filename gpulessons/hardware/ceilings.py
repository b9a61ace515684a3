"""How fast this machine can go: memory by reads, copy and triad, arithmetic by a library's product.

A ceiling is the best of several passes, because nothing but luck makes a pass faster than the
machine. Bytes are counted as STREAM counts them (McCalpin 1995): copy moves 2 words per element,
triad 3, and what a cache reads before it writes is not counted; a sum only reads. `machine()` is
what calls this module, late: it is the one that needs NumPy and Numba.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .compiled import left_as_it_is
from .system import cores
from .timer import passes

SCALE = np.float32(3.0)
Rates = dict[str, float]
Clock = Callable[[Callable[[], Any]], float]  # seconds of the fastest pass of a call


class Rate(NamedTuple):
    """How fast the fastest pass was, and how many cores the passes had, from first to last."""

    each_second: float  # bytes or FLOPs
    cores: float  # seconds of processors for each second of the clock


def host(nbytes: int) -> dict[str, Callable[[int], Rate]]:
    """The ceilings of the CPU: name -> a function of the thread count, in bytes/s or FLOP/s.

    nbytes: of the two arrays that are copied, together; triad's three and the one that is read take
    the same memory. The caller limits BLAS to as many threads (`pools.threads`); the rest start
    their own.
    """
    memory = touched(nbytes)
    ceilings: dict[str, Callable[[int], Rate]] = {
        "host float32": lambda threads: product(np.float32),
        "host float64": lambda threads: product(np.float64),
        "host read": lambda threads: streamed(read, parts(memory, 1), threads),
        "host copy": lambda threads: streamed(np.copyto, parts(memory, 2), threads),
        "host triad": lambda threads: streamed(triad, parts(memory, 3), threads),
    }
    if left_as_it_is(triad):  # no Numba: its loops would say how fast Python is
        del ceilings["host read"], ceilings["host triad"]
    return ceilings


def gpu() -> Rates:
    """The ceilings of CUDA device 0, in bytes/s or FLOP/s; none where torch has no CUDA."""
    import torch

    return torch_gpu(torch) if torch.cuda.is_available() else {}


def best(call: Callable[[], Any], budget: float = 0.15) -> tuple[float, float]:
    """(Seconds of the fastest pass, cores that worked on average while they ran): at least three
    passes, and more until `budget` seconds are spent.
    """

    def one_pass() -> float:
        start = perf_counter()
        call()
        return perf_counter() - start

    call()
    began, worked = perf_counter(), process_time()
    fastest = min(passes(one_pass, budget))
    return fastest, (process_time() - worked) / (perf_counter() - began)


def touched(nbytes: int) -> np.ndarray:
    """Float32 numbers whose pages exist: a page never written is one shared page of zeros."""
    memory = np.empty(nbytes // 4, np.float32)
    with side_by_side(cores()) as each:
        list(each(lambda part: part.fill(1.0), parts(memory, 4)))
    return memory


@contextmanager
def side_by_side(threads: int) -> Iterator[Callable[..., Any]]:
    """A `map` of so many threads; one of them starts none, since a browser has no second."""
    if threads == 1:
        yield map
        return
    with ThreadPoolExecutor(threads) as pool:
        yield pool.map


def parts(array: np.ndarray, number: int) -> list[np.ndarray]:
    """Equal parts of an array, each beginning on a line of 64 bytes if the array does."""
    length = len(array) // number // 16 * 16
    return [array[n * length : (n + 1) * length] for n in range(number)]


def streamed(stream: Callable[..., Any], arrays: list[np.ndarray], threads: int) -> Rate:
    """Bytes/s of stream(*arrays), a thread for each slice; it must release the GIL.

    Copy is memcpy, whose streaming stores spare the read before a write that a loop's stores cost.
    """
    edges = np.linspace(0, len(arrays[0]), threads + 1).astype(int)
    slices = [[array[start:stop] for array in arrays] for start, stop in pairwise(edges)]
    with side_by_side(threads) as each:
        seconds, busy = best(lambda: list(each(lambda part: stream(*part), slices)))
    return Rate(sum(array.nbytes for array in arrays) / seconds, busy)


@njit(nogil=True, fastmath=True)
def read(a: np.ndarray) -> np.float32:
    """The sum, in any order: many running totals, so that memory is what it waits for."""
    total = np.float32(0)
    for i in range(len(a)):
        total += a[i]
    return total


@njit(nogil=True)
def triad(out: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(out)):
        out[i] = a[i] + SCALE * b[i]


def product(dtype: Any, n: int = 1024) -> Rate:
    """FLOP/s of NumPy's n × n product, n doubled until one takes 10 ms: small ones underrate."""
    block = np.random.default_rng(0).standard_normal((n, n), dtype=dtype)
    while True:
        seconds, busy = best(partial(np.matmul, block, block, out=np.empty_like(block)))
        if seconds > 0.010 or n >= 8192:
            return Rate(2 * n**3 / seconds, busy)
        n, block = 2 * n, np.tile(block, (2, 2))


def torch_gpu(torch: Any, device: str = "cuda", n: int = 8192, nbytes: int = 2**29) -> Rates:
    """Ceilings by torch's own copy, fused multiply-add and products."""
    clock = partial(best_on_gpu, partial(torch.cuda.Event, enable_timing=True))
    nbytes = min(nbytes, torch.cuda.mem_get_info()[0] // 8)
    try:
        return {
            **torch_memory(torch, device, nbytes // 4, clock),
            **torch_products(torch, device, n, clock),
        }
    finally:
        torch.cuda.empty_cache()


def torch_memory(torch: Any, device: str, length: int, clock: Clock) -> Rates:
    out, a, b = (torch.rand(length, device=device) for _ in range(3))
    return {
        "gpu copy": 2 * out.nbytes / clock(lambda: out.copy_(a)),
        "gpu triad": 3 * out.nbytes / clock(lambda: torch.add(a, b, alpha=3.0, out=out)),
    }


def torch_products(torch: Any, device: str, n: int, clock: Clock) -> Rates:
    ceilings: Rates = {}
    before = torch.get_float32_matmul_precision()
    try:
        for name, dtype, precision in gpu_products(torch):
            torch.set_float32_matmul_precision(precision)
            x, y, out = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(3))
            ceilings[name] = 2 * n**3 / clock(partial(torch.matmul, x, y, out=out))
    finally:
        torch.set_float32_matmul_precision(before)
    return ceilings


def gpu_products(torch: Any) -> Iterator[tuple[str, Any, str]]:
    """Name, dtype and float32 precision of each product; TF32 came with compute capability 8."""
    yield "gpu float32", torch.float32, "highest"
    if torch.cuda.get_device_capability() >= (8, 0):
        yield "gpu tf32", torch.float32, "high"
    yield "gpu float16", torch.float16, "highest"


def best_on_gpu(event: Callable[[], Any], call: Callable[[], Any], budget: float = 0.2) -> float:
    """Seconds of the fastest pass between two of torch's events."""

    def one_pass() -> float:
        start, stop = event(), event()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3

    call()
    return min(passes(one_pass, budget))
