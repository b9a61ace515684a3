"""A log that grows large, reduced to counts while the kernel runs on.

Of single accesses those are kept that races and pictures still need: the first, those to global
memory, which blocks that come later may touch, and those to shared memory between barriers that are
under way, or where there is a race. A kept one weighs nothing: it has been counted.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from ..lanes.launch import Launch
from ..lanes.log import OVERHEAD, Entry, Site
from ..lanes.warps import Warps
from .counts import SiteCount, count_site
from .search import Memory, Part, grouped, memory_of, separate, suspects_of

EARLY = 10_000  # moments from which pictures are drawn


def condense(launch: Launch, warps: list[Warps]) -> None:
    """Called when all of these warps wait or have ended."""
    log = launch.log
    wanted = needed(launch, warps)
    seen: set[int] = set()
    log.bytes = 0
    for site, entries in log.sites.items():
        log.counted[site] = counted(site, entries, log.counted.get(site))
        kept = [e for e in entries if e.clock <= EARLY or e.clock in wanted
                or site.array.space == "global"]  # fmt: skip
        log.bytes += OVERHEAD * len(kept) + sum(new_bytes(entry, seen) for entry in kept)
        entries[:] = [entry._replace(weight=0) if entry.weight else entry for entry in kept]


def counted(site: Site, entries: list[Entry], before: SiteCount | None) -> SiteCount:
    """What was counted before, and these accesses."""
    new = count_site(site, entries)
    if before is None:
        return new
    numbers = [f.name for f in fields(SiteCount) if isinstance(getattr(new, f.name), int)]
    sums = {name: getattr(before, name) + getattr(new, name) for name in numbers}
    most = {name: max(getattr(before, name), getattr(new, name)) for name in ("worst", "crowd")}
    return replace(new, **sums | most | {"line": new.line})


def new_bytes(entry: Entry, seen: set[int]) -> int:
    """The bytes of an entry's pattern, the first time that it is seen."""
    if id(entry.pattern) in seen:
        return 0
    seen.add(id(entry.pattern))
    return entry.pattern.nbytes


def needed(launch: Launch, warps: list[Warps]) -> set[int]:
    """The clocks of accesses to shared memory that may still meet others, or have."""
    log = launch.log
    found: set[int] = set()
    for sites in grouped(site for site in log.sites if site.array.space == "shared"):
        memory = memory_of(sites)
        for part in separate(log.sites, memory):
            if not closed(part, warps) or not clean(part, memory, bool(log.partial_syncs)):
                found.update(entry.clock for entries in part.values() for entry in entries)
    return found


def closed(part: Part, warps: list[Warps]) -> bool:
    """Have all blocks passed the barrier behind it?"""
    now = np.concatenate([w.moment.block_epoch[w.alive.rows] for w in warps]).min(initial=2**31 - 1)
    return all(
        entry.moment.blocks is not warps[0].blocks or int(entry.moment.block_epoch.max()) < now
        for entries in part.values()
        for entry in entries
    )


def clean(part: Part, memory: Memory, each: bool) -> bool:
    return not each and not len(suspects_of(part, memory, each).cell)
