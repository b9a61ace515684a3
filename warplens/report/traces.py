"""`Trace`: one launch, as counted. A frozen value that goes to JSON and back."""

from __future__ import annotations

import dataclasses
import html
import json
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from warplens.units import plural

from ..faults import Caution
from ..lanes.launch import Launch
from ..lanes.log import TENSOR_CORES, Log
from .counts import SiteCount
from .races import Races
from .reports import (
    Atomics,
    Banks,
    BranchCount,
    Coalescing,
    CodeCount,
    Divergence,
    Intensity,
    LineCount,
    Work,
)
from .search import find_races
from .streaming import counted
from .unused import Unused, Waste, find_unused, still_empty

KEPT = 10  # races kept in JSON


@dataclass(frozen=True, repr=False)
class Trace:
    """What the threads of one launch did.

    `threads` and all counts are of the blocks that were traced. `flops` counts one for each +, −,
    ×, / on floating-point numbers and each call of sqrt, exp, …, two for fma, 2,048 for a warp's
    mma, and for complex numbers 2 (+, −), 6 (×) or 11 (/).
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
    # The log itself; in a trace read from JSON None, and the races that were found then.
    launch: Launch | None = field(compare=False, default=None)
    recorded_races: Races | None = field(compare=False, default=None)
    turns: int | None = None  # of long loops so many were run, and counts are estimates
    empty: tuple[Waste, ...] = ()  # device arrays that nobody has filled yet

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
            sites=tuple(counted(*item, log.counted.get(item[0])) for item in log.sites.items()),
            branches=tuple(BranchCount(*where, *n) for where, n in sorted(log.branches.items())),
            code=tuple(CodeCount(*where, *n) for where, n in sorted(log.code.items())),
            flops_by_line=tuple((*where, n) for where, n in sorted(log.flops.items())),
            warnings=tuple(
                caution(log, *what) for what in sorted(log.cautions, key=lambda what: what[1])
            ),
            launch=launch,
            turns=launch.turns,
            empty=tuple(still_empty(arguments)),
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

    def intensity(self) -> Intensity:
        moved = self.coalescing()
        return Intensity(self.flops, moved.bytes_asked, moved.bytes_moved)

    def races(self, limit: int = KEPT) -> Races:
        """The first `limit` cells that two threads touch with nothing to order them."""
        known = self.known_races
        if limit <= KEPT or self.launch is None:
            return Races(known.found[:limit], known.cells)
        return find_races(self.launch, limit)

    @cached_property
    def known_races(self) -> Races:
        if self.launch is None:
            return self.recorded_races or Races((), 0)
        return find_races(self.launch, KEPT)

    def unused(self) -> Unused:
        """Writes to shared memory that nobody reads, and memory that nobody has written."""
        if self.launch is None:
            raise ValueError("a trace read from JSON has no accesses any more: trace the kernel")
        return Unused((*find_unused(self.launch), *self.empty))

    def per_line(self) -> tuple[LineCount, ...]:
        """Counts line by line, in the order of the source."""
        places = {(s.function, s.line) for s in self.sites}
        places |= {(b.function, b.line) for b in self.branches}
        places |= {(function, line) for function, line, *_ in self.flops_by_line}
        return tuple(self.count_line(*place) for place in sorted(places))

    def count_line(self, function: str, line: int) -> LineCount:
        here = [s for s in self.sites if (s.function, s.line) == (function, line)]
        moved = Coalescing(tuple(s for s in here if s.space == "global"))
        banks = Banks(tuple(s for s in here if s.space == "shared"))
        branches = [b for b in self.branches if (b.function, b.line) == (function, line)]
        flops = sum(n for f, at, _, n in self.flops_by_line if (f, at) == (function, line))
        return LineCount(
            *(function, line, flops),
            *(moved.requests, moved.sectors, banks.requests, banks.conflicts),
            *(sum(b.instances for b in branches), sum(b.divergent for b in branches)),
        )

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
        if self.turns:
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

    def to_json(self) -> str:
        plain = dataclasses.replace(self, launch=None, recorded_races=self.races())
        return json.dumps(dataclasses.asdict(plain))

    @classmethod
    def from_json(cls, text: str) -> Trace:
        d = json.loads(text)
        d |= {"grid": tuple(d["grid"]), "block": tuple(d["block"]), "launch": None}
        kinds = {
            "sites": SiteCount,
            "branches": BranchCount,
            "code": CodeCount,
            "warnings": Caution,
            "empty": Waste,
        }
        d |= {name: tuple(kind(**item) for item in d.get(name, ())) for name, kind in kinds.items()}
        d["flops_by_line"] = tuple(map(tuple, d["flops_by_line"]))
        d["recorded_races"] = Races.from_json(json.dumps(d["recorded_races"]))
        return cls(**d)


def caution(log: Log, kind: str, line: int, text: str) -> Caution:
    what = kind, line, text
    doer = f" ({log.doers[what]})" if what in log.doers else ""
    return Caution(kind, line, text + doer, log.cautions[what])


def warn_of_doubles(launch: Launch, arguments: list[Any]) -> None:
    """Note double-precision arithmetic where no array is double: it is rarely meant."""
    arrays = [a for value in arguments for a in (value if isinstance(value, tuple) else (value,))]
    kinds, log = {a.array.dtype.name for a in arrays if hasattr(a, "array")}, launch.log
    if kinds & {"float64", "complex128"}:
        return
    for (function, line, dtype), times in chain(log.flops.items(), log.extrema.items()):
        if dtype in ("float64", "complex128"):
            text = (
                f"{function} computes in {dtype} though no array is: an int or a Python float "
                "among float32 numbers does that in Numba; float32(…) keeps it single"
            )
            log.cautions["double precision", line, text] += times
