"""Calls in a kernel as WGSL: numba.cuda's names, mathematics, conversions, device functions."""

from __future__ import annotations

import ast
import math
from collections.abc import Hashable
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from ..lanes.memory import contiguous
from ..signatures import signatures_of
from ..source.names import (
    MISSING,
    Cuda,
    Names,
    array_given,
    dtype_named,
    python_function,
    source_of,
)
from . import text
from .expressions import Expressions
from .numbers import DOUBLE
from .values import STORED, Root, Val, Value, View, const, parts_of, val
from .writer import RESULT

NAMED = """exp sqrt log log2 sin cos tan asin acos atan sinh cosh tanh floor ceil pow atan2 log1p
    expm1 fabs isnan isinf"""
MATHS = {getattr(math, name): name for name in NAMED.split()}
MATHS |= {getattr(np, name): name for name in ("exp", "sqrt", "log", "tanh", "sin", "cos")}
PYTHONS = {int: np.int64, bool: np.bool_, float: np.float64}  # what Numba takes them for
SHUFFLES, VOTES = set(text.SOURCES), set(text.VOTES)
WARP_OPS = SHUFFLES | VOTES | {"syncwarp"}
BARRIERS = WARP_OPS | {"syncthreads"}
NOTHING = Val("", "void")


def device_function(target: Any) -> FunctionType | None:
    if isinstance(target, FunctionType):
        return getattr(target, "py_func", target)
    return None if target is MISSING else python_function(target)


def stands_for_four(target: Any) -> str:
    """ "load4" or "store4", an intrinsic that moves four neighbours at once, else ""."""
    name = getattr(target, "__name__", "") or getattr(target, "_name", "")
    return name if name in ("load4", "store4") and hasattr(target, "traced") else ""


def calls_of(function: FunctionType, memo: dict[FunctionType, set[str]]) -> set[str]:
    """The names of numba.cuda that a function calls, and the functions that it calls."""
    if function not in memo:
        memo[function] = found = set()
        tree = source_of(function).tree
        found |= calls_in(tree.body, Names(function, tree), memo)
    return memo[function]


def calls_in(nodes: list, names: Names, memo: dict[FunctionType, set[str]]) -> set[str]:
    found: set[str] = set()
    for node in (n for each in nodes for n in ast.walk(each) if isinstance(n, ast.Call)):
        target = names.resolve(node.func)
        if isinstance(target, Cuda):
            found.add(target.name)
        elif (inner := device_function(target)) is not None and not stands_for_four(target):
            found |= calls_of(inner, memo)
    return found


class Calls(Expressions):
    def call(self, node: ast.Call) -> Value:
        target = self.names.resolve(node.func)
        if isinstance(target, Cuda) and target.name in ("shared.array", "local.array"):
            return self.own_array(target.name, node)
        if target is MISSING or node.keywords:
            self.refuse(f"`{ast.unparse(node)}`")
        arguments = self.values(node.args)
        if isinstance(target, Cuda):
            return self.cuda_call(target.name, arguments)
        known = isinstance(target, Hashable)
        dtype = np.dtype(PYTHONS[target]) if known and target in PYTHONS else dtype_named(target)
        if dtype is not None:
            return self.converted(arguments[0], dtype)
        if target is len and isinstance(arguments[0], (View, tuple)):
            found = arguments[0]
            return found.shape[0] if isinstance(found, View) else const(len(found))
        if target is abs:
            return self.absolute(arguments[0])
        if target in (min, max):
            return self.extreme(target, arguments)
        if known and target in MATHS:
            return self.maths(MATHS[target], arguments)
        if four := stands_for_four(target):
            return self.four(four, *arguments)
        return self.call_device(target, arguments)

    def converted(self, given: Value, dtype: np.dtype) -> Val:
        """float32(x), int64(x), …: as Numba converts."""
        value, kind = self.plain(given), STORED.get(dtype.name, "")
        if not kind:
            self.refuse(DOUBLE if dtype == np.float64 else f"{dtype}, which WGSL has not")
        if value.type == "f64" or (value.weak and kind == "f32"):
            if kind != "f32":
                self.refuse(DOUBLE)
            return const(np.float32(value.const))
        if dtype == np.bool_:
            return self.truth(value)
        if kind == "f32" or value.type == "bool":
            return self.cast(value, kind)
        if value.type == "f32":
            return self.truncated(value, dtype)
        lower = self.modular if dtype.itemsize < 8 else self.cast
        return replace(lower(value, kind), weak=False)

    def truncated(self, value: Val, dtype: np.dtype) -> Val:
        """A float as an integer; of 64 bits only if 32 hold it."""
        value, kind = self.temporary(value), STORED[dtype.name]
        if dtype.itemsize == 8:
            self.check_wide(value.code)
        return val(f"{kind}({value.code})", kind, value)

    def absolute(self, given: Value) -> Val:
        value = self.settled(self.plain(given))
        if value.type not in ("f32", "i32"):
            self.refuse("abs of anything but a float32 or an int32: write int32(…)")
        span, exact = (0, max(map(abs, value.span))), f"abs(f32({value.code}))"
        return val(f"abs({value.code})", value.type, value, span=span, exact=exact)

    def extreme(self, pick: Any, arguments: list) -> Val:
        first, *rest = parts_of(arguments[0]) if len(arguments) == 1 else arguments
        first = self.plain(first)
        for other in rest:
            a, b = self.comparable(first, self.plain(other))
            span = pick(a.span[0], b.span[0]), pick(a.span[1], b.span[1])
            first = val(f"{pick.__name__}({a.code}, {b.code})", a.type, a, b, span=span)
        return first

    def maths(self, name: str, arguments: list) -> Val:
        values = [self.plain(a) for a in arguments]
        for value in values:
            if value.type != "f32" and not (value.weak and len(values) > 1):
                self.refuse(f"{name} of an integer or a Python float is float64: write float32(…)")
        values = [self.cast(v, "f32") for v in values]
        function = "abs" if name == "fabs" else name
        function = f"math_{name}" if f"math_{name}" in text.PIECES else function
        code = f"{function}({', '.join(v.code for v in values)})"
        if name in ("floor", "ceil"):  # which are integers of 64 bits
            return self.truncated(val(code, "f32", *values), np.dtype(np.int64))
        return val(code, "bool" if name in ("isnan", "isinf") else "f32", *values)

    def call_device(self, target: Any, arguments: list) -> Value:
        function = device_function(target)
        if function is None:
            name = getattr(target, "__name__", repr(target))
            self.refuse(f"{name}, which stands for instructions of NVIDIA's GPUs")
        if signatures_of(target):
            self.refuse(f"{function.__name__}, a device function with a signature of its own")
        if function in self.module.callers:
            self.refuse(f"{function.__name__}, which calls itself")
        given = tuple(a if isinstance(a, View) else self.settled(self.plain(a)) for a in arguments)
        if any(isinstance(value, Val) and value.type == "f64" for value in given):
            self.refuse(DOUBLE)
        name = self.module.instance(function, given)
        result = self.module.locals[function, tuple(a.kind for a in given)].get(RESULT)
        code = f"{name}({', '.join(['tid', 'bid', 'lin', *(a.code for a in given)])})"
        if result is None:
            self.emit(f"{code};")
            return NOTHING
        got = self.let(code)
        known = enumerate(zip(result.kinds, result.spans, strict=True))
        values = tuple(Val(f"{got}.e{n}", kind, span=span) for n, (kind, span) in known)
        return values[0] if result.form is None else values

    def own_array(self, name: str, node: ast.Call) -> View:
        """cuda.shared.array or cuda.local.array."""
        given = array_given(node)
        shape = parts_of(self.value(given["shape"]))
        dtype = dtype_named(self.names.resolve(given["dtype"]))
        if dtype is None or dtype.name not in STORED:
            self.refuse(f"an array of {dtype}, which WGSL has not")
        if any(n.const is None for n in shape):
            self.refuse("an array whose shape is not known when the kernel is translated")
        sizes = [int(n.const) for n in shape]
        if math.prod(sizes) == 0:
            self.refuse("an array that has its size from the launch")
        # Workgroup memory belongs to a line of Python, private memory to a function's instance.
        space, owner = "private", self.module.functions[self.key]
        if name == "shared.array":
            space, owner = "workgroup", self.function.__name__
        place = f"{space[0]}_{owner}_{node.lineno}_{node.col_offset}"
        root = self.module.root(Root(place, dtype.name, space, math.prod(sizes)))
        return View(root, const(0), shape, tuple(map(const, contiguous(tuple(sizes)))))

    # Names of numba.cuda

    def cuda_call(self, name: str, arguments: list) -> Value:
        if name in ("syncthreads", "syncwarp"):
            self.emit("workgroupBarrier(); storageBarrier();")
            return NOTHING
        if name in ("grid", "gridsize"):
            found = tuple(self.along(name, axis) for axis in "xyz"[: arguments[0].const])
            return found[0] if len(found) == 1 else found
        if name in SHUFFLES | VOTES:
            return self.exchanged(name, arguments)
        if name.startswith("atomic."):
            return self.atomic(name[7:], *arguments)
        if name in text.BITS:
            return self.bits(name, self.settled(self.plain(arguments[0])))
        self.refuse(f"cuda.{name}")

    def along(self, name: str, axis: str) -> Val:
        """A thread's place in the grid along an axis, or how many threads there are."""
        size = self.module.block["xyz".index(axis)]
        most = min(self.module.most_blocks * size, 2**31 - 1)  # a launch sees to that
        if name == "grid":
            return Val(f"(bid.{axis} * {size} + tid.{axis})", "i32", span=(0, most))
        return Val(f"(P.grid_{axis} * {size})", "i32", True, span=(1, most))

    def bits(self, name: str, value: Val) -> Val:
        if value.type not in ("i32", "u32"):
            self.refuse(f"cuda.{name} of anything but an integer")
        if not value.low:
            self.refuse(f"cuda.{name} of a signed integer, which has 64 bits in Numba: write "
                        "uint32(…)")  # fmt: skip
        kind = "i32" if name == "ffs" else value.type
        return val(text.BITS[name].replace("X", value.code), kind, value, span=(0, 32))

    def exchanged(self, name: str, arguments: list) -> Val:
        """A shuffle or a vote, in which all lanes of the warp take part."""
        mask, value = self.plain(arguments[0]), self.settled(self.plain(arguments[1]))
        if mask.const not in (0xFFFFFFFF, -1) or len(arguments) != 2 + (name in SHUFFLES):
            self.refuse(f"cuda.{name} of a part of a warp")
        if name in VOTES:
            kind = "u32" if name == "ballot_sync" else "bool"
            code = text.VOTES[name].replace("MINE", self.truth(value).code)
            return val(self.let(code), kind, uniform=False)
        if value.type not in ("f32", "i32", "u32"):
            self.refuse(f"cuda.{name} of a {value.type}")
        step = self.temporary(self.modular(arguments[2], "i32"))
        if name in ("shfl_up_sync", "shfl_down_sync") and not step.low:
            step = replace(step, code=f"abs({step.code} & 63)")
        source = text.SOURCES[name].replace("STEP", step.code)
        got = self.let(f"bitcast<{value.type}>(shuffle(lin, bitcast<u32>({value.code}), {source}))")
        return Val(got, value.type, span=value.span)

    def atomic(self, name: str, view: Value, index: Value, *values: Value) -> Val:
        view, at = self.indexed(view, index)
        root = view.root
        if at is None or root.dtype not in ("float32", "int32", "uint32", "int64"):
            self.refuse(f"atomic.{name} on {root.dtype}")
        if len(values) != 1:
            self.refuse(f"atomic.{name} with {len(values) + 2} arguments")
        self.module.atomics.add(root.name)
        narrow = self.cast if root.dtype in ("float32", "int64") else self.modular
        code = narrow(values[0], root.type).code
        got = self.let(f"{self.changing(name, root, at)}, {code})")
        if root.dtype == "int64" and name in ("add", "sub"):
            self.check_wide(f"f32({got}) {'+' if name == 'add' else '-'} f32({code})")
        return Val(got, root.type, span=root.span)

    def changing(self, name: str, root: Root, at: Val) -> str:
        """How an atomic operation begins: WGSL's own, or a loop of compare and exchange."""
        changes: dict[str, str] = text.FLOAT_CHANGES if root.type == "f32" else text.ATOMICS
        if name not in changes:
            self.refuse(f"atomic.{name} on {root.dtype}")
        if root.type != "f32":
            return f"atomic{changes[name]}(&{root.name}[{at.code}]"
        helper = f"atomic_{name}_{root.name}"
        self.module.helper(helper, text.FLOAT_ATOMIC, NAME=helper, ROOT=root.name,
                           CHANGE=changes[name])  # fmt: skip
        return f"{helper}({at.code}"

    def four(self, what: str, view: Value, index: Value, *values: Value) -> Value:
        """Four neighbours: here four accesses."""
        view, at = self.indexed(view, index)
        if at is None:
            self.refuse("four neighbours of a part of an array")
        at = self.temporary(at)
        places = [Val(f"{at.code} + {n}", "i32") for n in range(4)]
        if what == "load4":
            return tuple(self.load(view, place) for place in places)
        for place, value in zip(places, parts_of(values[0]), strict=True):
            self.store(view, place, value)
        return NOTHING
