"""Under what conditions machines were measured, and in what they differ, in sentences.

What is no property of the machine (a library's version, a note, a flushed cache) comes first to
mind when two times differ; it is said before any time is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..results import Timing
    from .sides import Side

VERSION = sys.modules["gpulessons"].__version__  # not an import: the door stands above all rooms
FAR = 30  # days: what is further apart is pointed out
# What follows from another version of a library.
LIBRARIES = {
    "numpy": "NumPy's times may differ for that reason alone",
    "numba": "compiled loops may differ for that reason alone",
    "llvmlite": "compiled loops may differ for that reason alone",
    "numba-cuda": "CUDA kernels may differ for that reason alone",
    "torch": "PyTorch's times may differ for that reason alone",
}


@dataclass(frozen=True)
class Condition:
    """One thing that is told of every machine: "A has numba 0.68.1"."""

    what: str  # "numba", or "" where the value says it
    values: tuple[str, ...]  # one a machine
    so: str  # what follows where they differ
    verbs: tuple[str, str] = ("has", "have")

    @property
    def same(self) -> bool:
        """What nobody knows is not the same."""
        return len(set(self.values)) == 1 and "unknown" not in self.values[0]

    def __str__(self) -> str:
        return f"{self.what} {self.values[0]}".strip()

    def difference(self, letters: Sequence[str]) -> str:
        """Who has what, the rarest first; the largest group of several is "the others"."""
        groups: dict[str, list[str]] = {}
        for letter, value in zip(letters, self.values, strict=True):
            groups.setdefault(value, []).append(letter)
        rarest = sorted(groups.items(), key=lambda group: len(group[1]))
        parts = []
        for n, (value, those) in enumerate(rarest):
            rest = 0 < n == len(rarest) - 1 and len(those) > 1
            who = "the others" if rest else listed(those)
            said = f"{self.verbs[len(those) > 1]} {self.what} " if not n else ""
            parts.append(f"{who} {said}{value}".replace("  ", " "))
        return f"{', '.join(parts)}: {self.so}."


def differences(sides: Sequence[Side], compared: Sequence[Sequence[Timing]]) -> Iterator[str]:
    """Sentences: what is the same everywhere in one, then each difference with what follows.

    compared: the timings of each side that are compared.
    """
    letters = [side.letter for side in sides]
    found = list(conditions(sides, compared))
    if same := [str(each) for each in found if each.same]:
        yield f"The same on {'both' if len(sides) == 2 else f'all {len(sides)}'}: {listed(same)}."
    yield from (each.difference(letters) for each in found if not each.same)
    yield from far_apart(sides)
    for words, those in gathered(sides).items():
        yield f"{'all' if those == letters else listed(those)}: {words}."


def conditions(sides: Sequence[Side], compared: Sequence[Sequence[Timing]]) -> Iterator[Condition]:
    machines = [side.machine for side in sides]

    def told(what: str, values: Iterable[str], so: str, *verbs: str) -> Condition:
        return Condition(what, tuple(values), so, *([(verbs[0], verbs[1])] if verbs else []))

    yield told(
        "gpulessons", (package(side) for side in sides), "the ops themselves may have changed"
    )
    yield told(
        "Python", (m.python for m in machines), "plain loops may differ for that reason alone"
    )
    for name, so in LIBRARIES.items():
        if any(name in m.libraries for m in machines):
            yield told(name, (m.libraries.get(name, "(not there)") for m in machines), so)
    yield told(
        "", (kind_of(m.system) for m in machines),
        "the same versions of libraries are other builds there", "runs on", "run on",
    )  # fmt: skip
    yield told(
        "", (cores(m.cores, m.cores_total) for m in machines),
        "what runs on every core is expected to differ",
    )  # fmt: skip
    yield told(
        "", (simd(m.simd, m.simd_bits) for m in machines),
        "a wider vector holds more numbers for each instruction",
    )  # fmt: skip
    yield told(
        "at most", (threads(timings) for timings in compared),
        "the versions on one core alone compare the cores", "used", "used",
    )  # fmt: skip
    yield told(
        "measured", (caches(timings) for timings in compared),
        "a cold time waits for the memory, a warm one may find its data in a cache", "was", "were",
    )  # fmt: skip


def package(side: Side) -> str:
    if not side.machine.commit:
        return side.gpulessons or "of an unknown version"
    return f"{side.gpulessons} at {side.machine.commit}".strip()


def cores(usable: int, there: int | None) -> str:
    """Logical ones: that this process may use, and that there are, where these are more."""
    more = f" of {there}" if there and there != usable else ""
    return f"{usable}{more} core{'s' * ((there or usable) > 1)}"


def kind_of(system: str) -> str:
    """ "Linux x86_64" of "Linux 6.8.0-45 x86_64": a release alone makes no other build."""
    words = system.split()
    return " ".join(dict.fromkeys([words[0], words[-1]])) if words else "an unknown system"


def simd(name: str | None, bits: int | None) -> str:
    if not name:
        return "unknown vector instructions"
    return f"{name} ({bits} bits)" if bits else name


def threads(timings: Iterable[Timing]) -> str:
    most = max((timing.threads or 1 for timing in timings), default=1)
    return f"{most} thread{'s' * (most > 1)}"


def caches(timings: Iterable[Timing]) -> str:
    cold = {timing.cold for timing in timings}
    return "partly cold" if len(cold) == 2 else "cold" if True in cold else "warm"


def far_apart(sides: Sequence[Side]) -> Iterator[str]:
    """Machines change with time: updates, drivers, dust."""
    days = sorted((day, side.letter) for side in sides for day in map(known_day, side.dates) if day)
    if days and (apart := (days[-1][0] - days[0][0]).days) > FAR:
        (first, earliest), (last, latest) = days[0], days[-1]
        yield (
            f"{apart} days lie between {earliest} ({first}) and {latest} ({last}): "
            "a machine's software and its cooling change in such a time."
        )


def known_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def gathered(sides: Sequence[Side]) -> dict[str, list[str]]:
    """Each note of a machine or a comparison, and whose it is; what a file has that is unread."""
    notes: dict[str, list[str]] = {}
    for side in sides:
        own = [side.machine.note]
        for one in side.comparisons:
            for note in one.notes:
                general = all(note in each.notes for each in side.comparisons)
                own.append(note if general else f"{one.op}: {note}")
        if side.unread:
            own.append(
                f"from another version of gpulessons; unknown here and left out: "
                f"{', '.join(side.unread)}"
            )
        for note in dict.fromkeys(filter(None, own)):
            notes.setdefault(note.rstrip("."), []).append(side.letter)
    return notes


def listed(names: Sequence[str]) -> str:
    """A, B and C"""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
