"""Which registers an instruction reads and writes: its operands, and how wide each of them is.

A value of 64 bits takes two registers of 32 and is written as the first: [R2.64] reads R2 and R3.
R is a thread's own register, UR one that the warp shares, P and UP are truth values. RZ, URZ, PT
and UPT are no registers: they are always zero, and always true. The registers of a matrix are left
out: nothing is modelled of tensor cores.
"""

import re

from .pipes import bytes_of, pipe_of, space_of

NAME = re.compile(r"(?<![\w.])(UR|R|UP|P)(\d+)\b(\.64|\.U32)?")
TRUTHS = re.compile(r"U?P(\d+|T|R)")
# Nothing is written but memory, a barrier, or where to go on.
SILENT = re.compile(
    r"(ST[GSLA]?|STSM|STAS|RED[GA]?S?|LDGSTS|BAR|EXIT|BRA|BRX|BRXU|JMP|JMX|CALL|RET|BSSY|BSYNC|BREAK|"
    r"BMOV|NOP|WARPSYNC|YIELD|NANOSLEEP|DEPBAR|MEMBAR|ERRBAR|KILL|BPT|CCTLL?|LDGDEPBAR|RPCMOV|FENCE)$"
)
SHAPE = re.compile(r"\.(16|8)x?8x?(\d+)\b")  # 1688, 16816, 8816, 8x8x4


def flow(opcode: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(registers read, registers written), each once, in the order in which they are named."""
    operands = [one.strip() for one in re.split(r",(?![^\[]*\])", text) if one.strip()]
    base = opcode.split(".")[0]
    results = [] if SILENT.match(base) else operands[: results_of(base, operands)]
    sources = operands[len(results) :]
    wide, widths = result_width(opcode), source_widths(opcode, sources)
    written = [name for one in results for name in registers(one, wide)]
    read = [
        name
        for one, width in zip(sources, widths, strict=True)
        for name in (addressed(opcode, one) if "[" in one else registers(one, width))
    ]
    if "PR" in operands:  # all truth values at once
        (written if base == "R2P" else read).extend(f"P{n}" for n in range(7))
    return tuple(dict.fromkeys(read)), tuple(dict.fromkeys(written))


def results_of(base: str, operands: list[str]) -> int:
    """How many of the operands are results: truth values first, then a register, then carries."""
    truths = 0
    while truths < len(operands) and TRUTHS.fullmatch(operands[truths]):
        truths += 1
    if base.lstrip("U").endswith(("SETP", "SETP2", "PLOP3")):
        return min(truths, 2)
    if base in ("FCHK", "R2P") or (base in ("VOTE", "VOTEU") and truths):
        return min(truths, 1)
    count = truths + 1
    if base in ("VOTE", "VOTEU"):
        return min(count + 1, len(operands))
    while count < len(operands) and TRUTHS.fullmatch(operands[count]) and base != "P2R":
        count += 1
    return min(count, len(operands))


def registers(operand: str, width: int = 1) -> list[str]:
    """The registers of an operand that takes so many of them; a truth value takes one."""
    return [
        f"{kind}{int(first) + n}"
        for kind, first, _ in NAME.findall(operand)
        for n in range(1 if "P" in kind else width)
    ]


def addressed(opcode: str, operand: str) -> list[str]:
    """The registers of an address: those of global memory have 64 bits, in a pair of registers."""
    base = opcode.split(".")[0]
    far = space_of(opcode) == "global" and base != "LDGSTS" and not operand.startswith("c")
    names = []
    for kind, first, form in NAME.findall(operand):
        pair = form == ".64" or (far and form != ".U32") or operand.startswith(("desc", "cx"))
        if operand.startswith("desc") and kind == "R" and form != ".64":
            pair = False
        names += [f"{kind}{int(first) + n}" for n in range(1 + pair)]
    return names


def result_width(opcode: str) -> int:
    """Registers that a result takes."""
    base, *modifiers = opcode.split(".")
    if space_of(opcode) or base in ("MOVM",):
        return max(1, bytes_of(opcode) // 4)
    if base in ("F2F", "I2F", "F2I", "FRND"):  # the type of the result comes first
        return 2 if modifiers and modifiers[0] in CONVERTED[base] else 1
    if base == "CS2R":
        return 1 if "32" in modifiers else 2
    return 2 if wide(base, modifiers) or "WIDE" in modifiers else 1


CONVERTED = {"F2F": ("F64",), "I2F": ("F64",), "F2I": ("S64", "U64"), "FRND": ("F64",)}


def wide(base: str, modifiers: list[str]) -> bool:
    """Does it compute with numbers of 64 bits throughout?"""
    doubles = base in ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "FADD2", "FMUL2", "FFMA2")
    shifts = base in ("SHF", "USHF")  # they take the halves of a long number one by one
    return doubles or (not shifts and not {"64", "S64", "U64"}.isdisjoint(modifiers))


def source_widths(opcode: str, sources: list[str]) -> list[int]:
    """Registers that each source takes."""
    base, *modifiers = opcode.split(".")
    if space_of(opcode):
        return [max(1, bytes_of(opcode) // 4)] * len(sources)
    if base in ("F2F", "I2F", "F2I", "FRND"):
        given = {"F2F": modifiers[1:], "I2F": modifiers, "F2I": modifiers, "FRND": modifiers}[base]
        long = {"F2F": {"F64"}, "I2F": {"S64", "U64"}, "F2I": {"F64"}, "FRND": {"F64"}}[base]
        return [1 if long.isdisjoint(given) else 2] * len(sources)
    if wide(base, modifiers):
        return [2] * len(sources)
    if "WIDE" in modifiers or (base == "IMAD" and "HI" in modifiers):  # a × b + a number of 64 bits
        return [2 if place == 2 else 1 for place in range(len(sources))]
    return [1] * len(sources)


def multiply_adds(opcode: str) -> int:
    """Multiply-adds that one thread does with this instruction, indices left out."""
    base = opcode.split(".")[0]
    if pipe_of(opcode) == "tensor":
        found = SHAPE.search(opcode)  # m × 8 of m × k and k × 8
        return int(found[1]) * 8 * int(found[2]) // 32 if found else 0
    return {"FFMA": 1, "DFMA": 1, "FFMA2": 2}.get(base, 0)
