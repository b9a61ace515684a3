"""What `gpulessons collect` shows: the same tables as text, as a web page and for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape
from statistics import median
from typing import TYPE_CHECKING

import gpulessons
from gpulessons import units

from .handed_in import CORE, EXTRA, NOT_TRIED, NOT_YET, RIGHT, Class, Result
from .pages import RULED, page

if TYPE_CHECKING:
    from gpulessons.measure.results import Timing
    from gpulessons.measure.side_by_side import Row, SideBySide

Table = list[list[str]]  # its head, then its rows
MEANING = (
    "3/4 +1: of a notebook's 4 core exercises 3 are right, and 1 extra one; –: not handed in."
)
FEW = 4  # machines of which the text shows every figure


# -- Who solved what.


def by_learner(found: Class) -> Table:
    """A row for each learner: what is right in each notebook, and in all."""
    numbers = sorted({one.notebook for one in found.results})
    rows = [["learner", "notebooks handed in", *numbers, "core right", "extra right"]]
    for who in found.learners:
        theirs = [one for one in found.results if one.learner == who]
        parts = [[one for one in theirs if one.notebook == number] for number in numbers]
        right = [str(rights(theirs, kind)) for kind in (CORE, EXTRA)]
        rows.append([who, str(sum(map(bool, parts))), *map(share, parts), *right])
    return rows


def share(some: list[Result]) -> str:
    """Such as 4/4 +1: all four core ones, and an extra; a dash where nothing was handed in."""
    if not some:
        return "–"
    core, extra = sum(one.kind == CORE for one in some), rights(some, EXTRA)
    return f"{rights(some, CORE)}/{core}{f' +{extra}' if extra else ''}"


def rights(some: list[Result], kind: str) -> int:
    return sum(one.state == RIGHT and one.kind == kind for one in some)


def by_exercise(results: list[Result]) -> Table:
    """A row for each exercise: how many are right, and what most are told who are not."""
    counted = (RIGHT, NOT_YET, NOT_TRIED)
    rows = [["exercise", "kind", *counted, "what most are told who are not yet right"]]
    names = dict.fromkeys((one.notebook, one.exercise) for one in results)
    for name in sorted(names, key=lambda name: name[0]):  # a notebook's in their order
        some = [one for one in results if (one.notebook, one.exercise) == name]
        states = Counter(one.state for one in some)
        told = Counter(one.words for one in some if one.words).most_common(1)
        words = told[0][0] if told else ""
        rows.append([" ".join(name), some[0].kind, *(str(states[s]) for s in counted), words])
    return rows


def heading(found: Class) -> str:
    learners = len(found.learners)
    return f"{learners} learner{'s' * (learners != 1)}"


# -- Whose machine is how fast.


def overview(both: SideBySide) -> Table:
    """A row for each op and size: the machine in the middle, and the two at the ends."""
    from gpulessons.measure.results import Timing

    rows = [["best time of a call", "machines", "median", "fastest", "slowest", "slowest/fastest"]]
    for row in best_rows(both):
        pairs = zip(both.sides, row.entries, strict=True)
        timed = [(e, side.letter) for side, e in pairs if isinstance(e, Timing)]
        timed.sort(key=lambda one: one[0].median)
        middle = units.seconds(median(entry.median for entry, _ in timed))
        (fast, _), (slow, _) = ends = timed[0], timed[-1]
        ratio = "–" if fast.noise or slow.noise else units.ratio(slow.median / fast.median)
        what = f"{row.op}, {units.count(row.size)} {row.unit}"
        rows.append([what, str(len(timed)), middle, *(whose(*end) for end in ends), ratio])
    return rows


def whose(entry: Timing, who: str) -> str:
    """A time, whose it is, and a warning where it is noisy."""
    return f"{entry.words} ({', '.join(filter(None, [who, entry.noise]))})"


def best_rows(both: SideBySide) -> list[Row]:
    """Of each op and size the last row: each machine's best version, or the only one there is."""
    return [both.of(op, size)[-1] for op, size in both.shared]


def few(both: SideBySide) -> SideBySide:
    """The same; where there are many machines, only their best versions."""
    return both if len(both.sides) <= FEW else replace(both, rows=tuple(best_rows(both)))


def pictures(both: SideBySide) -> Iterator[str]:
    shown = few(both)
    for op in dict(shown.shared):
        yield gpulessons.plots.side_by_side(shown, op)._repr_html_()


# -- All of it.


def as_text(found: Class, both: SideBySide | None) -> str:
    """What the terminal shows: what to look after comes last, where it is seen."""
    parts = [f"{heading(found)}. {MEANING}"]
    if found.results:
        parts += [aligned(by_learner(found)), aligned(by_exercise(found.results))]
    else:
        parts += [aligned(by_learner(found)), "No notebook with exercises was handed in."]
    if both:
        parts += [f"{len(both.sides)} machines", aligned(overview(both))]
        many = "Every version on every machine, and pictures: --html FILE."
        parts += [str(both) if len(both.sides) <= FEW else many]
    if found.left_out:
        parts.append("\n".join(["Left out:", *(f"  {each}" for each in found.left_out)]))
    return "\n\n".join([*parts, *found.doubts])


def as_page(found: Class, both: SideBySide | None) -> str:
    """All of it as a web page."""
    body = f"<h1>{heading(found)}</h1><p>{MEANING}</p>"
    body += html_table(by_learner(found))
    told = [f"Left out: {each}" for each in found.left_out] + found.doubts
    body += "".join(f"<p>{escape(words)}</p>" for words in told)
    if found.results:
        body += f"<h2>Exercises</h2>{html_table(by_exercise(found.results))}"
    if both:
        body += f"<h2>{len(both.sides)} machines</h2>{html_table(overview(both))}"
        body += "".join(pictures(both))
        body += f"<details><summary>Every version</summary>{both._repr_html_()}</details>"
    return page("What the class found", body, RULED)


def as_csv(found: Class, both: SideBySide | None = None) -> bytes:
    """A row for each learner and exercise, and one for each who, or what, does not count.

    The mark at its beginning tells Excel that it is UTF-8.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["learner", "notebook", "exercise", "kind", "result", "words"])
    for one in found.results:
        what = (one.notebook, one.exercise, one.kind, one.state)
        rows.writerow([safe(one.learner), *what, safe(one.words)])
    for each in found.left_out:
        rows.writerow([safe(each.learner), "", "", "", "left out", safe(str(each))])
    there = {one.learner for one in found.results} | {each.learner for each in found.left_out}
    rows.writerows([safe(who), "", "", "", "no notebook", ""] for who in found.learners
                   if who not in there)  # fmt: skip
    return text.getvalue().encode("utf-8-sig")


def safe(words: str) -> str:
    """A cell that no spreadsheet takes for a formula: learners choose these words."""
    return f"'{words}" if words.startswith(("=", "+", "-", "@")) else words


def aligned(table: Iterable[list[str]]) -> str:
    """A table as text, its last column as long as it is."""
    rows = list(table)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def html_table(table: Table) -> str:
    from warplens.tables import html_row

    head, *rows = table
    cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(map(html_row, rows))
    return (f'<div style="overflow-x: auto"><table><thead><tr>{cells}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")  # fmt: skip
