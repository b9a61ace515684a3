"""Published figures: what others measured, as printed, each with the place where it stands.

    published("dense", device=("V100", "T4"), batch=16)    the rows that match, as a table to show
    subjects()                                             what figures there are of, and how many

A CSV file a source, with the columns of `Published`; `sources.toml` says who measured, when, and
with what. Where a source has several runs, each with a date and software of its own, a row's is
the first [[NAME.runs]] whose subject, what, device, dtype and where are the row's. Every figure
was read at its source on the day that stands there (`read`), or it is left out.
"""

import csv
import math
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from warplens.tables import Table

HERE = Path(__file__).parent
COLUMNS = ["subject", "what", "size", "device", "dtype", "figure", "unit", "where", "note"]
TELLING = {"subject", "what", "device", "dtype", "where"}  # what a run is known by
SI = {
    "s": 1, "min": 60, "h": 3600, "ms": 1e-3, "µs": 1e-6, "clocks": 1, "GB/s": 1e9, "GFLOP/s": 1e9,
    "TFLOP/s": 1e12, "PFLOP/s": 1e15, "TOP/s": 1e12, "%": 0.01, "×": 1, "/s": 1, "M/s": 1e6,
    "$": 1, "$/h": 1 / 3600, "FLOP": 1, "day": 86400, "GiB": 2**30, "MiB": 2**20,
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Who measured, and what of it was read: a table of sources.toml, with a run's own lines."""

    name: str
    title: str
    address: str
    licence: str
    measured: str  # a date or a year
    read: str  # the date
    commit: str = ""
    software: str = ""
    note: str = ""


@dataclass(frozen=True)
class Published:
    """One figure that somebody else measured. A figure that is none raises ValueError."""

    subject: str
    what: str  # the library, the algorithm or the kernel that ran
    size: str  # "batch=16 inputs=4096"
    device: str  # the name that warplens.model.devices has, or the published one
    dtype: str
    figure: str  # as printed
    unit: str
    where: str  # the file, and the line or cell there
    note: str
    source: Source

    def __post_init__(self) -> None:
        if not (self.subject and self.where):
            raise ValueError("a figure needs a subject, and the place where it stands")
        if self.unit not in SI:
            raise ValueError(f"the unit {self.unit!r} is none of {', '.join(SI)}")
        if not 0 < self.value < math.inf:
            raise ValueError(f"{self.figure} is no figure")
        self.sizes  # noqa: B018  (raises where it is none)

    @property
    def value(self) -> float:
        """The figure in seconds, bytes/s, FLOP/s: without the unit's prefix."""
        return float(self.figure) * SI[self.unit]

    @property
    def ends(self) -> tuple[float, float]:
        """The value, less and more by the share that its size calls `spread`; without an end where
        its note says "at most" or "at least"."""
        told = {*re.split("[;,] ", self.note)}
        if told & {"at most", "less than"}:
            return -math.inf, self.value
        if told & {"at least", "more than"}:
            return self.value, math.inf
        spread = self.sizes.get("spread", 0)
        return self.value * (1 - spread), self.value * (1 + spread)

    @property
    def sizes(self) -> dict[str, float]:
        """{name: number} of what `size` says."""
        pairs = (pair.partition("=")[::2] for pair in self.size.split())
        return {name: int(text) if text.isdecimal() else float(text) for name, text in pairs}

    @property
    def citation(self) -> str:
        """ "V100, CUDA 10.1.243, cuDNN 7.6.2, 2019 (DeepBench)"."""
        year = re.findall(r"\d{4}", self.source.measured)[:1]
        told = [text for text in (self.device, self.source.software, *year) if text]
        return f"{', '.join(told)} ({self.source.title})"


class Figures(tuple[Published, ...]):
    """Published figures in a row, which a page shows as a table: what all share stands above it,
    what sets them apart in its columns, who measured below."""

    def table(self) -> Table:
        cells = [{"measured": row.what, "on": row.device, "type": row.dtype,
                  **{name: f"{size:,}" for name, size in row.sizes.items()}} for row in self]
        names = list(dict.fromkeys(name for each in cells for name in each))
        columns = {name: [each.get(name, "") for each in cells] for name in names}
        alike = {name: each[0] for name, each in columns.items() if len({*each}) == 1}
        said = [text if name in ("measured", "on", "type") else f"{name} {text}"
                for name, text in alike.items() if text]
        apart = [each for name, each in columns.items() if name not in alike]
        rows = [[*row, f"{figure.figure} {figure.unit}", figure.note]
                for *row, figure in zip(*apart, self, strict=True)]
        head = [*(name for name in names if name not in alike), "published", "remark"]
        if not any(row[-1] for row in rows):
            head, rows = head[:-1], [row[:-1] for row in rows]
        title = ", ".join(dict.fromkeys([*(row.subject for row in self), *said]))
        return Table(f"Published: {title}", head, rows, self.sources())

    def sources(self) -> list[str]:
        """A line for each source: its name, where it stands, the day, the software, the devices."""
        found: dict[tuple, dict[str, None]] = {}
        for row in self:
            each = row.source
            told = each.title, each.address, each.measured or "no date stated", each.software
            found.setdefault(told, {})[row.device] = None
        return [", ".join(filter(None, [*told, *devices])) for told, devices in found.items()]

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def source_of(name: str, table: dict[str, Any], cells: dict[str, str]) -> Source:
    """The source of one row: what its table says, and the first run that is the row's."""
    table = dict(table)
    for run in table.pop("runs", []):
        if all(run.get(column, cells[column]) == cells[column] for column in TELLING):
            table |= {key: text for key, text in run.items() if key not in TELLING}
            break
    return Source(name, **table)


def rows_of(path: Path, table: dict[str, Any]) -> list[Published]:
    """The figures of one source. A row that cannot be one raises ValueError with file and line."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        if reader.fieldnames != COLUMNS:
            raise ValueError(f"{path.name}:1: the columns are {','.join(COLUMNS)}")
        rows = []
        for cells in reader:
            try:
                if None in cells or None in cells.values():
                    raise ValueError(f"a row has {len(COLUMNS)} cells")
                rows.append(Published(**cells, source=source_of(path.stem, table, cells)))
            except ValueError as wrong:
                raise ValueError(f"{path.name}:{reader.line_num}: {wrong}") from None
    return rows


def figures_in(folder: Path) -> tuple[Published, ...]:
    """All figures of a folder, in the order of its sources.toml. A file without a source, or a
    source without a file, raises ValueError."""
    tables = tomllib.loads((folder / "sources.toml").read_text(encoding="utf-8"))
    unlike = {path.stem for path in folder.glob("*.csv")} ^ set(tables)
    if unlike:
        raise ValueError(f"each source has a table and a file: {', '.join(sorted(unlike))}")
    return tuple(row for name in tables for row in rows_of(folder / f"{name}.csv", tables[name]))


@cache
def figures() -> tuple[Published, ...]:
    return figures_in(HERE)


def subjects() -> dict[str, int]:
    """{subject: how many figures there are}, in the order of the files."""
    every = [row.subject for row in figures()]
    return {subject: every.count(subject) for subject in dict.fromkeys(every)}


def published(subject: str, **where: Any) -> Figures:
    """The figures of a subject whose columns, sizes and source's name are those of `where`, in
    their order; of a tuple, any. Where there are none, LookupError says what there is."""
    if subject not in subjects():
        there = ", ".join(f"{name} ({count})" for name, count in subjects().items())
        raise LookupError(f"Nothing is published of {subject!r}. There is: {there}.")
    found = [row for row in figures() if row.subject == subject]
    for name, wanted in where.items():
        told = [{**vars(row), **row.sizes, "source": row.source.name}.get(name) for row in found]
        for each in (every := wanted if isinstance(wanted, tuple) else (wanted,)):
            if each not in told:
                names = [*vars(found[0]), *found[0].sizes]
                there = ", ".join(dict.fromkeys(map(str, told if any(told) else names)))
                raise LookupError(f"{subject} has no {name} {each!r}. There is: {there}.")
        found = [row for row, value in zip(found, told, strict=True) if value in every]
    return Figures(found)
