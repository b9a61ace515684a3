"""Pictures of a trace: requests, banks, branches.

Each is a course `Picture`: it shows itself with its alt text, on light pages and on dark ones.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from gpulessons.plots.picture import SKY, Picture
from gpulessons.units import plural
from warplens.lanes.masks import WARP
from warplens.report.counts import BANKS, LINE, SECTOR, WORD
from warplens.report.steps import Request, request_of, runs_of
from warplens.report.traces import Trace

from .boxes import canvas
from .trace_drawing import ACCESS_COLORS, EXTRA, GRAY, cells, key, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOVED = 0.3  # how strong the color of bytes is that move unwanted
LARGEST = 4.0  # a sector, in widths of a lane


def request_picture(
    trace: Trace, array: str | None = None, access: str | None = None, line: int | None = None,
    number: int = 0,
) -> Picture:  # fmt: skip
    """One request to global memory: lines from the 32 lanes to the sectors that have to move."""
    r = request_of(trace, "global", array, access, line, number)
    touched = sorted({b // SECTOR for b in r.bytes} | {(b + r.size - 1) // SECTOR for b in r.bytes})
    places, wide, width = sector_places(touched)
    title, alt = request_words(r, touched)
    across = -0.5, max(WARP, width) + 0.5
    figure, axes = canvas(across, (-1.2, 3.7), 3, title, 7.8)
    draw_lanes(axes, r, places, wide, max(WARP, width) / WARP)
    draw_sectors(axes, r, touched, places, wide)
    key(axes, 0, -0.6, {f"wanted, {r.access}": ACCESS_COLORS[r.access],
                        "moved with it": to_be_seen(r.access), "stays": "none"})  # fmt: skip
    return Picture(figure, alt)


def to_be_seen(access: str) -> tuple[float, ...]:
    """The color of bytes that move because others are wanted."""
    from matplotlib.colors import to_rgba

    return to_rgba(ACCESS_COLORS[access], MOVED)


def draw_lanes(
    axes: Axes, r: Request, places: dict[int, float], wide: float, scale: float
) -> None:
    """The warp's lanes in a row, each active one joined to the bytes it asks for."""
    color = ACCESS_COLORS[r.access]
    idle = [lane for lane in range(WARP) if lane not in r.lanes]
    for lanes, fill, ink in ((r.lanes, color, "black"), (idle, None, GRAY)):
        cells(axes, [(lane * scale, 3) for lane in lanes], 0.86 * scale, 0.42, fill)
        for lane in lanes:
            write(axes, (lane + 0.43) * scale, 3.2, lane, color=ink)
    for lane, byte in zip(r.lanes, r.bytes, strict=True):
        x = places[byte // SECTOR] + wide * (byte % SECTOR + r.size / 2) / SECTOR
        axes.plot([(lane + 0.43) * scale, x], [2.96, 0.75], color=color, linewidth=1, alpha=0.8)


def request_words(r: Request, touched: list[int]) -> tuple[str, str]:
    """Title and alt text of one request."""
    sectors = f"{plural(len(touched), 'sector')} of 32 bytes"
    moved, asked = SECTOR * len(touched), len(set(r.bytes)) * r.size
    lines = len({s * SECTOR // LINE for s in touched})
    title = (
        f"{r.array}, {r.access} at line {r.line}: {plural(len(r.lanes), 'lane')} → {sectors}, "
        f"{asked:,} of {moved:,} bytes used"
    )
    alt = (
        f"{plural(len(r.lanes), 'active lane')} of warp {r.warp}, block {r.block}, {r.access} "
        f"{r.array} at line {r.line}. Lines lead from the lanes to {sectors} in "
        f"{plural(lines, 'line')} of 128."
    )
    return title, alt


def sector_places(touched: list[int]) -> tuple[dict[int, float], float, float]:
    """Where to draw each sector of the touched lines, how wide one is, and all of them: few are
    drawn larger, and lines far apart stand apart.
    """
    places: dict[int, float] = {}
    x, last = 0.0, None
    for row in sorted({s * SECTOR // LINE for s in touched}):
        x += 0 if last is None else 0.25 if row == last + 1 else 0.8
        for part in range(LINE // SECTOR):
            places[row * LINE // SECTOR + part] = x
            x += 1
        last = row
    wide = max(1.0, min(LARGEST, WARP / x))
    aside = max(0.0, WARP - x * wide) / 2
    return {s: aside + at * wide for s, at in places.items()}, wide, max(x * wide, WARP)


def draw_sectors(
    axes: Axes, r: Request, touched: list[int], places: dict[int, float], wide: float
) -> None:
    """The sectors of the touched lines; those that move show which of their bytes are wanted."""
    rows = sorted({s * SECTOR // LINE for s in places})
    sparse = len(rows) > 8
    color = ACCESS_COLORS[r.access]
    moved = [(places[sector], 0.3) for sector in touched]
    still = [(x, 0.3) for sector, x in places.items() if sector not in touched]
    cells(axes, moved, wide, 0.42, color, "none", MOVED)
    word = min(WORD, r.size)
    wanted = {part for byte in r.bytes for part in range(byte, byte + r.size, word)}
    corners = [(places[at // SECTOR] + wide * (at % SECTOR) / SECTOR, 0.3) for at in sorted(wanted)]
    cells(axes, corners, wide * word / SECTOR, 0.42, color, GRAY if wide > 2 else "none")
    cells(axes, still, wide, 0.42, alpha=0.6)
    cells(axes, moved, wide, 0.42)
    for i, row in enumerate(rows):
        if not sparse or i % 4 == 0:
            middle = places[row * LINE // SECTOR] + 2 * wide
            write(axes, middle, -0.1, f"byte {row * LINE}", va="top")


def banks_picture(
    trace: Trace, array: str | None = None, access: str | None = None, line: int | None = None,
    number: int = 0,
) -> Picture:  # fmt: skip
    """One request to shared memory: a column for each bank, a row for each wavefront it takes."""
    r = request_of(trace, "shared", array, access, line, number)
    parts = max(1, r.size // WORD)
    turns = []  # of a request for wide elements: {bank: {word: lanes}} of each
    for part in range(parts):
        members = [(lane, byte) for lane, byte in zip(r.lanes, r.bytes, strict=True)
                   if lane * parts // WARP == part]  # fmt: skip
        turns.append(words_by_bank(members, r.size))
    ways = [max((len(words) for words in columns.values()), default=0) for columns in turns]
    total, worst = sum(ways), max(ways)
    conflict = f"{worst}-way bank conflict" if worst > 1 else "no bank conflict"
    waves = plural(total, "wavefront")
    title = f"{r.array}, {r.access} at line {r.line}: {waves}, {conflict}"
    figure, axes = canvas(
        (-2.6, BANKS + 0.1), (total + 1.6, -1.2), min(8, 1.2 + 0.22 * total), title, 8.6
    )
    for columns, top, tall in zip(turns, accumulate(ways, initial=0), ways, strict=False):
        draw_banks(axes, columns, top, tall, r.access)
    for bank in range(BANKS):
        write(axes, bank + 0.5, -0.25, bank, va="bottom")
    write(axes, -0.3, -0.25, "bank", "right", va="bottom")
    meanings = {f"{r.access}, the first wavefront": ACCESS_COLORS[r.access]}
    if worst > 1:
        meanings["a wavefront more: the bank is busy"] = EXTRA
    key(axes, 0, total + 0.5, meanings)
    busiest = f"The busiest bank has {worst} words to give." if worst > 1 else "No bank has more."
    lit = {"a bank at work": "busy", "banks that idle": "idle", "the first wavefront": "first"}
    alt = (f"A grid of 32 banks by {waves}; each filled cell names the lanes that {r.access} that "
           f"word of {r.array}. {busiest}")  # fmt: skip
    return Picture(figure, alt, lit if worst > 1 else {})


def words_by_bank(members: list[tuple[int, int]], size: int) -> dict[int, dict[int, list[int]]]:
    """bank → {word: lanes}; an element wider than a word fills several banks."""
    columns: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for lane, byte in members:
        for word in range(byte // WORD, (byte + size - 1) // WORD + 1):
            columns[word % BANKS][word].append(lane)
    return columns


def draw_banks(
    axes: Axes, columns: dict[int, dict[int, list[int]]], top: int, ways: int, access: str
) -> None:
    """A row for each wavefront: its words, named by the lanes that want them."""
    for row in range(ways):
        place = top + row + 1
        write(axes, -0.3, top + row + 0.5, place if place > 1 else "wavefront 1", "right", 8)
        wanted = {bank: list(words.values()) for bank, words in columns.items() if len(words) > row}
        idle = [(bank, top + row) for bank in range(BANKS) if bank not in wanted]
        first = " first" * (row == 0)  # of its wavefronts
        cells(axes, idle, 0.9, 0.86, alpha=0.45, part=f"lit idle{first}")
        busy = [(bank, top + row) for bank in wanted]
        cells(axes, busy, 0.9, 0.86, EXTRA if row else ACCESS_COLORS[access],
              part=f"lit busy{first}")
        for bank, words in wanted.items():
            label = lanes_label(words[row])
            size = 8 if len(label) < 3 else 6.5
            write(axes, bank + 0.45, top + row + 0.44, label, size=size, color="black")


def lanes_label(lanes: list[int]) -> str:
    """The first lane, and how many more there are."""
    return str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}+{len(lanes) - 1}"


def branch_picture(trace: Trace, warp: int = 0, most: int = 40) -> Picture:
    """The path of a warp of the first traced block: rows are runs of code, columns lanes."""
    path = groupby((run.function, run.line, run.lanes) for run in runs_of(trace, warp))
    runs = [(run, len(list(same))) for run, same in path]
    if not runs:
        raise ValueError(f"the first traced block has no warp {warp}")
    shown = runs[:most]
    active = sum(bits.bit_count() * n for (_, _, bits), n in runs)
    share = active / sum(WARP * n for _, n in runs)
    title = f"warp {warp} of {trace.kernel}: {100 * share:.3g} % of its lanes at work"
    up = len(shown) + (0.9 if len(runs) > most else 0.2), -1
    figure, axes = canvas((-0.2, WARP + 24), up, 0.9 + 0.2 * len(shown), title, 8.6)
    source = source_lines(trace)
    for row, ((function, line, bits), times) in enumerate(shown):
        at_work = [lane for lane in range(WARP) if bits >> lane & 1]
        waiting = [lane for lane in range(WARP) if lane not in at_work]
        cells(axes, [(lane, row) for lane in waiting], 0.88, 0.8, alpha=0.4)
        cells(axes, [(lane, row) for lane in at_work], 0.88, 0.8, SKY)
        text = f"{line}: {source.get((function, line), function)[:44]}"
        text += f"   × {times}" if times > 1 else ""
        write(axes, WARP + 0.6, row + 0.45, text, "left", family="monospace")
    for lane in range(0, WARP, 4):
        write(axes, lane + 0.44, -0.2, lane, va="bottom")
    if len(runs) > most:
        write(axes, 0, len(shown) + 0.5, f"… and {len(runs) - most} more", "left")
    return Picture(figure, (
        f"Branch map of warp {warp}: {plural(len(runs), 'run')} of code as rows, 32 lanes as "
        f"columns, filled where a lane is active; {100 * share:.3g} percent are."
    ))  # fmt: skip


def source_lines(trace: Trace) -> dict[tuple[str, int], str]:
    lines = enumerate(trace.source.splitlines(), trace.first_line)
    return {(trace.kernel, number): text.strip() for number, text in lines}
