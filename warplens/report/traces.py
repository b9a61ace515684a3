"""`Trace`: one launch, as counted."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from ..faults import Caution
from ..lanes.launch import Launch
from ..lanes.log import TENSOR_CORES, Log
from ..units import plural
from .counts import SiteCount, count_site
from .races import Races
from .reports import Atomics, Banks, BranchCount, Coalescing, CodeCount, Divergence, Work
from .search import find_races

RACES_KNOWN = 10  # that are looked for once


@dataclass(frozen=True, repr=False)
class Trace:
    """What the threads of one launch did.

    `threads` and all counts are of the blocks that were traced. `flops` counts one for each +, −,
    ×, / on floating-point numbers and each call of sqrt, exp, …, two for fma, 2,048 for a
    warp's mma.
    """

    kernel: str
    source: str
    first_line: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    blocks: int  # traced
    threads: int  # traced
    sites: tuple[SiteCount, ...]
    branches: tuple[BranchCount, ...]
    code: tuple[CodeCount, ...]
    flops_by_line: tuple[tuple[str, int, str, int], ...]  # function, line, dtype, operations
    warnings: tuple[Caution, ...]
    launch: Launch = field(compare=False)  # with its log
    iterations: int | None = None  # of long loops so many were run, and counts are estimates

    @classmethod
    def of(cls, launch: Launch, arguments: list[Any], source: str, first_line: int) -> Trace:
        log = launch.log
        warn_of_doubles(launch, arguments)
        return cls(
            kernel=launch.function.__name__,
            source=source,
            first_line=first_line,
            grid=launch.grid,
            block=launch.block,
            blocks=len(launch.blocks),
            threads=len(launch.blocks) * launch.threads,
            sites=tuple(count_site(*item) for item in log.sites.items()),
            branches=tuple(BranchCount(*where, *n) for where, n in sorted(log.branches.items())),
            code=tuple(CodeCount(*where, *n) for where, n in sorted(log.code.items())),
            flops_by_line=tuple((*where, n) for where, n in sorted(log.flops.items())),
            warnings=tuple(
                caution(log, *what) for what in sorted(log.cautions, key=lambda what: what[1])
            ),
            launch=launch,
            iterations=launch.iterations,
        )

    @property
    def flops(self) -> int:
        return sum(n for *_, n in self.flops_by_line)

    @property
    def tensor_core_flops(self) -> int:
        return sum(n for *_, kind, n in self.flops_by_line if kind == TENSOR_CORES)

    def select(
        self,
        space: str,
        array: str | None = None,
        access: str | None = None,
        line: int | None = None,
    ) -> tuple[SiteCount, ...]:
        known = {s.array for s in self.sites}
        if array is not None and array not in known:
            raise KeyError(f"no array {array!r} in this trace; it has {', '.join(sorted(known))}")
        if access not in (None, "read", "write", "atomic"):
            raise ValueError(f'access is "read", "write" or "atomic", not {access!r}')
        wanted = {"array": array, "access": access, "line": line}
        return tuple(
            s
            for s in self.sites
            if s.space == space and all(v is None or getattr(s, k) == v for k, v in wanted.items())
        )

    def coalescing(
        self, array: str | None = None, access: str | None = None, line: int | None = None
    ) -> Coalescing:
        """Global memory: requests and what they moved, of one array, access or line, or all."""
        return Coalescing(self.select("global", array, access, line))

    def banks(
        self, array: str | None = None, access: str | None = None, line: int | None = None
    ) -> Banks:
        """Requests to shared memory and the bank conflicts among them."""
        return Banks(self.select("shared", array, access, line))

    def atomics(self, array: str | None = None, line: int | None = None) -> Atomics:
        """Atomic updates of global and shared memory, and how many have to wait in turn."""
        spaces = ("global", "shared", "local")
        return Atomics(
            tuple(s for space in spaces for s in self.select(space, array, "atomic", line))
        )

    def divergence(self) -> Divergence:
        return Divergence(self.branches, self.code)

    def work(self) -> Work:
        """Accesses and FLOPs of the average thread."""

        kinds = [("global", a) for a in ("read", "write", "atomic")]
        kinds += [("shared", a) for a in ("read", "write", "atomic")]
        kinds += [("local", "read"), ("local", "write"), ("constant", "read")]
        totals = [
            sum(s.accesses for s in self.sites if (s.space, s.access) == kind) for kind in kinds
        ]
        totals += [self.flops, self.tensor_core_flops]
        return Work(self.threads, *(total / self.threads for total in totals))

    def races(self, limit: int = RACES_KNOWN) -> Races:
        """The first `limit` cells that two threads touch with nothing to order them."""
        if limit > RACES_KNOWN:
            return find_races(self.launch, limit)
        return Races(self.known_races.found[:limit], self.known_races.cells)

    @cached_property
    def known_races(self) -> Races:
        return find_races(self.launch, RACES_KNOWN)

    # Forms

    def summary(self) -> list[str]:
        parts = [
            f"{self.kernel}: {plural(self.blocks, 'block')}, {plural(self.threads, 'thread')}, "
            f"{self.flops:,} FLOPs{self.on_tensor_cores()}"
        ]
        if self.coalescing().requests:
            parts.append(f"global memory: {self.coalescing().headline()}")
        if self.banks().requests:
            parts.append(f"shared memory: {self.banks().headline()}")
        if self.atomics().steps > self.atomics().requests:
            parts.append(f"atomics: {self.atomics().headline()}")
        parts += [f"branches: {self.divergence().headline()}", f"races: {self.races().headline()}"]
        if self.iterations:
            parts.append("long loops were sampled: counts are estimates, and the results are wrong")
        return parts + [f"caution, {caution}" for caution in self.warnings]

    def on_tensor_cores(self) -> str:
        flops = self.tensor_core_flops
        return f", {flops:,} of them on tensor cores" if flops else ""

    def __repr__(self) -> str:
        return "\n".join(self.summary())

    def _repr_html_(self) -> str:
        parts = "".join(f"<li>{html.escape(part)}</li>" for part in self.summary())
        return f"<ul>{parts}</ul>"


def caution(log: Log, kind: str, line: int, text: str) -> Caution:
    what = kind, line, text
    doer = f" ({log.doers[what]})" if what in log.doers else ""
    return Caution(kind, line, text + doer, log.cautions[what])


def warn_of_doubles(launch: Launch, arguments: list[Any]) -> None:
    """Note double-precision arithmetic where no array is double: it is rarely meant."""
    arrays = [a for value in arguments for a in (value if isinstance(value, tuple) else (value,))]
    kinds, log = {a.array.dtype.name for a in arrays if hasattr(a, "array")}, launch.log
    if "float64" in kinds:
        return
    for (function, line, dtype), times in chain(log.flops.items(), log.extrema.items()):
        if dtype == "float64":
            text = (
                f"{function} computes in {dtype} though no array is: an int or a Python float "
                "among float32 numbers does that in Numba; float32(…) keeps it single"
            )
            log.cautions["double precision", line, text] += times
