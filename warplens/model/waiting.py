"""One warp, walked through its machine code in order: its time when it has a GPU to itself.

An instruction is issued when those before it are, and when the registers that it reads have their
values. A load is not waited for where it stands, but where its result is first used: between the
two, other loads may be in flight. That is why a kernel that asks for much before it uses anything
is quicker than one that asks, waits, and asks again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from warplens.code.sass import Code, Instruction, Loop

# Clocks from the issue to the first use, of what is no load. FP32, integers, FP64 and special
# functions: about what microbenchmarks of Turing to Hopper find (Jia et al. 2019, Abdelkhalik et
# al. 2022). "uniform" and "other", and 4 for what is not named, are assumed.
CLOCKS = {"fp32": 4, "imad": 4, "alu": 4, "uniform": 10, "fp64": 8, "sfu": 18, "other": 20}
BARRIER = 20  # clocks from the last warp's arrival; assumed


class Wait(NamedTuple):
    """Clocks from a load to its first use."""

    near: float  # where a cache near by has it
    far: float = 0.0  # where it has to be fetched
    missed: float = 0.0  # how often that is, of one load

    def beside(self, others: float) -> float:
        """The clocks of this load and those in flight, of which so many others are fetched too.

        A warp waits for its slowest load: where three neighbors ask for one line it waits for that
        line once, whichever of the three fetches it.
        """
        return self.near + min(1.0, self.missed + others) * max(0.0, self.far - self.near)


Latency = Callable[[Instruction], Wait]


def walk(code: Code, iterations: list[float], latency: Latency) -> float:
    """Clocks of one warp through a kernel; iterations: how often it issues each instruction."""
    warp = Walk(code, iterations, latency)
    warp.through(0, len(code.instructions), 0, 1.0)
    return warp.clock


class Walk:
    def __init__(self, code: Code, iterations: list[float], latency: Latency) -> None:
        self.code, self.iterations, self.latency = code, iterations, latency
        self.clock = 0.0
        self.ready: dict[str, float] = {}  # register → the clock at which it has its value
        self.flying: list[tuple[float, float]] = []  # loads: at which clock back, how often far

    def through(self, first: int, end: int, depth: int, entries: float) -> None:
        """Walk the instructions from first to end; loops among them as often as they turn.

        entries: how often the warp comes this way in all.
        """
        begins = {loop.first: loop for loop in self.code.loops if loop.depth == depth + 1}
        place = first
        while place < end:
            if loop := begins.get(place):
                self.around(loop, entries)
                place = loop.last
            else:
                self.issue(self.code.instructions[place])
            place += 1

    def around(self, loop: Loop, entries: float) -> None:
        """Two rounds to fill what is in flight, a third that all the others are like."""
        iterations = self.iterations[loop.last] / max(entries, 1.0)
        rounds = min(3, round(iterations))
        for _ in range(rounds):
            began = self.clock
            self.through(loop.first, loop.last + 1, loop.depth, self.iterations[loop.last])
        if rounds < 3:
            return
        clocks = (iterations - rounds) * (self.clock - began)
        self.clock += clocks
        self.ready = {register: at + clocks for register, at in self.ready.items()}
        self.flying = [(at + clocks, missed) for at, missed in self.flying]

    def issue(self, instruction: Instruction) -> None:
        ready = (self.ready.get(register, 0.0) for register in instruction.reads)
        self.clock = max([self.clock + 1, *ready])
        if instruction.opcode.startswith("BAR"):
            self.clock += BARRIER
        takes = self.loading(instruction) if instruction.space else CLOCKS.get(instruction.pipe, 4)
        for register in instruction.writes:
            self.ready[register] = self.clock + takes

    def loading(self, instruction: Instruction) -> float:
        self.flying = [(back, missed) for back, missed in self.flying if back > self.clock]
        wait = self.latency(instruction)
        takes = wait.beside(sum(missed for _, missed in self.flying))
        if instruction.writes:
            self.flying.append((self.clock + takes, wait.missed))
        return takes
