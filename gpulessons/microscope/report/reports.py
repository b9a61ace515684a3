"""What a trace tells of memory, as values: coalescing and banks."""

from __future__ import annotations

import json
from dataclasses import dataclass

from .counts import SECTOR, SiteCount
from .tables import Report, per, percent


class Sites(Report):
    """Sums over the places in the source that were asked about."""

    sites: tuple[SiteCount, ...]

    @classmethod
    def from_json(cls, text: str):
        return cls(tuple(SiteCount(**site) for site in json.loads(text)["sites"]))

    def total(self, name: str) -> int:
        return sum(getattr(site, name) for site in self.sites)

    @property
    def requests(self) -> int:
        """Accesses of a whole warp."""
        return self.total("requests")


@dataclass(frozen=True, repr=False)
class Coalescing(Sites):
    """How requests to global memory became sectors of 32 bytes and lines of 128."""

    sites: tuple[SiteCount, ...]

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

    def table(self):
        head = ("array", "access", "line", "requests", "sectors", "per request", "lines", "used")
        rows = [
            (
                *(s.array, s.access, s.line, s.requests, s.sectors),
                *(f"{per(s.sectors, s.requests):.4g}", s.lines),
                percent(per(s.bytes_used, s.bytes_moved)),
            )
            for s in self.sites
        ]
        return head, rows


@dataclass(frozen=True, repr=False)
class Banks(Sites):
    """How requests to shared memory became wavefronts."""

    sites: tuple[SiteCount, ...]

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

    def table(self):
        head = ("array", "access", "line", "requests", "wavefronts", "conflicts", "worst")
        rows = [
            (
                s.array,
                s.access,
                s.line,
                s.requests,
                s.wavefronts,
                s.wavefronts - s.ideal,
                f"{s.worst}-way",
            )
            for s in self.sites
        ]
        return head, rows
