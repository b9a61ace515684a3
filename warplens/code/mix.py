"""What machine code is made of: instructions by kind, and how many of them a multiply-add needs.

A matrix product is paid for its multiply-adds. What stands beside them in the hot loop, indices
that are computed, values that are loaded, takes the same issue slots and is the price of each.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from warplens.tables import Table, Tabled
from warplens.units import plural

from .linking import Capability
from .operands import multiply_adds
from .sass import Code, Instruction, Loop

KINDS = {
    "fp32": "float32 arithmetic (FFMA, FADD, …)",
    "tensor": "tensor cores (HMMA, …)",
    "fp64": "double precision (DFMA, F2F.F64, …)",
    "sfu": "special functions and conversions (MUFU, …)",
    "imad": "integer multiply-adds (IMAD)",
    "alu": "integers, compares, moves (IADD3, ISETP, …)",
    "uniform": "the same for the whole warp (UIADD3, …)",
    "load/store": "loads, stores, exchanges within a warp (LDG, SHFL, …)",
    "control": "branches, barriers, end (BRA, BAR, …)",
    "other": "other (S2R, …)",
}
MEMORY = ("global", "shared", "local")


@dataclass(frozen=True)
class Part:
    """The instructions of one stretch of machine code, counted once each."""

    instructions: int
    pipes: dict[str, int]  # by the unit that carries them out
    memory: dict[str, int]  # "LDG.128": how often; registers are filled and emptied by these
    products: int  # instructions that multiply and add: FFMA, DFMA, HMMA
    multiply_adds: int  # that one thread does with them
    bytes: dict[str, int]  # that one thread reads, by the memory they come from

    @property
    def integer(self) -> int:
        """IMAD and ALU: indices, compares and moves, which are no arithmetic of the lesson."""
        return self.pipes.get("imad", 0) + self.pipes.get("alu", 0)

    @property
    def loads(self) -> int:
        return sum(count for name, count in self.memory.items() if name.startswith("LD"))


@dataclass(frozen=True, repr=False)
class Mix(Tabled):
    """What a kernel's machine code is made of: all of it, and its hot loop where it has one."""

    kernel: str
    capability: Capability
    whole: Part
    hot: Part | None  # one turn of the innermost loop that computes most

    @property
    def main(self) -> Part:
        """The hot loop, or everything where there is no loop."""
        return self.hot or self.whole

    def headline(self) -> str:
        major, minor = self.capability
        part = self.main
        say = f"{self.kernel}, machine code for {major}.{minor}, "
        say += "one turn of its hot loop: " if self.hot else "no loop: "
        say += plural(part.instructions, "instruction")
        if not part.multiply_adds:
            return f"{say}, no multiply-adds."
        integer, loads, moved = (
            f"{count / part.multiply_adds:.3g}"
            for count in (part.integer, part.loads, sum(part.bytes.values()))
        )
        return (
            f"{say} for {plural(part.multiply_adds, 'multiply-add')}; to each of these belong "
            f"{integer} integer instructions, {loads} loads and {moved} loaded bytes."
        )

    def table(self) -> Table:
        parts = [self.whole, *([self.hot] if self.hot else [])]
        head: tuple[str, ...] = ("instructions", "whole", "hot loop")[: 1 + len(parts)]
        rows: list[tuple[Any, ...]] = []
        for kind, words in KINDS.items():
            rows.append((words, *counts(parts, "pipes", kind)))
            if kind == "load/store":
                names = sorted(self.whole.memory, key=lambda name: (name[:2], name))
                rows += [(f"· {name}", *counts(parts, "memory", name)) for name in names]
        rows.append(("all", *(part.instructions for part in parts)))
        for space in self.whole.bytes:
            rows.append((f"bytes read, {space}", *counts(parts, "bytes", space)))
        rows = [row for row in rows if row[1]]
        if self.main.multiply_adds:
            head += ("per multiply-add",)
            rows = [(*row, f"{row[-1] / self.main.multiply_adds:.3g}") for row in rows]
        return Table(self.headline(), head, rows, numbers="right")


def counts(parts: Sequence[Part], table: str, name: str) -> list[int]:
    return [getattr(part, table).get(name, 0) for part in parts]


def mix_of(code: Code) -> Mix:
    """The Mix of machine code."""
    loop = hot_loop(code)
    hot = counted(inside(code, loop)) if loop else None
    return Mix(code.kernel, code.capability, counted(code.instructions), hot)


def hot_loop(code: Code) -> Loop | None:
    """The innermost loop that computes most in a turn, or moves most; None where there is none."""
    holds = [
        any(a != b and a.first <= b.first <= b.last <= a.last for b in code.loops)
        for a in code.loops
    ]
    innermost = [loop for loop, outer in zip(code.loops, holds, strict=True) if not outer]
    return max(innermost, key=lambda loop: work(inside(code, loop)), default=None)


def inside(code: Code, loop: Loop) -> tuple[Instruction, ...]:
    return code.instructions[loop.first : loop.last + 1]


def work(instructions: Iterable[Instruction]) -> tuple[int, int, int]:
    """How much a turn computes, then how much it moves, then how long it is."""
    pipes = Counter(one.pipe for one in instructions)
    computed = pipes["fp32"] + pipes["fp64"] + pipes["tensor"] + pipes["sfu"]
    return computed, pipes["load/store"], pipes.total()


def counted(instructions: Sequence[Instruction]) -> Part:
    """The Part that these instructions are, without the NOPs after a kernel's end."""
    real = [one for one in instructions if one.opcode != "NOP"]
    memory = [one for one in real if one.space in MEMORY]
    moved: Counter[str] = Counter()
    for one in memory:
        if one.access == "read":
            moved[one.space] += one.bytes
    return Part(
        instructions=len(real),
        pipes=dict(Counter(one.pipe for one in real)),
        memory=dict(Counter(f"{one.opcode.split('.')[0]}.{8 * one.bytes}" for one in memory)),
        products=sum(multiply_adds(one.opcode) > 0 for one in real),
        multiply_adds=sum(multiply_adds(one.opcode) for one in real),
        bytes=dict(moved),
    )
