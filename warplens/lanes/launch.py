"""Running a grid: batches of blocks, their warps in turn, and the barriers at which they meet.

The order is fixed, so that a kernel with a race gives the same wrong answer every time. Blocks run
in batches of up to `BATCH` (one by one in a kernel that swaps values, since it may wait for another
block); in a batch the first warps of all blocks run together until they wait at a barrier or
return, then the second warps, and so on; then round again. Within a warp, each statement runs for
all active lanes before the next one, and of several lanes that write one cell the highest wins.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from ..faults import KernelFault, LaunchError, TooLarge, TooMuchShared, Unsupported, Untypable
from .barriers import Barrier, released
from .log import Log
from .masks import WARP
from .memory import Array
from .warps import Warps

Size = tuple[int, int, int]
BATCH = 1024  # blocks run together
MANY = 2**24  # blocks that are run if nobody asks for fewer: hours
THREAD_LIMIT = 1024  # threads of a block
SHARED_LIMIT = 48 * 1024  # bytes of shared memory a block gets on every GPU without asking for more
BLOCK_LIMIT = (1024, 1024, 64)  # NVIDIA, "CUDA C++ Programming Guide", compute capabilities
GRID_LIMIT = (2**31 - 1, 65535, 65535)


def extent(value: Any, what: str) -> Size:
    """A launch size as three numbers."""
    given = list(value) if isinstance(value, (tuple, list)) else [value]
    name = f"{what.split()[-1]}dim"  # as Numba calls it
    try:
        sizes = tuple(operator.index(v) for v in given)
    except TypeError:
        raise TypeError(f"{name} must be a sequence of integers, got {given}") from None
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"{name} must be a sequence of 1, 2 or 3 integers, got {given}")
    if min(sizes) < 1:
        raise LaunchError(f"{what} must be one to three numbers of at least 1, not {value!r}")
    x, y, z = sizes + (1,) * (3 - len(sizes))
    return x, y, z


class Launch:
    """One launch under the microscope: its sizes, its log, the arrays the kernel makes.

    `iterations`: of a long loop run so many at its beginning and the last one, and count the first
    for those left out; None runs them all. Then the grid's first and last block are run beside.
    """

    def __init__(
        self,
        function: FunctionType,
        grid: Any,
        block: Any,
        dynamic_shared: int = 0,
        blocks: Iterable[Any] | None = None,
        iterations: int | None = None,
    ) -> None:
        self.function, self.iterations = function, iterations
        self.arguments: tuple = ()  # as given, for whoever compiles the kernel for the same types
        self.grid, self.block = extent(grid, "the grid"), extent(block, "the block")
        self.threads = math.prod(self.block)
        self.dynamic_shared = int(dynamic_shared)
        self.blocks = self.block_numbers(blocks)
        self.first_block = int(self.blocks[0])
        self.log = Log()
        self.ends: list[int] = []  # slots of a sampled grid's first and last block, run beside
        self.arrays: dict[Any, Array] = {}  # those that the kernel makes, by place in the source
        self.locks = False  # may threads wait for each other, with atomics that swap values?
        self.dynamic = Array("dynamic shared memory", "shared", (self.dynamic_shared,), np.uint8)
        self.check_limits()

    def check_limits(self) -> None:
        if self.threads > THREAD_LIMIT:
            raise LaunchError(
                f"a block of {self.threads:,} threads: a GPU allows at most {THREAD_LIMIT:,}",
                threads=self.threads,
            )
        for what, sizes, limits in (
            ("block", self.block, BLOCK_LIMIT),
            ("grid", self.grid, GRID_LIMIT),
        ):
            if any(size > limit for size, limit in zip(sizes, limits, strict=True)):
                raise LaunchError(f"a {what} of {sizes}: a GPU allows at most {limits}")
        self.check_shared(None)

    @property
    def file(self) -> str:
        return self.function.__code__.co_filename

    @property
    def shared_bytes(self) -> int:
        """Of one block: the kernel's own arrays and those whose size the launch gave."""
        static = [a for a in self.arrays.values() if a.space == "shared" and a.origin is a]
        return self.dynamic_shared + sum(math.prod(a.shape) * a.dtype.itemsize for a in static)

    def check_shared(self, line: int | None) -> None:
        used = self.shared_bytes
        if used > SHARED_LIMIT:
            text = f"{used:,} bytes of shared memory in a block: a GPU gives {SHARED_LIMIT:,}"
            raise TooMuchShared(text, line, shared=used)

    def block_numbers(self, blocks: Iterable[Any] | None) -> np.ndarray:
        """The linear numbers of the blocks that are asked for, ascending."""
        total = math.prod(self.grid)
        if blocks is None:
            if total > MANY:
                text = (
                    f"a grid of {total:,} blocks at once: trace some, as in trace(…, blocks={{0}})"
                )
                raise TooLarge(text)
            return np.arange(total)
        x, y, _ = self.grid
        linear = {
            sum(operator.index(i) * s for i, s in zip(block, (1, x, x * y), strict=False))
            for block in (b if isinstance(b, tuple) else (b,) for b in blocks)
        }
        if not linear or min(linear) < 0 or max(linear) >= total:
            raise ValueError(
                f"blocks={blocks!r} are not all in a grid of {total} blocks (numbered from 0)"
            )
        return np.array(sorted(linear))

    def own_array(
        self,
        site: Any,
        name: str,
        space: str,
        shape: tuple,
        dtype: np.dtype,
        line: int | None = None,
    ) -> Array:
        """The array that the kernel makes at a place of its source."""
        if site not in self.arrays:
            self.arrays[site] = Array(name, space, shape, dtype)
            self.check_shared(line)
        return self.arrays[site]

    def dynamic_array(self, site: Any, name: str, dtype: np.dtype) -> Array:
        """The same for dynamic shared memory, which all such arrays share."""
        if site not in self.arrays:
            shape = (self.dynamic_shared // dtype.itemsize,)
            self.arrays[site] = Array(name, "shared", shape, dtype, origin=self.dynamic)
        return self.arrays[site]

    def run(self, program: Callable[..., Any], names: frozenset[str], arguments: list[Any]) -> None:
        """Run a compiled kernel whose code, and its device functions', speaks of these names."""
        self.locks = bool(names & {"cas", "exch"})
        size = 1 if self.locks else BATCH
        with np.errstate(all="ignore"):
            for start in range(0, len(self.blocks), size):
                self.run_batch(program, arguments, self.blocks[start : start + size])
            ends = {0, math.prod(self.grid) - 1} - set(self.blocks.tolist())
            self.ends = [self.run_beside(program, arguments, n) for n in ends if self.iterations]

    def run_beside(self, program: Callable[..., Any], arguments: list[Any], block: int) -> int:
        """Run one more block, which the log does not show, and say how much it does."""
        log, self.log = self.log, Log()
        self.run_batch(program, arguments, np.array([block]))
        log, self.log = self.log, log
        return log.slots

    def run_batch(
        self, program: Callable[..., Any], arguments: list[Any], blocks: np.ndarray
    ) -> None:
        shared: dict[Any, Any] = {}
        warps = [Warps(self, warp, blocks, shared) for warp in range(-(-self.threads // WARP))]
        runs = [program(w, *arguments) for w in warps]
        waiting: dict[int, Barrier] = {}
        going = list(range(len(runs)))
        while going:
            for warp in going:
                barrier = advance(runs[warp], warps[warp])
                if barrier is None:
                    warps[warp].alive = warps[warp].no_lanes
                else:
                    waiting[warp] = barrier
            going = released(warps, waiting)


def advance(run: Iterator[Barrier], w: Warps) -> Barrier | None:
    """Run warps up to their next barrier, or None at the end; give refusals their line."""
    try:
        return next(run, None)
    except (Unsupported, Untypable) as refusal:
        if refusal.line is None:
            kind = Unsupported if isinstance(refusal, Unsupported) else Untypable
            raise kind(refusal.what, w.line, w.function) from None
        raise
    except KernelFault:
        raise
    except Exception as error:
        text = f"this line ({type(error).__name__}: {error})"
        raise Unsupported(text, w.line, w.function) from error
