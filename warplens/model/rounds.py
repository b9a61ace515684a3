"""How often each machine instruction runs.

The trace knows how many bytes a thread handles at each line of the source, the machine code how
many its loads and stores handle there in one round of a loop: the quotient is the number of rounds,
however the compiler has unrolled. Where a loop touches no memory its functions tell (exp takes one
MUFU, and many multiply-adds that no source shows), else its FLOPs, else its branches.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from warplens.code.sass import Code, Instruction, Loop

from .sampling import Sample

FLOPS = {"FFMA": 2, "FADD": 1, "FMUL": 1, "DFMA": 2, "DADD": 1, "DMUL": 1}
Key = tuple[int | str | None, ...]  # a line and what is done there


def rounds(code: Code, sample: Sample) -> list[float]:
    """For each machine instruction: how often an average warp issues it."""
    owner = innermost(code)
    left = handled(sample)
    have: dict[Loop | None, dict[Key, float]] = {loop: {} for loop in (None, *code.loops)}
    for instruction, loop in zip(code.instructions, owner, strict=True):
        for key, amount in amounts(instruction):
            before = 0 if key[1] == "branches" else have[loop].get(key, 0)  # a line asks once
            have[loop][key] = before + amount
    use_up(left, have.pop(None), 1, {})
    # A loop that was unrolled does most in a round; what it leaves over falls to its remainder. And
    # what an outer loop does beside its inner ones is worked out first: they are left the rest.
    iterations: dict[Loop | None, float] = {None: 1.0}
    alone = {loop: own(loop, have) for loop in code.loops}
    known = {loop: bool(alone[loop]) and alone[loop] != have[loop] for loop in code.loops}
    for loop in sorted(code.loops, key=lambda x: (not known[x], x.depth, -sum(have[x].values()))):
        outer = [x for x in iterations if x and x.first <= loop.first <= x.last]
        entries = iterations[max(outer, key=lambda x: x.depth)] if outer else 1.0
        iterations[loop] = iterations_of(alone[loop] or have[loop], left, entries)
        use_up(left, have[loop], iterations[loop], alone[loop])
    return [iterations[loop] for loop in owner]


def own(loop: Loop, have: dict[Loop | None, dict[Key, float]]) -> dict[Key, float]:
    """What a loop does that no loop within it does: they leave it their remainders."""
    inner = [x for x in have if x and x is not loop and loop.first <= x.first <= loop.last]
    return {k: n for k, n in have[loop].items() if not any(k in have[x] for x in inner)}


def innermost(code: Code) -> list[Loop | None]:
    """For each instruction the smallest loop around it, if there is one."""
    owner: list[Loop | None] = [None] * len(code.instructions)
    for loop in code.loops:  # outer before inner
        owner[loop.first : loop.last + 1] = [loop] * (loop.last + 1 - loop.first)
    return owner


def handled(sample: Sample) -> dict[Key, float]:
    """What an average warp handles: bytes of a thread at each line, FLOPs, functions, branches."""
    found: dict[Key, float] = defaultdict(float)
    for line in sample.lines:
        found[line.line, line.space, line.access] += line.bytes
    warps = sample.warps * sample.trace.blocks
    for where, times in sample.trace.launch.log.by_kernel_line.items():
        found[where] += times / warps
    return found


def amounts(instruction: Instruction) -> list[tuple[Key, float]]:
    """What one instruction handles of it."""
    line = instruction.kernel_line
    if instruction.space in ("global", "shared"):
        return [((line, instruction.space, instruction.access), instruction.bytes)]
    if flops := FLOPS.get(instruction.opcode.split(".")[0]):
        return [((line, "flops"), flops)]
    if instruction.pipe == "sfu" and instruction.opcode.startswith("MUFU"):
        return [((line, "functions"), 1)]
    return [((line, "branches"), 1)] if instruction.target is not None else []


def use_up(
    left: dict[Key, float], have: dict[Key, float], iterations: float, own: dict[Key, float]
) -> None:
    """Take away what is done; of branches only its own: others ask whether to begin a loop."""
    for key, amount in have.items():
        if key[1] != "branches" or key in own:
            left[key] = max(0.0, left[key] - iterations * amount)


def iterations_of(have: dict[Key, float], left: dict[Key, float], entries: float) -> float:
    """How often a loop turns, by the best witness that it has; entries: how often it begins."""
    for kinds in (("global", "shared"), ("functions",), ("flops",), ("branches",)):
        found = [left[key] / amount for key, amount in have.items() if key[1] in kinds]
        if kinds == ("branches",):  # a loop asks once more than it turns
            found = [max(0.0, iterations - entries) for iterations in found]
        if found:
            return median([iterations for iterations in found if iterations] or [0.0])
    return 0.0
