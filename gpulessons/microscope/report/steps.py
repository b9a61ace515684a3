"""Single requests and single steps of a traced block, for pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..lanes.masks import WARP

LONGEST = 2000  # steps of a block that are kept for a player


@dataclass(frozen=True)
class Request:
    """One access of one warp: which lanes meant which bytes of an array."""

    array: str
    space: str
    access: str
    function: str
    line: int
    size: int  # bytes of an element
    block: int
    warp: int
    lanes: tuple[int, ...]
    bytes: tuple[int, ...]  # first byte of each lane's element, from the aligned start of the array


@dataclass(frozen=True)
class Step:
    """A moment of the first traced block: a warp begins a run of code, or touches an array."""

    warp: int
    function: str
    line: int
    lanes: tuple[int, ...]  # active
    array: str = ""  # empty where code begins
    access: str = ""
    shape: tuple[int, ...] = ()
    cells: tuple[tuple[int, ...], ...] = ()  # one for each lane


def log_of(trace):
    if trace.launch is None:
        raise ValueError(
            "a trace read from JSON keeps counts but no single requests: trace it again"
        )
    return trace.launch.log


def request_of(trace, space, array=None, access=None, line=None, number=0) -> Request:
    """The `number`-th request (from 0) that fits, in the order in which they ran."""
    asked = {"access": access, "line": line}
    sites = [
        s
        for s in log_of(trace).sites
        if (space is None or s.array.space == space)
        and array in (None, s.array.name)
        and all(v is None or getattr(s, k) == v for k, v in asked.items())
    ]
    accesses = sorted(
        ((a.clock, s, a) for s in sites for a in log_of(trace).sites[s]), key=lambda item: item[0]
    )
    seen = 0
    for _, site, access_ in accesses:
        rows = np.unique(access_.lanes // WARP)
        if number < seen + len(rows):
            return one_request(site, access_, int(rows[number - seen]))
        seen += len(rows)
    what = f"request {number} of {array or 'any array'}" + (f" at line {line}" if line else "")
    raise ValueError(f"there is no {what} in this trace (it has {seen})")


def one_request(site, access, row) -> Request:
    here = access.lanes // WARP == row
    byte = access.place[here].astype(np.int64) * site.array.step + site.array.offset
    return Request(
        *(site.array.name, site.array.space, site.access, site.function, site.line),
        *(site.array.width, int(access.moment.blocks[row]), access.moment.slot),
        tuple((access.lanes[here] % WARP).tolist()),
        tuple(byte.tolist()),
    )


def runs_of(trace, warp: int) -> list[tuple[str, int, int]]:
    """(function, line, active lanes as bits) for each run of code of a warp, in order."""
    return [
        (function, line, bits)
        for _, slot, function, line, bits in log_of(trace).marks
        if slot == warp
    ]


def steps_of(trace) -> tuple[Step, ...]:
    """What the warps of the first traced block did, in order; the first `LONGEST` steps."""
    log, first = log_of(trace), trace.launch.first
    found = [
        (clock, (slot, function, line, bits), None)
        for clock, slot, function, line, bits in log.marks
    ]
    for site, accesses in log.sites.items():
        found += [
            (a.clock, site, a)
            for a in accesses
            if a.moment.blocks[0] == first and (a.lanes < WARP).any()
        ]
    found = sorted(found, key=lambda item: item[0])[:LONGEST]
    return tuple(
        code_step(*what) if access is None else access_step(what, access)
        for _, what, access in found
    )


def code_step(slot, function, line, bits) -> Step:
    return Step(slot, function, line, tuple(lane for lane in range(WARP) if bits >> lane & 1))


def access_step(site, access) -> Step:
    here = access.lanes < WARP
    each = range(site.array.width // site.array.dtype.itemsize)  # four, with load4 and store4
    cells = tuple(site.array.cell(int(p) + n) for p in access.place[here] for n in each)
    return Step(
        *(access.moment.slot, site.function, site.line, tuple(access.lanes[here].tolist())),
        *(site.array.name, site.access, site.array.shape, cells),
    )
