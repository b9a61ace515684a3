"""How fast this machine can go: memory by copy and triad, arithmetic by the library's product.

A ceiling is the best of several passes, because nothing but luck makes a pass faster than the
machine. Bytes are counted as STREAM counts them (McCalpin 1995): copy moves 2 words per element,
triad 3, and what a cache reads before it writes is not counted. `hardware.machine()` is what
calls this module, late: it is the one that needs NumPy and Numba.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np
from numba import njit

from gpulessons.budget import capped

SCALE = np.float32(3.0)


def host(array_bytes):
    """The ceilings of the CPU: name -> a function of the thread count, in bytes/s or FLOP/s.

    The caller limits BLAS to as many threads (`pools.threads`); copy and triad start their own.
    """
    arrays = _touched(3, array_bytes)
    return {
        "host float32": lambda threads: _product(np.float32),
        "host float64": lambda threads: _product(np.float64),
        "host copy": lambda threads: _streamed(np.copyto, arrays[:2], threads),
        "host triad": lambda threads: _streamed(_triad, arrays, threads),
    }


def gpu():
    """The ceilings of CUDA device 0, in bytes/s or FLOP/s; only copy where torch has no CUDA."""
    try:
        import torch
    except ImportError:
        return _numba_gpu()
    return _torch_gpu(torch) if torch.cuda.is_available() else _numba_gpu()


def _best(call, budget=0.06):
    """Seconds of the fastest pass: at least three, and more until `budget` seconds are spent."""
    call()
    passes, end = [], perf_counter() + capped(budget)
    while len(passes) < 3 or perf_counter() < end:
        start = perf_counter()
        call()
        passes.append(perf_counter() - start)
    return min(passes)


def _touched(number, nbytes):
    """Float32 arrays whose pages exist: a page never written is one shared page of zeros."""
    arrays = [np.empty(nbytes // 4, np.float32) for _ in range(number)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda array: array.fill(1.0), arrays))
    return arrays


def _streamed(stream, arrays, threads):
    """Bytes/s of stream(*arrays), a thread for each slice; it must release the GIL.

    Copy is memcpy, whose streaming stores spare the read before a write that a loop's stores cost.
    """
    edges = np.linspace(0, len(arrays[0]), threads + 1).astype(int)
    parts = [[array[start:stop] for array in arrays] for start, stop in pairwise(edges)]
    with ThreadPoolExecutor(threads) as pool:
        best = _best(lambda: list(pool.map(lambda part: stream(*part), parts)))
    return sum(array.nbytes for array in arrays) / best


@njit(nogil=True)
def _triad(out, a, b):
    for i in range(len(out)):
        out[i] = a[i] + SCALE * b[i]


def _product(dtype, n=1024):
    """FLOP/s of NumPy's n × n product, n doubled until one takes 10 ms: small ones underrate."""
    block = np.random.default_rng(0).standard_normal((n, n), dtype=dtype)
    while True:
        best = _best(partial(np.matmul, block, block, out=np.empty_like(block)))
        if best > 0.010 or n >= 8192:
            return 2 * n**3 / best
        n, block = 2 * n, np.tile(block, (2, 2))


def _torch_gpu(torch, device="cuda", n=8192, nbytes=2**29):
    """Ceilings by torch's own copy, fused multiply-add and products."""
    best = partial(_best_on_gpu, partial(torch.cuda.Event, enable_timing=True))
    nbytes = min(nbytes, torch.cuda.mem_get_info()[0] // 8)
    try:
        return {
            **_torch_memory(torch, device, nbytes // 4, best),
            **_torch_products(torch, device, n, best),
        }
    finally:
        torch.cuda.empty_cache()


def _torch_memory(torch, device, length, best):
    out, a, b = (torch.rand(length, device=device) for _ in range(3))
    return {
        "gpu copy": 2 * out.nbytes / best(lambda: out.copy_(a)),
        "gpu triad": 3 * out.nbytes / best(lambda: torch.add(a, b, alpha=3.0, out=out)),
    }


def _torch_products(torch, device, n, best):
    ceilings = {}
    for name, dtype, precision in _gpu_products(torch):
        x, y, out = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(3))
        with _float32_products(torch, precision):
            ceilings[name] = 2 * n**3 / best(partial(torch.matmul, x, y, out=out))
    return ceilings


def _gpu_products(torch):
    """Name, dtype and float32 precision of each product; TF32 came with compute capability 8."""
    yield "gpu float32", torch.float32, "highest"
    if torch.cuda.get_device_capability() >= (8, 0):
        yield "gpu tf32", torch.float32, "high"
    yield "gpu float16", torch.float16, "highest"


@contextmanager
def _float32_products(torch, precision):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _numba_gpu(nbytes=2**29):
    """The one ceiling that needs no library: the driver's own copy."""
    from numba import cuda

    nbytes = min(nbytes, cuda.current_context().get_memory_info()[0] // 8)
    out, a = (cuda.device_array(nbytes // 4, np.float32) for _ in range(2))
    best = _best_on_gpu(cuda.event, lambda: out.copy_to_device(a))
    return {"gpu copy": 2 * out.nbytes / best}


def _best_on_gpu(event, call, budget=0.2):
    """Seconds of the fastest pass between two events, torch's or Numba's."""
    call()
    passes, end = [], perf_counter() + capped(budget)
    while len(passes) < 3 or perf_counter() < end:
        start, stop = event(), event()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        passes.append(start.elapsed_time(stop) / 1e3)
    return min(passes)
