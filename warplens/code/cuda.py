"""assembly(): what a kernel becomes for a real GPU, compiled here, with no GPU needed.

Numba makes PTX, NVIDIA's assembler makes machine code (SASS) of it and says what each thread needs:
registers, bytes spilled to memory because the registers ran out, shared memory. It refuses what the
microscope is too kind to refuse, and double-precision instructions that crept in can be seen. With
NVIDIA's disassembler the instructions of the machine code are counted.
"""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from warplens.arguments import host_array

from .driver import compute_capability
from .linking import CannotCompile, Capability, linked
from .mix import Mix, mix_of
from .sass import Code, attributes, disassembled

LTO = {"ltoir": True}
CAPABILITIES: tuple[Capability, ...] = ((7, 5), (9, 0), (12, 0))  # Turing; Hopper; the newest
ELSEWHERE: Capability = (9, 0)  # for which kernels are compiled where there is no GPU


@dataclass(frozen=True, repr=False)
class Assembly:
    """One kernel, compiled for one compute capability."""

    kernel: str
    capability: Capability
    registers: int  # of each thread
    spills: int  # bytes each thread stores for want of registers
    local: int  # bytes off the chip for each thread's own arrays, if they found no registers
    shared: int  # bytes of each block
    ptx: str
    cubin: bytes = b""  # the machine code, as a file

    @cached_property
    def code(self) -> Code:
        """The machine code, instruction by instruction. CannotCompile without a disassembler."""
        return replace(disassembled(self.cubin), kernel=self.kernel, spills=self.spills)

    @cached_property
    def mix(self) -> Mix:
        """What the machine code is made of, and its hot loop. CannotCompile as `code`."""
        return mix_of(self.code)

    @property
    def doubles(self) -> tuple[str, ...]:
        """The double-precision instructions: many times slower on most GPUs, and rarely meant."""
        return tuple(line.strip() for line in self.ptx.splitlines() if re.search(r"\.f64\b", line))

    @property
    def instructions(self) -> tuple[str, ...]:
        """The instructions of the PTX, without labels, directives and braces."""
        lines = (line.strip() for line in self.ptx.splitlines())
        return tuple(line for line in lines if re.match(r"(@%?\w+\s+)?[a-z][\w.]*\s.*;$", line))

    @property
    def headline(self) -> str:
        major, minor = self.capability
        local = f" and {self.local} bytes of local memory" if self.local else ""
        return (
            f"{self.kernel}, compute capability {major}.{minor}: {self.registers} registers and "
            f"{self.spills} spilled bytes{local} a thread, "
            f"{self.shared} bytes of shared memory a block, "
            f"{len(self.instructions)} PTX instructions, {len(self.doubles)} in double precision"
        )

    def counted(self) -> Mix | str:
        """The mix, or the sentence that says why there is none here."""
        try:
            return self.mix
        except CannotCompile as trouble:
            return str(trouble)

    def __repr__(self) -> str:
        return f"{self.headline}\n{self.counted()}\n{self.ptx}"

    def _repr_html_(self) -> str:
        mix = self.counted()
        shown = f"<p>{escape(mix)}</p>" if isinstance(mix, str) else mix._repr_html_()
        ptx = f"<details><summary>PTX</summary><pre>{escape(self.ptx)}</pre></details>"
        return f"<p>{escape(self.headline)}</p>{shown}{ptx}"


def assembly(kernel: Any, *arguments: Any, capability: Capability | None = None) -> Assembly:
    """Compile a kernel for these arguments (arrays and numbers like those it is launched with).

    capability: the compute capability to compile for; unless given, that of this machine's GPU,
    and 9.0 where there is none. Raises CannotCompile, with a sentence, where the compiler is
    missing or refuses the kernel.
    """
    capability = capability or here()
    function = getattr(kernel, "py_func", kernel)
    ptx = ptx_of(function, types_of(arguments), capability)
    cubin, log = linked(ptx, capability)
    plain = re.sub(r"^\s*\.(loc|file)\s.*\n?", "", ptx[0], flags=re.MULTILINE)
    sizes = needed(ptx[0], cubin, log)
    return Assembly(function.__name__, capability, *sizes, plain, cubin)


def here() -> Capability:
    """The compute capability of this machine's GPU; 9.0 where there is none."""
    return compute_capability() or ELSEWHERE


def types_of(arguments: Iterable[Any]) -> tuple:
    """The types that Numba compiles a kernel for."""
    from numba import typeof

    def type_of(value: Any) -> Any:
        try:
            return typeof(getattr(value, "memory", value))
        except (TypeError, ValueError):  # PyTorch's tensors, and what is an array in other ways
            return typeof(host_array(value, "of a kernel", []))

    return tuple(map(type_of, arguments))


def ptx_of(function: Any, types: tuple, capability: Capability) -> tuple[Any, ...]:
    """The PTX of a kernel's Python function, and the code of what it calls in CUDA C++.
    CannotCompile where it cannot be had."""
    from numba import cuda

    options = {"device": False, "abi": "numba", "lineinfo": True}
    try:
        with pretended(cuda, capability), without_driver():
            numba: Any = cuda
            codes, _ = numba.compile_all(
                function, types, cc=capability, output="ptx", **options
            )
    except Exception as trouble:
        raise CannotCompile(f"{function.__name__}: {complaint(trouble)}") from trouble
    return tuple(getattr(code, "code", code) for code in codes)


def without_driver() -> Any:
    """CUDA C++ becomes LTO-IR: to make PTX of it, NVIDIA's package asks a GPU's driver."""
    from numba.cuda import compiler as module

    compiler: Any = module
    compiled = compiler.nvrtc.compile
    return patch.object(
        compiler.nvrtc, "compile", lambda *args, **options: compiled(*args, **options | LTO)
    )


def pretended(cuda: Any, capability: Capability) -> Any:
    """Device functions ask the current device for its capability: answer in its place."""
    dispatcher = sys.modules[type(cuda.jit(lambda: None)).__module__]
    device = SimpleNamespace(compute_capability=capability)
    return patch.object(dispatcher, "get_current_device", lambda: device)


def needed(ptx: str, cubin: bytes, log: str) -> tuple[int, int, int, int]:
    """(registers, bytes spilled, of local memory, of shared memory), of code, assembler and PTX."""
    entry = re.search(r"\.entry\s+([\w$]+)", ptx)
    registers = attributes(cubin, entry[1])["registers"] if entry else 0
    spills = number(r"(\d+) bytes spill stores", log)
    return registers, spills, declared("local", ptx), declared("shared", ptx)


def declared(space: str, ptx: str) -> int:
    """Bytes that the PTX declares by name: the assembler leaves them out of its report."""
    return sum(map(int, re.findall(rf"\.{space}[^;\[]*\[(\d+)\]", ptx)))


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def complaint(trouble: Exception) -> str:
    """The first line of a compiler's long complaint: it says what the rest is about."""
    text = re.sub(r"\x1b\[\d*m", "", str(trouble))  # without colors
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if not line.startswith("Failed in ")]  # a step of the compiler
    return (causes or lines or [type(trouble).__name__])[0]
