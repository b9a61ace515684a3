"""The state of a front of warps: the n-th warp of many blocks, as vectors of lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .log import TENSOR_CORES, Log, Moment
from .masks import WARP, Mask
from .memory import Array, View, fresh_copies, short

if TYPE_CHECKING:
    from .launch import Launch, Size


def spread(linear: np.ndarray, extent: Size) -> tuple[Any, ...]:
    """Linear numbers → (x, y, z) in a grid or block, as int32; along a flat axis, one 0 for all."""
    x, y, _ = extent
    parts = linear % x, linear // x % y, linear // (x * y)
    pairs = zip(extent, parts, strict=True)
    return tuple(np.int32(0) if n == 1 else part.astype(np.int32) for n, part in pairs)


class Warps:
    """Warp number `warp` of every block in `blocks`: 32 lanes a block, side by side.

    `mask` holds the active lanes, `alive` those that have not returned; compiled kernels call
    functions `f(w, …)`.
    """

    def __init__(
        self, launch: Launch, warp: int, blocks: np.ndarray, shared: dict[Any, View]
    ) -> None:
        self.launch, self.warp, self.blocks, self.shared = launch, warp, blocks, shared
        self.local: dict[Any, View] = {}  # arrays of threads, by place in the source
        self.log: Log = launch.log
        self.line, self.function = 0, ""  # where the warps are in the source
        self.kernel_line: int | None = None  # in a device function: where the kernel called
        self.weight = 1  # the iterations of sampled loops that this one stands for
        self.stack: list[tuple] = []  # conditions under way
        rows = len(blocks)
        self.lane = np.tile(np.arange(WARP, dtype=np.int32), rows)
        self.row = np.repeat(np.arange(rows), WARP)
        self.thread = warp * WARP + self.lane.astype(np.int64)  # in the block
        self.mask = self.alive = Mask(self.thread < launch.threads)
        self.no_lanes = Mask(np.zeros(rows * WARP, bool))
        self.block_of_lane = blocks[self.row]
        self.thread_idx = spread(self.thread, launch.block)
        self.block_idx = spread(self.block_of_lane, launch.grid)
        self.holds_first_block = blocks[0] == launch.first_block
        self.moment = Moment(warp, blocks, np.zeros(rows, np.int32), np.zeros(rows, np.int32))

    def coordinates(self, lane: int) -> tuple[Any, ...]:
        """(block, thread) of a lane, three numbers each."""
        pairs = (self.block_idx, self.thread_idx)
        return tuple(tuple(int(c if np.ndim(c) == 0 else c[lane]) for c in pair) for pair in pairs)

    def any_lane(self, bits: Any) -> bool:
        """Does this hold for any active lane?"""
        return bool(np.any(np.logical_and(bits, self.mask.bits)))

    def enter(self, line: int) -> None:
        """A straight run of code begins at this line."""
        self.line = line
        self.log.enter(self)

    def count_flops(self, dtype: np.dtype, times: int) -> None:
        self.count_as(dtype.name, times)

    def count_tensor_core_flops(self, times: int) -> None:
        self.count_as(TENSOR_CORES, times)

    def count_as(self, kind: str, times: int) -> None:
        self.log.flops[self.function, self.line, kind] += self.weight * times * self.mask.count
        self.by_kernel_line("flops", times)

    def by_kernel_line(self, kind: str, times: int = 1) -> None:
        """What a warp does once, however many of its lanes are active."""
        where = self.kernel_line or self.line, kind
        self.log.by_kernel_line[where] += self.weight * times * self.mask.warps

    def caution(
        self, kind: str, text: str, times: int = 1, lanes: np.ndarray | None = None
    ) -> None:
        """Note what a reader should know; `lanes`, bit by bit, says which have done it."""
        what = kind, self.line, text
        self.log.cautions[what] += times
        if lanes is not None and what not in self.log.doers:
            block, thread = self.coordinates(int(np.argmax(lanes)))
            self.log.doers[what] = f"first by thread {short(thread)} of block {short(block)}"

    def copies(self, array: Array, per_lane: bool) -> View:
        """Memory for an array of which every thread, or every block, has its own."""
        rows = len(self.blocks)
        if per_lane:
            return fresh_copies(array, rows * WARP, np.arange(rows * WARP))
        return fresh_copies(array, rows, self.row)

    def pass_block_barrier(self, rows: np.ndarray) -> None:
        self.moment = self.moment._replace(block_epoch=self.moment.block_epoch + rows)
