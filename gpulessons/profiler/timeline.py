"""The timeline: one step as a picture in plain SVG, legible on a white page and on a dark one.

A saved page shows it without scripts: it is an image with its data inside. Nothing can be asked by
hovering there, so what is wide enough carries its name, and what is too short for the eye is drawn
as one hatched bar that says how many it stands for.
"""

import base64
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from gpulessons import units
from gpulessons.plots.frames import moving
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION

from .spans import (
    BACKWARD,
    COMPUTE,
    COPIES,
    GPU,
    IDLE,
    KINDS,
    LAUNCH,
    MEMORY,
    OPERATORS,
    PYTHON,
    Span,
    phases,
)
from .split import Part

# 3 to 1 or better on white and on #111; the words on them 4.5 to 1. Idle is drawn as an outline.
FILLS = {COMPUTE: BLUE, LAUNCH: VERMILLION, MEMORY: GREEN}
WORDS = {COMPUTE: "#ffffff", LAUNCH: "#000000", MEMORY: "#000000", IDLE: INK}
LEFT, RIGHT = 130, 12  # pixels beside the bars: the lanes' names stand at the left
ROW, BAR, GAP = 18, 15, 9  # a row, the bar in it, the space between lanes
SMALL, LARGE = 11, 15  # letters
DEEPEST = 7  # rows of one lane; what stands deeper is not drawn
HAIR = 8  # pixels: deep rows in which nothing is wider are left out
ORDER = (PYTHON, OPERATORS, BACKWARD, "other thread", COPIES, GPU)
BESIDE = 3  # pixels between a bar and words that stand beside it
NARROWEST = 600  # pixels: below, the key has no room
LARGEST = 60_000  # bytes of a picture: a page holds several
SHORTEST = (3, 6, 12, 24, 48)  # pixels: bars below that are drawn together


@dataclass(frozen=True, repr=False)
class Timeline:
    """A drawn step; `svg` is its text."""

    svg: str
    alt: str

    def _repr_html_(self) -> str:
        packed = base64.b64encode(self.svg.encode()).decode()
        look = "max-width: 100%; height: auto"
        image = (f'<img src="data:image/svg+xml;base64,{packed}" alt="{escape(self.alt)}" '
                 f'style="{look}">')  # fmt: skip
        inked = self.svg.replace(INK, "currentColor").replace("<svg ", f'<svg style="{look}" ', 1)
        return moving([], [(inked, self.alt)], image)

    def _repr_mimebundle_(self, include=None, exclude=None):  # type: ignore[no-untyped-def]
        return {"text/plain": self.alt, "text/html": self._repr_html_()}

    def __repr__(self) -> str:
        return self.alt


@dataclass(frozen=True)
class Bar:
    """A span, or several that are too short to be seen apart; in pixels."""

    left: float
    right: float
    top: float
    kind: str
    label: str
    count: int = 1


def drawn(
    spans: Sequence[Span], parts: Sequence[Part], seconds: float, title: str, alt: str, width: int
) -> Timeline:
    """The step's picture: its split on top, then the lanes, the time, and the key."""
    if width < NARROWEST:
        raise ValueError(f"A timeline is {NARROWEST} pixels wide or more, not {width}.")
    svg = ""
    for shortest in SHORTEST:
        svg = page(spans, parts, seconds, title, alt, width, shortest)
        if len(svg.encode()) < LARGEST:
            break
    return Timeline(svg, alt)


def page(
    spans: Sequence[Span], parts: Sequence[Part], seconds: float, title: str, alt: str, width: int,
    shortest: float,
) -> str:  # fmt: skip
    scale = (width - LEFT - RIGHT) / seconds
    names: list[str] = []
    lines = wrap(title, int(width / letters("m", LARGE)))
    for number, line in enumerate(lines):
        names.append(text(4, 20 + 20 * number, line, LARGE))
    top = 20.0 * len(lines) + 14
    if lines_of_step := list(brackets(phases(spans), top, scale)):
        names += [text(4, top + 12, "your lines"), *lines_of_step]
        top += ROW + GAP
    names.append(text(4, top + 12, "the split"))
    bars = list(gathered(((p.start, p.stop, p.kind, p.kind) for p in parts), top, scale, shortest))
    top += ROW + GAP
    for lane, rows in lanes(spans, HAIR / scale):
        names.append(text(4, top + 12, lane))
        for row in rows:
            of_row = ((s.start, s.stop, s.kind, bare(s.name)) for s in row)
            bars += gathered(of_row, top, scale, shortest)
            top += ROW
        top += GAP
    axis = list(ticks(seconds, scale, top))
    key = list(legend(top + 34))
    height = round(top + 34 + ROW + 6)
    return "".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="{SMALL}" role="img">',
        f"<title>{escape(title)}</title><desc>{escape(alt)}</desc><defs>",
        *map(hatch, FILLS), "</defs>", *painted(bars, width - RIGHT),
        f'<g fill="{INK}">', *names, *axis, "</g>",
        *key, "</svg>",
    ])  # fmt: skip


def brackets(
    parts: Iterable[tuple[str, float, float]], top: float, scale: float
) -> Iterator[str]:  # fmt: skip
    """Above all lanes: from when to when each line of a training step runs, and its name."""
    free = float(LEFT)
    for name, start, stop in parts:
        left, right = LEFT + scale * start, LEFT + scale * stop
        yield (f'<path fill="none" stroke="{INK}" '
               f'd="M{left:.1f} {top + 22:g}v-5H{right:.1f}v5"/>')  # fmt: skip
        middle, half = (left + right) / 2, letters(name) / 2
        if middle >= free:  # else its name would stand beside its bracket
            middle = max(middle, free + half)
            yield text(middle - half, top + 12, name)
            free = middle + half + BESIDE


def lanes(spans: Sequence[Span], hair: float) -> Iterator[tuple[str, list[list[Span]]]]:
    """(name, its rows) of each lane, the host's first; a row is one depth.

    The deepest rows are left out while they hold nothing of `hair` seconds; the first row stays.
    """
    found: dict[str, dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in spans:
        if span.depth < DEEPEST:
            found[span.lane][span.depth].append(span)

    def place(lane: str) -> tuple[int, str]:
        return next((n for n, name in enumerate(ORDER) if lane.startswith(name)), len(ORDER)), lane

    for lane in sorted(found, key=place):
        rows = found[lane]
        seen = [rows[depth] for depth in sorted(rows)]
        while len(seen) > 1 and max(span.seconds for span in seen[-1]) < hair:
            seen.pop()
        yield lane, seen


def gathered(
    pieces: Iterable[tuple[float, float, str, str]], top: float, scale: float, shortest: float
) -> Iterator[Bar]:
    """Bars of a row: long ones as they are, neighbors too short to be seen as one."""
    together: list[tuple[float, float, str]] = []

    def closed() -> Iterator[Bar]:
        if together:
            longest: dict[str, float] = defaultdict(float)
            for left, right, kind in together:
                longest[kind] += right - left
            most = max(longest, key=lambda kind: longest[kind])
            left, right = together[0][0], max(one[1] for one in together)
            count = len(together)
            yield Bar(left, max(right, left + 1), top, most, f"{count} short", count)
            together.clear()

    for start, stop, kind, label in pieces:
        left, right = LEFT + scale * start, LEFT + scale * stop
        if together and left - together[-1][1] > shortest:
            yield from closed()
        if right - left < shortest:
            together.append((left, right, kind))
        else:
            yield from closed()
            yield Bar(left, right, top, kind, label)
    yield from closed()


def painted(bars: Sequence[Bar], edge: float) -> Iterator[str]:
    """All bars of a kind in one path, and above them their words; `edge`: where bars end."""
    boxes: dict[tuple[str, bool], list[str]] = defaultdict(list)
    words: dict[str, list[str]] = defaultdict(list)
    for bar, after in zip(bars, [*bars[1:], None], strict=True):
        boxes[bar.kind, bar.count > 1].append(box(bar.left, bar.right, bar.top))
        if label := fitting(bar):
            middle = (bar.left + bar.right) / 2
            if bar.count > 1:  # no words on stripes
                half = letters(label) / 2 + 2
                boxes[bar.kind, False].append(box(middle - half, middle + half, bar.top))
            words[bar.kind].append(text(middle, bar.top + 11.5, label))
        elif bar.count == 1 and bar.label not in (*KINDS, "1 short"):  # beside it, if there is room
            free = after.left if after and after.top == bar.top else edge
            if bar.right + 2 * BESIDE + letters(bar.label) < free:
                words[""].append(text(bar.right + BESIDE, bar.top + 11.5, bar.label))
    for (kind, several), paths in sorted(boxes.items(), key=lambda one: not one[0][1]):
        look = f'fill="none" stroke="{INK}" stroke-dasharray="3 2"'
        if kind != IDLE:
            look = f'fill="{f"url(#{named(kind)})" if several else FILLS[kind]}"'
        yield f'<path {look} d="{"".join(paths)}"/>'
    for kind, labels in words.items():
        look = f'fill="{WORDS[kind]}" text-anchor="middle"' if kind else f'fill="{INK}"'
        yield f"<g {look}>{''.join(labels)}</g>"


def box(left: float, right: float, top: float) -> str:
    """A bar as a piece of a path; a hair's breadth is left to its neighbor."""
    width = max(right - left - 0.4, 0.6)
    return f"M{left:.1f} {top:g}h{width:.1f}v{BAR}h-{width:.1f}z"


def fitting(bar: Bar) -> str:
    """As much of the label as the bar has room for; nothing where that says nothing."""
    room = int((bar.right - bar.left - 6) / letters("m"))
    if len(bar.label) <= room:
        return bar.label
    return f"{bar.label[: room - 1]}…" if room >= 7 and bar.count == 1 else ""


def letters(words: str, size: float = SMALL) -> float:
    """About how wide a text is, in pixels: sans-serif letters are 0.6 of their height at most."""
    return 0.6 * size * len(words)


def bare(name: str) -> str:
    """An operator's name without what all of them share."""
    if name.startswith("Optimizer."):
        return name.rpartition("#")[2]  # "Optimizer.step#SGD.step"
    for prefix in ("autograd::engine::evaluate_function: ", "torch::autograd::", "aten::"):
        name = name.removeprefix(prefix)
    return name


def named(kind: str) -> str:
    return kind.split()[0]


def hatch(kind: str) -> str:
    """Stripes of a kind's color: several bars in one."""
    return (
        f'<pattern id="{named(kind)}" width="5" height="5" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="3.4" height="5" fill="{FILLS[kind]}"/>'
        "</pattern>"
    )


def text(x: float, y: float, words: str, size: float = SMALL) -> str:
    big = f' font-size="{size}"' if size != SMALL else ""
    return f'<text x="{x:.4g}" y="{y:.4g}"{big}>{escape(words)}</text>'


def ticks(seconds: float, scale: float, top: float) -> Iterator[str]:
    """The time below the lanes, in four to ten round steps."""
    step = 10.0 ** math.floor(math.log10(seconds / 2))
    step *= next(by for by in (1, 2, 5, 10) if seconds / (by * step) <= 8)
    end = LEFT + scale * seconds
    yield f'<path stroke="{INK}" d="M{LEFT} {top:g}H{end:.1f}"/>'
    for number in range(1 + math.floor(seconds / step + 1e-9)):
        x = LEFT + scale * step * number
        yield f'<path stroke="{INK}" d="M{x:.1f} {top:g}v5"/>'
        words = units.seconds(step * number)
        yield text(min(x, end - letters(words) / 2) - letters(words) / 2, top + 18, words)
    yield text(4, top + 18, "time")


def legend(top: float) -> Iterator[str]:
    """What the colors say, and the stripes."""
    x = 4.0
    for kind in KINDS:
        look = f'fill="{FILLS[kind]}"' if kind in FILLS else f'fill="none" stroke="{INK}"'
        dashes = "" if kind in FILLS else ' stroke-dasharray="3 2"'
        yield f'<path {look}{dashes} d="{box(x, x + 16, top)}"/>'
        yield f'<g fill="{INK}">{text(x + 21, top + 11.5, kind)}</g>'
        x += 21 + letters(kind) + 14
    yield f'<path fill="url(#{named(COMPUTE)})" d="{box(x, x + 16, top)}"/>'
    yield f'<g fill="{INK}">{text(x + 21, top + 11.5, "several short ones")}</g>'
