"""Single requests and single steps of a traced block, for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lanes.log import Entry, Run, Site
from ..lanes.masks import WARP
from .traces import Trace

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


def request_of(
    trace: Trace,
    space: str,
    array: str | None = None,
    access: str | None = None,
    line: int | None = None,
    number: int = 0,
) -> Request:
    """The `number`-th request (from 0) that fits, in the order in which they ran."""
    entries = [
        (entry.clock, site, entry)
        for site, logged in trace.launch.log.sites.items()
        if site.array.space == space
        and array in (None, site.array.name)
        and access in (None, site.access)
        and line in (None, site.line)
        for entry in logged
    ]
    seen = 0
    for _, site, entry in sorted(entries, key=lambda item: item[0]):
        rows = np.unique(entry.lanes // WARP)
        if number < seen + len(rows):
            return one_request(site, entry, int(rows[number - seen]))
        seen += len(rows)
    what = f"request {number} of {array or 'any array'}" + (f" at line {line}" if line else "")
    raise ValueError(f"there is no {what} in this trace (it has {seen})")


def one_request(site: Site, entry: Entry, row: int) -> Request:
    here = entry.lanes // WARP == row
    byte = entry.place[here].astype(np.int64) * site.array.step + site.array.offset
    return Request(
        *(site.array.name, site.array.space, site.access, site.function, site.line),
        *(site.array.width, int(entry.moment.blocks[row]), entry.moment.warp),
        tuple((entry.lanes[here] % WARP).tolist()),
        tuple(byte.tolist()),
    )


def runs_of(trace: Trace, warp: int) -> list[Run]:
    """The runs of code of a warp of the first traced block, in order."""
    return [run for run in trace.launch.log.runs if run.warp == warp]


def steps_of(trace: Trace) -> tuple[Step, ...]:
    """What the warps of the first traced block did, in order; the first `LONGEST` steps."""
    launch = trace.launch
    found: list[tuple[int, Any, Any]] = [(run.clock, run, None) for run in launch.log.runs]
    for site, entries in launch.log.sites.items():
        found += [
            (entry.clock, entry, site)
            for entry in entries
            if entry.moment.blocks[0] == launch.first_block and (entry.lanes < WARP).any()
        ]
    found = sorted(found, key=lambda item: item[0])[:LONGEST]
    return tuple(
        code_step(what) if site is None else access_step(what, site) for _, what, site in found
    )


def code_step(run: Run) -> Step:
    lanes = tuple(lane for lane in range(WARP) if run.lanes >> lane & 1)
    return Step(run.warp, run.function, run.line, lanes)


def access_step(entry: Entry, site: Site) -> Step:
    here = entry.lanes < WARP
    each = range(site.array.width // site.array.dtype.itemsize)  # four, with load4 and store4
    cells = tuple(site.array.cell(int(p) + n) for p in entry.place[here] for n in each)
    return Step(
        *(entry.moment.warp, site.function, site.line, tuple(entry.lanes[here].tolist())),
        *(site.array.name, site.access, site.array.shape, cells),
    )
