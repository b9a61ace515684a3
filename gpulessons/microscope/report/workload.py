"""What a trace tells of the work, as values: divergence, work per thread, intensity, lines."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

from .tables import Report, per, percent


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
class Divergence(Report):
    """Branches that one warp took both ways, and how many of its lanes worked."""

    branches: tuple[BranchCount, ...]
    code: tuple[CodeCount, ...]

    @classmethod
    def from_json(cls, text: str) -> Divergence:
        d = json.loads(text)
        return cls(
            tuple(BranchCount(**b) for b in d["branches"]), tuple(CodeCount(**c) for c in d["code"])
        )

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

    def table(self):
        rows = [(b.function, b.line, b.instances, b.divergent) for b in self.branches]
        return ("function", "line", "branches", "divergent"), rows


@dataclass(frozen=True, repr=False)
class Work(Report):
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

    @classmethod
    def from_json(cls, text: str) -> Work:
        return cls(**json.loads(text))

    def headline(self) -> str:
        return f"{self.threads:,} threads; each, on average:"

    def table(self):
        names = [f.name for f in dataclasses.fields(self)[1:]]
        rows = [(n.replace("_", " "), f"{getattr(self, n):.4g}") for n in names if getattr(self, n)]
        return ("work", "per thread"), rows


@dataclass(frozen=True, repr=False)
class Intensity(Report):
    """FLOPs per byte of global memory: as the threads asked, and as sectors moved (no caches)."""

    flops: int
    bytes_asked: int
    bytes_moved: int

    @classmethod
    def from_json(cls, text: str) -> Intensity:
        return cls(**json.loads(text))

    @property
    def asked(self) -> float:
        return per(self.flops, self.bytes_asked)

    @property
    def moved(self) -> float:
        return per(self.flops, self.bytes_moved)

    def headline(self) -> str:
        return (
            f"{self.flops:,} FLOPs; {self.asked:.4g} per byte asked for ({self.bytes_asked:,} B), "
            f"{self.moved:.4g} per byte moved ({self.bytes_moved:,} B)"
        )

    def table(self):
        return (), ()


@dataclass(frozen=True)
class LineCount:
    """All that was counted at one line of source."""

    function: str
    line: int
    flops: int
    requests: int  # to global memory
    sectors: int
    shared_requests: int
    conflicts: int
    branches: int
    divergent: int

    def notes(self) -> str:
        """In a few words, what there is to say about the line."""
        parts = []
        if self.requests:
            parts.append(f"{per(self.sectors, self.requests):.3g} sectors/request")
        if self.conflicts:
            parts.append(f"{self.conflicts:,} bank conflicts")
        elif self.shared_requests:
            parts.append("no bank conflicts")
        if self.divergent:
            parts.append(f"{self.divergent:,} of {self.branches:,} branches divergent")
        if self.flops:
            parts.append(f"{self.flops:,} FLOPs")
        return ", ".join(parts)
