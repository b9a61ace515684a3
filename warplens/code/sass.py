"""SASS, a GPU's machine code: what NVIDIA's assembler makes of a kernel, read and taken apart.

    machine_code(ptx, (8, 6)).instructions[0]
    disassembled(cubin)        # the same for a file that another compiler wrote

PTX is still a language for all GPUs. The machine code is for one: the assembler has given out the
registers, unrolled loops and joined loads. NVIDIA's nvdisasm writes it as text, with the line of
the source that each instruction comes from.
"""

import os
import re
import shutil
import struct
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from . import pipes
from .linking import CannotCompile, Capability, linked
from .operands import flow

NO_DISASSEMBLER = (
    "Machine code is read with NVIDIA's nvdisasm (no GPU needed; there is none for a Mac): "
    "pip install nvidia-cuda-nvdisasm."
)
TOOLKITS = ("CUDA_HOME", "CUDA_PATH")  # where NVIDIA's installers say they put one,
INSTALLED = "/usr/local/cuda/bin"  # or put it unasked: few have it on their path
SECTION = re.compile(r"^//-+ \.text\.(\S+) +-+$", re.MULTILINE)
LABEL = re.compile(r"^(?!\.text\.)([.$\w]+):$")
JUMPS = ("BRA", "CALL", "JMP", "BSSY")
LINE = re.compile(r'//## File "(.*?)", line (\d+)')
CODE = re.compile(r"/\*([0-9a-f]+)\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
GOAL = re.compile(r"`\(([.$\w]+)\)")
REGISTERS, FRAME = 0x2F, 0x11  # what a cubin's table of attributes calls them
RESERVED = 1024  # bytes of shared memory that the driver keeps; on some GPUs the cubin counts them


@dataclass(frozen=True)
class Instruction:
    """One machine instruction, and the line of the source that it comes from."""

    address: int  # bytes from the kernel's first instruction
    opcode: str  # with its modifiers: LDG.E.128.CONSTANT
    predicate: str  # "@!P0": only the threads in which P0 is false; "" where all take part
    operands: str
    file: str
    line: int | None  # in `file`, of the innermost function if functions were inlined
    kernel_line: int | None  # of the kernel's own source: where it called that function
    function: str  # "" in the kernel itself, else the name of a function that it calls
    reads: tuple[str, ...]  # registers: R4, UR4, P0; each of 32 bits
    writes: tuple[str, ...]
    target: int | None  # the address that a branch or a call leads to

    @property
    def pipe(self) -> str:
        """The unit that carries it out: "fp32", "imad", "alu", "load/store", …"""
        return pipes.pipe_of(self.opcode)

    @property
    def space(self) -> str:
        """The memory that it uses: "global", "shared", "local", "constant", or ""."""
        return pipes.space_of(self.opcode)

    @property
    def access(self) -> str:
        """What it does there: "read", "write", "atomic", or ""."""
        return pipes.access_of(self.opcode)

    @property
    def bytes(self) -> int:
        """And how much of it, for each thread."""
        return pipes.bytes_of(self.opcode)

    def __str__(self) -> str:
        return " ".join(filter(None, (self.predicate, self.opcode, self.operands)))


@dataclass(frozen=True)
class Loop:
    """A loop of machine code: places in `Code.instructions`, both included."""

    first: int
    last: int
    depth: int  # 1 for a loop that no other holds


@dataclass(frozen=True, repr=False)
class Code:
    """A kernel's machine code for one compute capability, in the order of addresses.

    A function that the linker added, such as a division of long integers, is no part of it.
    """

    kernel: str
    capability: Capability
    instructions: tuple[Instruction, ...]
    labels: dict[str, int]  # name → address
    registers: int  # of each thread
    spills: int | None  # bytes each thread stores for want of registers; None: nobody said
    local: int  # bytes off the chip for each thread: arrays without registers, and spills
    shared: int  # bytes of each block that the kernel declares

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loops, outer before inner."""
        spans = sorted(loop_spans(self.instructions), key=lambda span: (span[0], -span[1]))
        return tuple(
            Loop(a, b, sum(first <= a and b <= last for first, last in spans)) for a, b in spans
        )

    def __repr__(self) -> str:
        return f"{self.kernel}, {len(self.instructions)} instructions\n" + "\n".join(
            f"  {one.address:04x}  {one}" for one in self.instructions
        )


def machine_code(ptx: str | Sequence[str | bytes], capability: Capability) -> Code:
    """The machine code of the kernel in this PTX. CannotCompile where it cannot be had."""
    cubin, log = linked(ptx, capability)
    return disassembled(cubin, log=log)


def disassembled(cubin: bytes, function: str | None = None, log: str = "") -> Code:
    """The machine code of a cubin's kernel; where it holds several, of the one named.

    What a thread spills, only the assembler's log says (`-Xptxas=-v`).
    """
    text = listing(cubin)
    starts = [(found[1], found.end()) for found in SECTION.finditer(text)]
    sections = {
        name: text[start:end]
        for (name, start), end in zip(starts, [s for _, s in starts[1:]] + [len(text)], strict=True)
    }
    kernels = [name for name, body in sections.items() if "STO_CUDA_ENTRY" in body]
    chosen = [name for name in kernels if function in (None, name)]
    if len(chosen) != 1:
        there = ", ".join(kernels) or "none"
        asked = f"No kernel is called {function!r}" if function else "Say which kernel"
        raise ValueError(f"{asked}: this machine code holds {there}.")
    (kernel,) = chosen
    instructions, labels = read(sections[kernel])
    major, minor = divmod(int(number(r"\.target\s+sm_(\d+)", text)), 10)
    sizes = attributes(cubin, kernel)
    spills = int(number(r"(\d+) bytes spill stores", log)) if log else None
    return Code(kernel, (major, minor), instructions, labels, spills=spills, **sizes)


def listing(cubin: bytes) -> str:
    """What nvdisasm writes about it: instructions, labels, and each one's line of the source."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        done = subprocess.run(
            [disassembler(), "-c", "-gi", path], capture_output=True, encoding="utf-8", check=False
        )
    if done.returncode:
        raise CannotCompile(f"nvdisasm refused this machine code: {done.stderr.strip()}")
    return done.stdout


def disassembler() -> str:
    """Where nvdisasm is: in NVIDIA's wheel, on the path, or in a CUDA toolkit beside it.

    CannotCompile where it is not.
    """
    name = "nvdisasm.exe" if os.name == "nt" else "nvdisasm"
    places = {sysconfig.get_path("platlib"), sysconfig.get_path("purelib")}
    for place in sorted(places):
        for wheel in sorted(Path(place, "nvidia").glob(f"*/bin/**/{name}")):
            return str(wheel)
    toolkits = [os.environ.get(variable, "") for variable in TOOLKITS]
    path = [os.environ.get("PATH", ""), *(str(Path(t, "bin")) for t in toolkits if t), INSTALLED]
    found = shutil.which(name, path=os.pathsep.join(path))
    if found is None:
        raise CannotCompile(NO_DISASSEMBLER)
    return found


def read(section: str) -> tuple[tuple[Instruction, ...], dict[str, int]]:
    """The instructions of a listing, and the address of each label."""
    rows: list[tuple[Any, ...]] = []
    labels: dict[str, int] = {}
    waiting: list[str] = []
    chain: list[tuple[str, int]] = []  # from the innermost function's line to the kernel's
    function, fresh = "", True
    for text in map(str.strip, section.splitlines()):
        if label := LABEL.match(text):
            waiting.append(label[1])
            if not label[1].startswith("."):
                function = label[1] if rows else ""
        elif place := LINE.match(text):
            chain = [*([] if fresh else chain), (place[1], int(place[2]))]
            fresh = False
        elif found := CODE.match(text):
            fresh = True
            address = int(found[1], 16)
            labels |= dict.fromkeys(waiting, address)
            waiting = []
            rows.append((address, *found.groups("")[1:], tuple(chain), function))
    home = rows[0][4][-1][0] if rows and rows[0][4] else ""
    return tuple(instruction(row, home, labels) for row in rows), labels


def instruction(row: tuple, home: str, labels: dict[str, int]) -> Instruction:
    """An Instruction from what `read` found; `home` is the kernel's own file."""
    address, predicate, opcode, operands, chain, function = row
    (file, line), (outer, kernel_line) = (chain[0], chain[-1]) if chain else (("", None),) * 2
    reads, writes = flow(opcode, operands)
    guard = predicate.lstrip("@!")
    goal = GOAL.search(operands) if opcode.split(".")[0] in JUMPS else None
    return Instruction(
        address=address,
        opcode=opcode,
        predicate=predicate,
        operands=operands,
        file=file,
        line=line,
        kernel_line=kernel_line if outer == home and not function else None,
        function=function,
        reads=tuple(dict.fromkeys([guard, *reads] if guard[-1:].isdigit() else reads)),
        writes=writes,
        target=labels.get(goal[1]) if goal else None,
    )


def loop_spans(instructions: tuple[Instruction, ...]) -> list[tuple[int, int]]:
    """(first, last) of each loop: a jump back to where every way to that jump has come through.

    Code put after the end for the rare case jumps back, too, and is no loop. Two that overlap are
    one: on Turing the last lanes of a loop may wait for the others in a little loop at its end.
    """
    where = {one.address: place for place, one in enumerate(instructions)}
    ways = [list(followers(instructions, place, where)) for place in range(len(instructions))]
    spans: dict[int, int] = {}
    for place, one in enumerate(instructions):
        if one.target is None or one.opcode.split(".")[0] != "BRA" or one.target not in where:
            continue
        head = where[one.target]
        if head < place and not reaches(ways, one, place, avoiding=head):
            spans[head] = max(place, spans.get(head, 0))
    apart: list[tuple[int, int]] = []
    for first, last in sorted(spans.items()):
        while astride := [span for span in apart if span[0] < first <= span[1] < last]:
            apart.remove(astride[0])
            first = astride[0][0]
        apart.append((first, last))
    return apart


def reaches(ways: list[list[int]], one: Instruction, goal: int, avoiding: int) -> bool:
    """Is there a way from the kernel's begin to this place that does not come through another?"""
    if avoiding == 0:
        return False
    seen, open_ = {0}, [0]
    while open_:
        for follower in ways[open_.pop()]:
            if follower != avoiding and follower not in seen:
                seen.add(follower)
                open_.append(follower)
    return goal in seen


def followers(instructions: Any, place: int, where: dict[int, int]) -> Iterator[int]:
    """The places at which a thread may go on."""
    one = instructions[place]
    base = one.opcode.split(".")[0]
    if base in ("BRA", "JMP") and one.target in where:
        yield where[one.target]
    bare = not one.predicate and not re.sub(r"`\([^)]*\)", "", one.operands).strip(" ,")
    ends = base in ("RET", "BRX", "JMX") or (base in ("BRA", "JMP", "EXIT") and bare)
    if not ends and place + 1 < len(instructions):
        yield place + 1


def attributes(cubin: bytes, kernel: str) -> dict[str, int]:
    """Registers, stack (local memory) and shared memory, as the cubin (an ELF file) tells them.

    The registers are those that a launch takes: also the ones of a function that the kernel calls,
    such as a division, where the assembler's log speaks of the kernel alone.
    """
    sections = elf_sections(cubin)
    found = {}
    for section, (content, _) in sections.items():
        if section == ".nv.info":
            place = 0
            while place + 4 <= len(content):
                form, kind, size = struct.unpack_from("<BBH", content, place)
                place += 4
                if form == 4:
                    if kind in (REGISTERS, FRAME):
                        symbol, value = struct.unpack_from("<II", content, place)
                        if symbol_name(sections, symbol) == kernel:
                            found[kind] = value
                    place += size
    shared = sections.get(f".nv.shared.{kernel}", (b"", 0))[1]
    if shared and b".nv.reservedSmem.offset0" in cubin:
        shared -= RESERVED
    return {"registers": found.get(REGISTERS, 0), "local": found.get(FRAME, 0), "shared": shared}


def elf_sections(data: bytes) -> dict[str, tuple[bytes, int]]:
    """name → (content, bytes in memory): some sections take memory but no room in the file."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", data, table + n * size) for n in range(count)]
    start = rows[names][4]
    made = {}
    for name, kind, _, _, offset, length in rows:
        text = data[start + name : data.index(b"\0", start + name)].decode()
        made[text] = (data[offset : offset + length] if kind != 8 else b"", length)
    return made


def symbol_name(sections: dict[str, tuple[bytes, int]], index: int) -> str:
    (start,) = struct.unpack_from("<I", sections[".symtab"][0], index * 24)
    names = sections[".strtab"][0]
    return names[start : names.index(b"\0", start)].decode()


def number(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else "0"
