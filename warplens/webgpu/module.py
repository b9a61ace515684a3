"""A kernel for one set of kinds of arguments, as a module of WGSL.

It is translated again and again until nothing more is learned: a loop may widen what was set before
it. Each array is a root (a binding, workgroup memory or private memory) and a view; WGSL passes no
pointers into storage, so a device function is written once for each set of roots it is called with.
"""

from __future__ import annotations

import math
import re
from types import FunctionType
from typing import Any

from ..source.names import source_of
from .calls import WARP_OPS, calls_of
from .statements import Body
from .text import MAIN
from .values import (
    FULL,
    NATURAL,
    Array,
    Local,
    Refused,
    Root,
    Scalar,
    Val,
    Value,
    View,
    codes_of,
    const,
    kind_of,
)  # fmt: skip

PASSES = 16
HEAD = ["zero: u32", "blocks: i32", "grid_x: i32", "grid_y: i32", "grid_z: i32"]


class Module:
    """`text` is the WGSL; `bindings` names the buffers it takes after the parameters (and after
    the word of faults, if `faults`); `lanes` threads make a workgroup, `parts` of them a block.

    most_blocks: along no axis has the grid more. most_turns: a thread's loops may take so many
    turns in all before the driver ends them; 0 where it does not.
    """

    def __init__(self, function: FunctionType, kinds: tuple, block: tuple[int, int, int],
                 most_blocks: int = 2**31 - 1, most_turns: int = 0) -> None:  # fmt: skip
        self.function, self.kinds, self.block = function, kinds, block
        self.most_blocks, self.most_turns = most_blocks, most_turns
        self.uses: dict[FunctionType, set[str]] = {}
        used, threads = calls_of(function, self.uses), math.prod(block)
        self.warps = bool(used & WARP_OPS)
        # Without a barrier of the block, a warp may be a workgroup of its own.
        self.split = self.warps and "syncthreads" not in used
        self.lanes = min(32, threads) if self.split else threads
        if self.split and threads > 32 and threads % 32:
            raise Refused("a block that is not made of whole warps, with operations of warps",
                          source_of(function).first_line, function.__name__)  # fmt: skip
        self.parts = threads // self.lanes
        self.locals: dict[tuple, dict[str, Local]] = {}
        self.atomics: set[str] = set()
        self.returns: dict[tuple, Any] = {}
        self.parted: set[tuple] = set()  # loops that some threads leave before others
        self.callers: list[FunctionType] = []
        self.faults = False
        for self.passes in range(PASSES):
            before = self.learned()
            self.translate()
            if self.learned() == before:
                return
        raise Refused("types that never settle", source_of(function).first_line, function.__name__)

    def learned(self) -> str:
        known = sorted((repr(k), sorted((n, str(v)) for n, v in d.items()))
                       for k, d in self.locals.items())  # fmt: skip
        parted = sorted(map(repr, self.parted))
        returns = sorted(map(repr, self.returns.items()))
        return repr((known, sorted(self.atomics), returns, self.faults, parted))

    def translate(self) -> None:
        self.roots: dict[str, Root] = {}
        self.functions: dict[tuple, str] = {}
        self.written: dict[tuple, str] = {}
        self.helpers: dict[str, str] = {}
        self.params = list(HEAD)
        names = source_of(self.function).tree.args.args
        if len(names) != len(self.kinds):
            raise TypeError(f"{self.function.__name__} takes {len(names)} arguments, "
                            f"not {len(self.kinds)}")  # fmt: skip
        arguments = tuple(
            self.array(f"{name.arg}_{place}", kind) if isinstance(kind, Array)
            else self.scalar(f"{name.arg}_{place}", kind)
            for place, (name, kind) in enumerate(zip(names, self.kinds, strict=True))
        )  # fmt: skip
        self.text = self.assembled(self.instance(self.function, arguments, kernel=True), arguments)

    def scalar(self, name: str, kind: Scalar) -> Val:
        self.params.append(f"{name}: {'u32' if kind.type == 'bool' else kind.type}")
        code = f"(P.{name} != 0u)" if kind.type == "bool" else f"P.{name}"
        return Val(code, kind.type, True, span=FULL.get(kind.type, (0, 0)))

    def array(self, name: str, kind: Array) -> View:
        root = self.root(Root(f"b{kind.buffer}", kind.dtype, "storage"))
        self.params.append(f"{name}_o: i32")
        shape, strides = [], []
        for axis in range(kind.ndim):
            self.params.append(f"{name}_n{axis}: i32")
            shape.append(Val(f"P.{name}_n{axis}", "i32", True, span=NATURAL))
            if kind.contiguous and axis == kind.ndim - 1:
                strides.append(const(1))
            else:
                self.params.append(f"{name}_s{axis}: i32")
                strides.append(Val(f"P.{name}_s{axis}", "i32", True))
        return View(root, Val(f"P.{name}_o", "i32", True), tuple(shape), tuple(strides))

    def root(self, root: Root) -> Root:
        if self.roots.setdefault(root.name, root) != root:
            raise Refused(f"two arrays called {root.name} of different kinds")
        return root

    def helper(self, name: str, text: str) -> None:
        self.helpers.setdefault(name, text)

    def instance(self, function: FunctionType, arguments: tuple[Value, ...], kernel: bool = False,
                 masked: bool = False) -> str:  # fmt: skip
        """The WGSL function of a Python function for such arguments: its name."""
        key = function, tuple(map(kind_of, arguments)), masked
        if key not in self.functions:
            self.functions[key] = f"{function.__name__.strip('<>')}_{len(self.functions)}"
            self.callers.append(function)
            text = Body(self, key, arguments, kernel).text()
            self.callers.pop()
            self.written[key] = text  # after those that it calls
        return self.functions[key]

    def assembled(self, kernel: str, arguments: tuple[Value, ...]) -> str:
        lines = [f"struct Params {{ {', '.join(self.params)} }};",
                 "@group(0) @binding(0) var<uniform> P: Params;"]  # fmt: skip
        bound = "@group(0) @binding({}) var<storage, read_write> {}: array<{}>;"
        if self.faults:
            lines.append(bound.format(1, "faults", "atomic<u32>"))
        self.bindings: list[str] = []
        code = "\n".join([*self.helpers.values(), *self.written.values()])
        for root in self.roots.values():
            if not re.search(rf"\b{root.name}\b", code):
                continue  # only its shape is asked for
            held = root.stored
            if root.name in self.atomics:
                held = f"atomic<{'u32' if held == 'f32' else held}>"
            if root.space == "storage":
                place = len(self.bindings) + 1 + self.faults
                self.bindings.append(root.name)
                lines.append(bound.format(place, root.name, held))
            else:
                lines.append(f"var<{root.space}> {root.name}: array<{held}, {root.size}>;")
        codes = [each for a in arguments for each in codes_of(a)]
        main = MAIN.replace(
            "KERNEL", f"{kernel}({', '.join(['tid', 'bid', 'i32(local)', *codes])})"
        )
        sizes = {"LANES": self.lanes, "PARTS": self.parts, "SIZE_X": self.block[0],
                 "SIZE_Y": self.block[1]}  # fmt: skip
        for name, size in sizes.items():
            main = main.replace(name, str(size))
        return "\n".join([*lines, code, main]) + "\n"
