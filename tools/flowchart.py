"""A Mermaid flowchart as a drawing that needs no script: boxes in rows, arrows that lead down.

GitHub draws Mermaid by a script. The website is read without scripts, so its picture is drawn here,
in the color of the text around it. Only what tools/rooms.py writes is understood: "a --> b".
"""

import re
from html import escape
from itertools import pairwise

WIDE, TALL, APART, BETWEEN = 104, 26, 14, 34  # a box; the room beside it, and to the next row


def picture(source: str) -> str:
    """The <figure> of a flowchart, its arrows in words for who cannot see it."""
    found = arrows(source)
    rows, near = ordered(levels(found), found)
    across = columns(rows, near, found)
    width = round(max(across.values())) + WIDE // 2 + 2
    at = {
        name: (across[name], level * (TALL + BETWEEN))
        for level, row in enumerate(rows)
        for name in row
    }
    drawn = [line(at, chain) for chain in chains(found)]
    drawn += [box(name, *at[name]) for name in found]
    height = len(rows) * (TALL + BETWEEN) - BETWEEN
    told = "; ".join(f"{name} to {', '.join(sorted(to))}" for name, to in found.items() if to)
    return (
        f'<figure role="img" aria-label="Arrows lead from {escape(told)}." '
        'style="margin: 1em 0">'
        f'<svg aria-hidden="true" viewBox="0 -1 {width} {height + 2}" width="{width}" '
        'style="max-width: 100%; height: auto" fill="none" stroke="currentColor">'
        f"{''.join(drawn)}</svg></figure>"
    )


def arrows(source: str) -> dict[str, set[str]]:
    """{name: the names that its arrows lead to}, in the order of their first mention."""
    found: dict[str, set[str]] = {}
    for line in source.splitlines()[1:]:
        names = re.findall(r"\w+", line)
        for name in names:
            found.setdefault(name, set())
        if len(names) == 2:
            found[names[0]].add(names[1])
    return found


def levels(found: dict[str, set[str]]) -> dict[str, int]:
    """How far down each name stands: below all that lead to it."""
    level = dict.fromkeys(found, 0)
    for _ in found:
        for name, to in found.items():
            for other in to:
                level[other] = max(level[other], level[name] + 1)
    if max(level.values(), default=0) >= len(found):
        raise ValueError("A flowchart whose arrows lead in a circle has no rows to draw it in.")
    return level


def chains(found: dict[str, set[str]]) -> list[list[str]]:
    """The way of each arrow, row by row: where it passes a row it has a place of its own there."""
    level = levels(found)
    return [
        [name, *(f"{name} {other} {row}" for row in range(level[name] + 1, level[other])), other]
        for name, to in found.items()
        for other in sorted(to)
    ]


def ordered(
    level: dict[str, int], found: dict[str, set[str]]
) -> tuple[list[list[str]], dict[str, list[str]]]:
    """(rows, {name: its neighbors above and below}): each row sorted by where its neighbors stand,
    so that few arrows cross.
    """
    rows: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for name, row in level.items():
        rows[row].append(name)
    near: dict[str, list[str]] = {}
    for chain in chains(found):
        for row, name in enumerate(chain[1:-1], level[chain[0]] + 1):
            rows[row].append(name)
        for upper, lower in pairwise(chain):
            near.setdefault(upper, []).append(lower)
            near.setdefault(lower, []).append(upper)
    for _ in range(20):
        place = {name: (at + 0.5) / len(row) for row in rows for at, name in enumerate(row)}
        for row in rows:
            row.sort(key=lambda name: mean([place[other] for other in near.get(name, [name])]))
            place |= {name: (at + 0.5) / len(row) for at, name in enumerate(row)}
    return rows, near


def columns(
    rows: list[list[str]], near: dict[str, list[str]], found: dict[str, set[str]]
) -> dict[str, float]:
    """How far to the right each name stands: between its neighbors, as far as its row has room."""
    half = {
        name: (WIDE + APART) / 2 if name in found else APART / 2 for row in rows for name in row
    }
    across = {name: 100.0 * at for row in rows for at, name in enumerate(row)}
    for _ in range(60):
        for row in rows:
            wanted = [mean([across[other] for other in near.get(name, [name])]) for name in row]
            placed: list[float] = []
            for name, want in zip(row, wanted, strict=True):
                least = placed[-1] + half[row[len(placed) - 1]] + half[name] if placed else want
                placed.append(max(want, least))
            pushed = mean([to - want for to, want in zip(placed, wanted, strict=True)])
            across |= {name: to - pushed for name, to in zip(row, placed, strict=True)}
    left = min(across[name] - half[name] for name in across)
    return {name: at - left for name, at in across.items()}


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def line(at: dict[str, tuple[float, float]], chain: list[str]) -> str:
    """An arrow from the lower edge of a box to the upper edge of another."""
    path = ""
    for upper, lower in pairwise(chain):
        (x0, y0), (x1, y1) = at[upper], at[lower]
        middle = (y0 + TALL + y1) / 2
        path += f"M{x0:.0f} {y0 + TALL:.0f}C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} "
        path += f"{x1:.0f} {y1:.0f}" + f"V{y1 + TALL:.0f}" * (lower != chain[-1])
    tip = f"M{x1 - 4:.0f} {y1 - 6:.0f}L{x1:.0f} {y1:.0f}L{x1 + 4:.0f} {y1 - 6:.0f}"
    return f'<path d="{path}{tip}" stroke-opacity=".6"/>'


def box(name: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x - WIDE / 2:.0f}" y="{y:.0f}" width="{WIDE}" height="{TALL}" rx="4"/>'
        f'<text x="{x:.0f}" y="{y + TALL / 2 + 4:.0f}" text-anchor="middle" font-size="13" '
        f'fill="currentColor" stroke="none">{escape(name)}</text>'
    )
