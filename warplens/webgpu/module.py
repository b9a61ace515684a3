"""A kernel for one set of kinds of arguments, as a module of WGSL.

It is translated again and again until nothing more is learned: a loop may widen what was set before
it. Each array is a root (a binding, workgroup memory or private memory) and a view; WGSL passes no
pointers into storage, so a device function is written once for each set of roots it is called with.
"""

from __future__ import annotations

import math
import re
from types import FunctionType
from typing import Any, NoReturn

from ..source.names import source_of
from .calls import WARP_OPS, calls_of
from .statements import Body
from .text import completed, filled
from .values import (
    FULL,
    NATURAL,
    NONE,
    Array,
    Local,
    Refused,
    Root,
    Scalar,
    Val,
    Value,
    View,
    const,
)

PASSES = 16
HEAD = ["zero: u32", "blocks: i32", "grid_x: i32", "grid_y: i32", "grid_z: i32"]


class Module:
    """`text` is the WGSL; `bindings` names the buffers it takes after the parameters, `faults` for
    what it finds out about itself; `lanes` threads make a workgroup, `parts` of them a block.

    most_blocks: along no axis has the grid more. most_turns: a thread's loops may take so many
    turns in all before the driver ends them; 0 where it does not.
    """

    def __init__(self, function: FunctionType, kinds: tuple, block: tuple[int, int, int],
                 most_blocks: int = 2**31 - 1, most_turns: int = 0) -> None:  # fmt: skip
        self.function, self.kinds, self.block = function, kinds, block
        self.most_blocks, self.most_turns = most_blocks, most_turns
        self.uses: dict[FunctionType, set[str]] = {}
        used, threads = calls_of(function, self.uses), math.prod(block)
        # Without a barrier of the block, a warp may be a workgroup of its own.
        self.split = bool(used & WARP_OPS) and "syncthreads" not in used
        self.lanes = min(32, threads) if self.split else threads
        if threads % self.lanes:
            self.refuse("a block that is not made of whole warps, with operations of warps")
        self.parts = threads // self.lanes
        self.locals: dict[tuple, dict[str, Local]] = {}
        self.atomics: set[str] = set()
        self.parted: set[tuple] = set()  # loops that some threads leave before others
        self.callers: list[FunctionType] = []
        learned: Any = None
        for self.passes in range(PASSES):
            self.translate()
            before, learned = learned, repr((self.locals, sorted(self.atomics),
                                             sorted(map(repr, self.parted))))  # fmt: skip
            if learned == before:
                return
        self.refuse("types that never settle")

    def refuse(self, what: str) -> NoReturn:
        raise Refused(what, source_of(self.function).first_line, self.function.__name__)

    def translate(self) -> None:
        self.roots: dict[str, Root] = {}
        self.functions: dict[tuple, str] = {}
        self.written: dict[tuple, str] = {}
        self.helpers: dict[str, str] = {}
        self.params = list(HEAD)
        arguments = tuple(self.argument(f"a{n}", kind) for n, kind in enumerate(self.kinds))
        self.text = self.assembled(self.instance(self.function, arguments, kernel=True), arguments)

    def argument(self, name: str, kind: Array | Scalar) -> Value:
        if isinstance(kind, Scalar):
            truth, held = kind.type == "bool", "u32" if kind.type == "bool" else kind.type
            code = self.parameter(name, held).code
            span = FULL.get(kind.type, NONE)
            return Val(f"({code} != 0u)" if truth else code, kind.type, True, span=span)
        root = self.root(Root(f"b{kind.buffer}", kind.dtype, "storage"))
        offset, shape, strides = self.parameter(f"{name}_o"), [], []
        for axis in range(kind.ndim):
            last = kind.contiguous and axis == kind.ndim - 1
            shape.append(self.parameter(f"{name}_n{axis}", span=NATURAL))
            strides.append(const(1) if last else self.parameter(f"{name}_s{axis}"))
        return View(root, offset, tuple(shape), tuple(strides))

    def parameter(self, name: str, kind: str = "i32", **more: Any) -> Val:
        """One of the numbers that a launch hands over."""
        self.params.append(f"{name}: {kind}")
        return Val(f"P.{name}", kind, True, **more)

    def root(self, root: Root) -> Root:
        if self.roots.setdefault(root.name, root) != root:
            raise Refused(f"two arrays called {root.name} of different kinds")
        return root

    def helper(self, name: str, text: str, **words: Any) -> None:
        """A function of WGSL that the module needs; `words` in it are replaced."""
        self.helpers.setdefault(name, filled(text, words))

    def instance(self, function: FunctionType, arguments: tuple[Value, ...],
                 kernel: bool = False) -> str:  # fmt: skip
        """The WGSL function of a Python function for such arguments: its name."""
        key = function, tuple(argument.kind for argument in arguments)
        if key not in self.functions:
            self.functions[key] = f"{function.__name__.strip('<>')}_{len(self.functions)}"
            self.callers.append(function)
            text = Body(self, key, arguments, kernel).text()
            self.callers.pop()
            self.written[key] = text  # after those that it calls
        return self.functions[key]

    def assembled(self, kernel: str, arguments: tuple[Value, ...]) -> str:
        call = f"{kernel}({', '.join(['tid', 'bid', 'i32(local)', *(a.code for a in arguments)])})"
        words = {"KERNEL": call, "LANES": self.lanes, "ROOM": -(-self.lanes // 32) * 32,
                 "PARTS": self.parts, "SIZE_X": self.block[0], "SIZE_Y": self.block[1]}  # fmt: skip
        code = completed("\n".join([*self.helpers.values(), *self.written.values()]), words)
        lines = [f"struct Params {{ {', '.join(self.params)} }};",
                 "@group(0) @binding(0) var<uniform> P: Params;"]  # fmt: skip
        self.bindings: list[str] = []
        self.shared = 0  # bytes of workgroup memory
        for root in [Root("faults", "uint32", "storage"), *self.roots.values()]:
            if not re.search(rf"\b{root.name}\b", code):
                continue  # only its shape is asked for
            held = root.stored
            if root.name in (*self.atomics, "faults"):
                held = f"atomic<{'u32' if held == 'f32' else held}>"
            if root.space == "storage":
                self.bindings.append(root.name)
                lines.append(f"@group(0) @binding({len(self.bindings)}) "
                             f"var<storage, read_write> {root.name}: array<{held}>;")  # fmt: skip
            else:
                self.shared += 4 * root.size * (root.space == "workgroup")
                lines.append(f"var<{root.space}> {root.name}: array<{held}, {root.size}>;")
        return "\n".join([*lines, code]) + "\n"
