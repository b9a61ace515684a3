"""What a trace tells, as values: coalescing, banks, atomics, divergence, work."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ..tables import Table, Tabled, per
from ..units import percent, plural
from .counts import SECTOR, SiteCount


@dataclass(frozen=True, repr=False)
class Sites(Tabled):
    """Sums over the places in the source that were asked about."""

    sites: tuple[SiteCount, ...]

    def total(self, name: str) -> int:
        return sum(getattr(site, name) for site in self.sites)

    @property
    def requests(self) -> int:
        """Accesses of a whole warp."""
        return self.total("requests")


class Coalescing(Sites):
    """How requests to global memory became sectors of 32 bytes and lines of 128."""

    @property
    def sectors(self) -> int:
        return self.total("sectors")

    @property
    def lines(self) -> int:
        return self.total("lines")

    @property
    def sectors_per_request(self) -> float:
        return per(self.sectors, self.requests)

    @property
    def bytes_asked(self) -> int:
        """By all threads, equal places counted each time."""
        return self.total("bytes_asked")

    @property
    def bytes_used(self) -> int:
        """Of each request's bytes, each once."""
        return self.total("bytes_used")

    @property
    def bytes_moved(self) -> int:
        return SECTOR * self.sectors

    @property
    def efficiency(self) -> float:
        """Of the bytes moved, the share that some thread asked for."""
        return per(self.bytes_used, self.bytes_moved)

    def headline(self) -> str:
        return (
            f"{self.requests:,} requests, {self.sectors:,} sectors "
            f"({self.sectors_per_request:.4g} per request), "
            f"{self.lines:,} lines, {percent(self.efficiency)} of the bytes moved were asked for"
        )

    def table(self) -> Table:
        head = ("array", "access", "line", "requests", "sectors", "per request", "lines", "used")
        rows = [
            (
                *(s.array, s.access, s.line, s.requests, s.sectors),
                *(f"{per(s.sectors, s.requests):.4g}", s.lines),
                percent(per(s.bytes_used, s.bytes_moved)),
            )
            for s in self.sites
        ]
        return Table(self.headline(), head, rows, numbers="right")


class Banks(Sites):
    """How requests to shared memory became wavefronts."""

    @property
    def wavefronts(self) -> int:
        return self.total("wavefronts")

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond those that the bytes alone would take."""
        return self.wavefronts - self.total("ideal")

    @property
    def worst(self) -> int:
        """The most wavefronts of one request, or part of it for wide elements: 32-way, say."""
        return max((site.worst for site in self.sites), default=0)

    def headline(self) -> str:
        return (
            f"{self.requests:,} requests to shared memory, {self.wavefronts:,} wavefronts, "
            f"{self.conflicts:,} of them conflicts, at worst {self.worst}-way"
        )

    def table(self) -> Table:
        head = ("array", "access", "line", "requests", "wavefronts", "conflicts", "worst")
        rows = [
            (
                *(s.array, s.access, s.line, s.requests, s.wavefronts),
                *(s.wavefronts - s.ideal, f"{s.worst}-way"),
            )
            for s in self.sites
        ]
        return Table(self.headline(), head, rows, numbers="right")


class Atomics(Sites):
    """How atomic updates queue: threads of a warp that want one place go one after another."""

    @property
    def updates(self) -> int:
        """By all threads."""
        return self.total("accesses")

    @property
    def steps(self) -> int:
        """For each request as many as threads meet at its busiest place."""
        return self.total("steps")

    @property
    def worst(self) -> int:
        """The most threads of one warp at one place."""
        return max((site.crowd for site in self.sites), default=0)

    def headline(self) -> str:
        return (
            f"{self.requests:,} requests, {self.updates:,} updates in {self.steps:,} steps, "
            f"at worst {plural(self.worst, 'thread')} of a warp at one place"
        )

    def table(self) -> Table:
        head = ("array", "space", "line", "requests", "updates", "steps", "worst")
        rows = [
            (s.array, s.space, s.line, s.requests, s.accesses, s.steps, s.crowd) for s in self.sites
        ]
        return Table(self.headline(), head, rows, numbers="right")


@dataclass(frozen=True)
class BranchCount:
    """A branch at one line: `if`, or the question of a loop whether to turn again."""

    function: str
    line: int
    instances: int  # times a warp came to it
    divergent: int  # of these, times its threads went both ways


@dataclass(frozen=True)
class CodeCount:
    """A straight run of code that begins at one line."""

    function: str
    line: int
    slots: int  # 32 for every warp that ran it
    active: int  # threads that ran it


@dataclass(frozen=True, repr=False)
class Divergence(Tabled):
    """Branches that one warp took both ways, and how many of its lanes worked."""

    branches: tuple[BranchCount, ...]
    code: tuple[CodeCount, ...]

    @property
    def instances(self) -> int:
        return sum(b.instances for b in self.branches)

    @property
    def divergent(self) -> int:
        return sum(b.divergent for b in self.branches)

    @property
    def efficiency(self) -> float:
        """Active lanes / lanes, over every straight run of code that a warp executed."""
        return per(sum(c.active for c in self.code), sum(c.slots for c in self.code))

    def headline(self) -> str:
        return (
            f"{self.divergent:,} of {self.instances:,} branches divergent, "
            f"warp efficiency {percent(self.efficiency)}"
        )

    def table(self) -> Table:
        rows = [(b.function, b.line, b.instances, b.divergent) for b in self.branches]
        head = "function", "line", "branches", "divergent"
        return Table(self.headline(), head, rows, numbers="right")


@dataclass(frozen=True, repr=False)
class Work(Tabled):
    """What the average thread did. `reads`, `writes`, `atomics` are of global memory."""

    threads: int
    reads: float
    writes: float
    atomics: float
    shared_reads: float
    shared_writes: float
    shared_atomics: float
    local_reads: float
    local_writes: float
    constant_reads: float
    flops: float
    tensor_core_flops: float = 0.0  # of all FLOPs, those of matrix instructions

    def headline(self) -> str:
        return f"{self.threads:,} threads; each, on average:"

    def table(self) -> Table:
        names = [f.name for f in dataclasses.fields(self)[1:]]
        rows = [(n.replace("_", " "), f"{getattr(self, n):.4g}") for n in names if getattr(self, n)]
        return Table(self.headline(), ("work", "per thread"), rows, numbers="right")
