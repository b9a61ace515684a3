"""Machine code beside the source that it comes from: a line of the kernel, its instructions."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby

from .mix import hot_loop
from .sass import Code, Instruction

HOT = "▌"  # beside what the hot loop repeats
LOOK = "font-family: monospace; white-space: pre; line-height: 1.3; text-align: left"


@dataclass(frozen=True)
class Line:
    """A line of a kernel's source, and what it became."""

    number: int | None  # None: what came from no line of the kernel, such as a slow division
    text: str
    instructions: tuple[tuple[Instruction, bool], ...]  # each with: is it in the hot loop?

    @property
    def hot(self) -> int:
        return sum(hot for _, hot in self.instructions)

    @property
    def names(self) -> str:
        """The commonest instructions, of the hot loop where the line has some there."""
        shown = [one for one, hot in self.instructions if hot or not self.hot]
        found = Counter(one.opcode.split(".")[0] for one in shown).most_common()
        few = ", ".join(f"{count} {name}" for name, count in found[:4])
        return few + (", …" if len(found) > 4 else "")


def lines(function: Callable, code: Code) -> list[Line]:
    """The kernel's source line by line, each with its instructions in the order of addresses."""
    loop = hot_loop(code)
    texts, first = source(function)
    rows: dict[int | None, list[tuple[Instruction, bool]]] = {}
    for place, one in enumerate(code.instructions):
        if one.opcode != "NOP":
            hot = loop is not None and loop.first <= place <= loop.last
            known = one.kernel_line is not None and 0 <= one.kernel_line - first < len(texts)
            rows.setdefault(one.kernel_line if known else None, []).append((one, hot))
    found = [
        Line(number, text, tuple(rows.pop(number, ()))) for number, text in enumerate(texts, first)
    ]
    rest = [Line(None, "(elsewhere)", tuple(row)) for row in rows.values()]
    return found + rest


def source(function: Callable) -> tuple[list[str], int]:
    """(the lines of a kernel without their common indent, the number of the first)."""
    try:
        texts, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return [], 0
    return inspect.cleandoc("".join(["\n", *texts])).splitlines(), first


def summary(rows: list[Line]) -> str:
    """The source as text, with how much each line became, and of what."""
    wide = max([6, *(len(row.text) for row in rows)])
    head = f"{'':4}  {'source':{wide}}  {'all':>5}  {'hot loop':>8}"
    body = (
        f"{row.number or '':4}  {row.text:{wide}}  {len(row.instructions) or '':5}  "
        f"{row.hot or '':8}  {row.names}".rstrip()
        for row in rows
    )
    return "\n".join([head, *body])


def listing(rows: list[Line]) -> str:
    """The source as text, each line followed by its instructions; the hot loop's are marked."""
    return "\n".join(
        line for row in rows for line in (f"{row.number or '':4}  {row.text}", *code_lines(row))
    )


def code_lines(row: Line) -> Iterator[str]:
    """The instructions of a line, as text; a gap where the code goes on elsewhere."""
    for _, together in groupby(
        enumerate(row.instructions), key=lambda pair: pair[1][0].address // 16 - pair[0]
    ):
        for n, (_, (one, hot)) in enumerate(together):
            gap = "·" if n == 0 else " "
            yield f"    {HOT if hot else ' '} {gap} {one.address:05x}  {one}"


def html(rows: list[Line]) -> str:
    """The source as a table; each line opens on its instructions, without any script."""
    body = "".join(html_row(row) for row in rows)
    head = "".join(
        f'<th scope="col" style="text-align:left">{name}</th>'
        for name in ("", "source, and the machine code of each line", "all", "hot loop")
    )
    return (
        '<div style="overflow-x: auto"><table><caption>Machine code beside the source: '
        f"{HOT} is what the hot loop repeats</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def html_row(row: Line) -> str:
    room = "" if row.instructions else "; padding-left: 1.1em"  # where the others have a triangle
    text = f'<span style="{LOOK}{room}">{escape(row.text) or " "}</span>'
    if row.instructions:
        code = escape("\n".join(code_lines(row)))
        text = (
            f"<details><summary>{text} &ensp;<small>{escape(row.names)}</small></summary>"
            f'<pre style="{LOOK}">{code}</pre></details>'
        )
    mark = f"{HOT} " if row.hot else ""
    return (
        f'<tr style="vertical-align: top"><th scope="row">{row.number or ""}</th>'
        f'<td style="text-align:left">{text}</td><td>{len(row.instructions) or ""}</td>'
        f'<td style="white-space: nowrap">{mark}{row.hot or ""}</td></tr>'
    )
