"""How many blocks a multiprocessor holds at once, and what keeps it from holding more.

    occupancy(threads=256, registers=40, shared=8192, on="A100")

A block stays on one multiprocessor from its start to its end, and needs four things there all that
time: slots for its warps, registers, shared memory, and a slot for itself. Whatever runs out first
limits how many blocks are resident. Occupancy is their share of the warp slots: the more warps are
resident, the more of them can wait for memory while another one computes.

These are the rules of NVIDIA's own calculator (cuda_occupancy.h, part of the CUDA toolkit), for the
largest carve-out of shared memory: what is given in whole units is rounded up.
"""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from warplens import units
from warplens.tables import Table, Tabled

from .devices import DATA, GPU, named

KIB = 1024
WARP = 32  # threads
PARTITIONS = 4  # of a multiprocessor, each with a quarter of the registers
REGISTERS = 65536  # 32-bit registers of a multiprocessor, and the most that a block may have
REGISTER_UNIT = 256  # registers are given to a warp in whole units of so many
MOST_THREADS = 1024  # of a block
MOST_REGISTERS = 255  # of a thread
OPT_IN = 48 * KIB  # more shared memory a block must be dynamic, and asked for before the launch


class Limits(NamedTuple):
    """What a multiprocessor of one compute capability holds at most."""

    warps: int
    blocks: int
    carve_outs: tuple[int, ...]  # bytes of shared memory that can be split off the L1 cache
    reserved: int  # bytes of each block's shared memory that the system takes
    shared_unit: int  # bytes: shared memory is given to a block in whole units of so many

    @property
    def shared(self) -> int:
        """Bytes of shared memory at most, with what the system reserves."""
        return self.carve_outs[-1]


LIMITS = {  # by compute capability
    tuple(map(int, name.split("."))):
        Limits(**{**row, "carve_outs": tuple(KIB * size for size in row["carve_outs"])})
    for name, row in DATA["holds"].items()
}  # fmt: skip


class Need(NamedTuple):
    """What one block takes of something, how much there is, and how many blocks that is."""

    takes: int
    there_are: int
    blocks: int | None  # None: it limits nothing


@dataclass(frozen=True, repr=False)
class Occupancy(Tabled):
    """How many blocks of a launch are resident on a multiprocessor, and why not more."""

    gpu: str
    threads: int  # of a block
    registers: int  # of a thread
    shared: int  # bytes of a block
    needs: Mapping[str, Need]  # "registers", "shared memory", "warps", "blocks"
    carve_out: int  # bytes: the least shared memory, split off L1, that holds the resident blocks

    @property
    def limits(self) -> dict[str, int | None]:
        """The blocks that each resource alone would hold; None where it limits nothing."""
        return {name: need.blocks for name, need in self.needs.items()}

    @property
    def blocks(self) -> int:
        """Resident on a multiprocessor."""
        return min(blocks for blocks in self.limits.values() if blocks is not None)

    @property
    def warps(self) -> int:
        """Resident on a multiprocessor."""
        return self.blocks * self.needs["warps"].takes

    @property
    def most_warps(self) -> int:
        return self.needs["warps"].there_are

    @property
    def share(self) -> float:
        """Occupancy: of the warp slots of a multiprocessor, those that are taken."""
        return self.warps / self.most_warps

    @property
    def limiters(self) -> tuple[str, ...]:
        """What runs out first; several where they do together."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)

    @property
    def limiter(self) -> str:
        *first, last = self.limiters
        return " and ".join([", ".join(first), last]) if first else last

    @property
    def launch(self) -> str:
        return (f"blocks of {units.count(self.threads)} threads, {self.registers} registers each, "
                f"{units.size(self.shared)} of shared memory")  # fmt: skip

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if not self.blocks:
            return f"{self.gpu} cannot run {self.launch}: {self.reason}."
        held = f"{self.blocks} block{'s' * (self.blocks > 1)}"
        filled = f"{self.warps} of {self.most_warps} warps ({units.percent(self.share)})"
        return (f"{self.gpu}, {self.launch}: a multiprocessor holds {held}, {filled}, limited by "
                f"{self.limiter}.")  # fmt: skip

    @property
    def reason(self) -> str:
        """Why not even one block fits; "" where one does."""
        return "" if self.blocks else " and ".join(map(self.taken, self.limiters))

    def taken(self, name: str) -> str:
        """What a block takes of a resource, in words."""
        takes, there_are, _ = self.needs[name]
        write = units.size if name == "shared memory" else units.count
        return f"a block takes {write(takes)} of the {write(there_are)} {NOUNS[name]}"

    def rows(self) -> list[tuple[str, str]]:
        rows = []
        for name, blocks in self.limits.items():
            room = "no limit" if blocks is None else f"room for {blocks}"
            rows.append((name, f"{room}: {self.taken(name)}"))
        if self.carve_out and self.blocks:
            rows.append(("carve-out", f"at least {units.size(self.carve_out)} of shared memory are "
                                      "split off the L1 cache"))  # fmt: skip
        if self.shared > OPT_IN and self.blocks:
            rows.append(("note", f"over {units.size(OPT_IN)} a block only as dynamic shared "
                                 "memory, asked for before the launch"))  # fmt: skip
        return rows

    def table(self) -> Table:
        return Table(self.verdict, (), self.rows())


NOUNS = {"registers": "registers", "shared memory": "of shared memory", "warps": "warp slots",
         "blocks": "block slots"}  # fmt: skip


def occupancy(
    threads: int, registers: int = 32, shared: int = 0, on: str | GPU = "A100"
) -> Occupancy:
    """How many blocks of `threads` threads one multiprocessor of a GPU holds at once.

    registers: of a thread. shared: bytes of a block, static and dynamic. A launch that does not fit
    at all has 0 blocks, and a reason. Raises ValueError for what no GPU can launch.
    """
    gpu = named(on)
    threads = whole("threads of a block", threads, 1, MOST_THREADS)
    registers = whole("registers of a thread", registers, 1, MOST_REGISTERS)
    shared = whole("bytes of shared memory a block", shared, 0, None)
    limits = limits_of(gpu)
    warps = math.ceil(threads / WARP)
    needs = {
        "registers": by_registers(warps, registers),
        "shared memory": by_shared_memory(shared, limits),
        "warps": Need(warps, limits.warps, limits.warps // warps),
        "blocks": Need(1, limits.blocks, limits.blocks),
    }
    resident = min(need.blocks for need in needs.values() if need.blocks is not None)
    shared_by_all = resident * needs["shared memory"].takes
    carve_out = next(size for size in limits.carve_outs if size >= shared_by_all)
    return Occupancy(gpu.name, threads, registers, shared, needs, carve_out)


def by_registers(warps: int, registers: int) -> Need:
    """Each warp lives on one of four partitions, and gets its registers from that one's quarter.

    So nine warps that do not fit take what twelve would: three on one partition are too many.
    """
    per_warp = up_to(registers * WARP, REGISTER_UNIT)
    warps_held = PARTITIONS * (REGISTERS // PARTITIONS // per_warp)
    blocks = warps_held // warps
    takes = per_warp * (warps if blocks else up_to(warps, PARTITIONS))
    return Need(takes, REGISTERS, blocks)


def by_shared_memory(shared: int, limits: Limits) -> Need:
    """What the system reserves counts in every block, even in one that asked for nothing."""
    takes = up_to(shared + limits.reserved, limits.shared_unit)
    return Need(takes, limits.shared, limits.shared // takes if takes else None)


def limits_of(gpu: GPU) -> Limits:
    if gpu.capability not in LIMITS:
        there = ", ".join(f"{major}.{minor}" for major, minor in LIMITS)
        raise ValueError(f"{gpu.name}: what a multiprocessor holds is known here for the compute "
                         f"capabilities {there}, not for {gpu.text('capability')}.")  # fmt: skip
    return LIMITS[gpu.capability]


def up_to(amount: int, unit: int) -> int:
    """The amount, rounded up to whole units."""
    return -(-amount // unit) * unit


def whole(words: str, value: Any, low: int, high: int | None) -> int:
    """The value as an int; ValueError unless it is a whole number between low and high."""
    integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not integer or not low <= value <= (high or value):
        between = f"from {low} to {high:,}" if high else f"of at least {low}"
        raise ValueError(f"The {words} are a whole number {between}, not {value!r}.")
    return operator.index(value)
