"""Where a compiled loop spends its time: the instructions of its innermost turn, read and counted.

A *packed* instruction computes on a whole vector register, a *scalar* one on a single number. x86
says which in the mnemonic (vaddps, vaddss), ARM in the register (v0.4s, s0). A *chain* is a running
result that every turn continues: it has to wait for the turn before.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

LABEL = re.compile(r"([.\w]+):")
JUMP = re.compile(r"(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z)\s(?:.*[\s,])?([.\w]+)$")
X86 = re.compile(
    r"v?(?:add|sub|mul|div|sqrt|max|min|cmp[a-z]*?|fn?m(?:add|sub)(?:132|213|231))"
    r"(?P<many>[ps])(?P<type>[sd])\s"
)
# Linux writes `fadd v0.4s, …`, a Mac `fadd.4s v0, …`; a scalar is `fadd s0, …` on both.
ARM = re.compile(
    r"f(?:add|sub|mul|div|sqrt|max|min|maxnm|minnm|cm[a-z]{1,2}|mla|mls|nmul|n?madd|n?msub)"
    r"(?:\.\d(?P<mac>[sd]))?\s+(?P<bank>[vzsd])\d+(?:\.\d*(?P<type>[sd]))?"
)
REGISTER = re.compile(r"%[xyz]mm(\d+)|\b[vzqds](\d+)\b(?!\])")
BITS = {"x": 128, "y": 256, "z": 512}
NUMBER_BITS = {"s": 32, "d": 64}
ARM_BITS = 128  # SVE vectors may be longer; the assembly does not say


@dataclass(frozen=True, repr=False)
class Loop:
    """The innermost loop that gets most done in a turn, as the compiler wrote it."""

    name: str
    lines: tuple[str, ...]
    packed: int  # floating-point instructions on whole vectors
    scalar: int  # and on single numbers
    lanes: int  # numbers in a vector; 1 where there is no vector
    chains: int  # running results that every turn continues

    @property
    def at_once(self) -> int:
        """Numbers that may be under way together: a vector in each chain."""
        return self.lanes * self.chains

    @property
    def message(self) -> str:
        vectors = f" ({self.lanes} numbers each)" if self.packed else ""
        packed = f"{self.packed} packed instruction{'s' * (self.packed != 1)}{vectors}"
        chains = f"{self.chains} chain{'s' * (self.chains != 1)}"
        found = f"{packed}, {self.scalar} scalar; {chains}"
        return f"{self.name}, one iteration of its hot loop: {found}."

    def __repr__(self):
        return "\n".join([self.message, *(f"  {line}" for line in map(marked, self.lines))])

    def _repr_html_(self):
        text = "\n".join(map(marked, self.lines))
        look = "font-family: monospace; line-height: 1.3"  # some pages give <pre> another font
        return f'<p>{escape(self.message)}</p><pre style="{look}">{escape(text)}</pre>'


def hot_loop(function: Any) -> Loop:
    """The Loop of a function that Numba has compiled. ValueError where there is none to show."""
    name = getattr(function, "__name__", repr(function))
    if not hasattr(function, "inspect_asm"):
        raise TypeError(f"{name} is not compiled: put @njit above it, and call it once.")
    texts = function.inspect_asm().values()
    if not texts:
        raise ValueError(f"{name} is not compiled yet: call it once, then look again.")
    loops = [measured(name, lines) for text in texts for lines in innermost(text)]
    best = max(loops, key=numbers, default=None)
    if best is None or not numbers(best):
        raise ValueError(
            f"No loop of {name} computes with floats. (What parallel=True shares out is compiled "
            "apart: look at the same function without it.)"
        )
    return best


def innermost(text: str) -> Iterator[tuple[str, ...]]:
    """The lines of each loop that holds no other: from a label to a jump back to it."""
    lines = [line.strip() for line in text.splitlines()]
    labels, spans = {}, []
    for at, line in enumerate(lines):
        if label := LABEL.match(line):
            labels[label[1]] = at
        elif (jump := JUMP.match(line)) and jump[1] in labels:
            spans.append((labels[jump[1]] + 1, at + 1))
    for first, last in spans:
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in spans):
            yield tuple(line for line in lines[first:last] if line and line[0] not in ".#/;")


def measured(name: str, lines: tuple[str, ...]) -> Loop:
    found = [lanes for lanes in map(lanes_of, lines) if lanes]
    packed = [lanes for lanes in found if lanes > 1]
    scalar = len(found) - len(packed)
    return Loop(name, lines, len(packed), scalar, max(found, default=1), chains(lines))


def numbers(loop: Loop) -> int:
    """What a turn gets done: single numbers computed."""
    return loop.packed * loop.lanes + loop.scalar


def lanes_of(line: str) -> int:
    """How many numbers a line computes at once; 0 where it is no arithmetic on floats."""
    if found := X86.match(line):
        if found["many"] == "s":
            return 1
        widest = max(BITS[kind] for kind in re.findall(r"%([xyz])mm", line))
        return widest // NUMBER_BITS[found["type"]]
    if found := ARM.match(line):
        number = found["mac"] or found["type"]
        return ARM_BITS // NUMBER_BITS[number] if number and found["bank"] in "vz" else 1
    return 0


def chains(lines):
    """How many registers a turn continues: computed from what the turn before left in them."""
    continued, written = set(), set()
    for line in lines:
        target, sources = flow(line)
        if lanes_of(line):
            continued |= target & sources - written
        written |= target
    return len(continued)


def flow(line):
    """(written, read) vector registers of a line. x86 names its target last, ARM first."""
    mnemonic, *rest = line.split(None, 1)
    named = [next(filter(None, pair)) for pair in REGISTER.findall("".join(rest))]
    if "%" in line:
        to_register = re.search(r"%[xyz]mm\d+(?:\s*\{.*\})?$", line)
        target, sources = (named[-1:], named[:-1]) if to_register else ([], named)
        accumulates = not mnemonic.startswith("v") or mnemonic.startswith(("vfm", "vfnm"))
    else:
        loaded = len(named) if mnemonic.startswith("ld") else 1
        target, sources = named[:loaded], named[loaded:]
        if mnemonic.startswith("st"):
            target, sources = [], named
        accumulates = mnemonic.startswith(("fmla", "fmls"))
    return set(target), set(sources) | (set(target) if accumulates else set())


def marked(line):
    """A line of assembly, with the numbers it computes at once beside it where they are many."""
    lanes = lanes_of(line)
    text = line.replace("\t", "  ")
    return f"{text:<42}← {lanes} at once" if lanes > 1 else text
