"""Calls in a kernel as WGSL: numba.cuda's names, mathematics, conversions, device functions."""

from __future__ import annotations

import ast
import math
from collections.abc import Hashable
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from ..signatures import signatures_of
from ..source.names import MISSING, Cuda, Names, dtype_named, python_function, source_of
from . import text
from .expressions import DOUBLE, Expressions
from .values import FULL, STORED, Val, Value, View, codes_of, const, kind_of, val

NAMED = """exp sqrt log log2 sin cos tan asin acos atan sinh cosh tanh floor ceil pow atan2 log1p
    expm1 fabs isnan isinf"""
MATHS = {getattr(math, name): name for name in NAMED.split()}
MATHS |= {getattr(np, name): name for name in ("exp", "sqrt", "log", "tanh", "sin", "cos")}
INTEGERS = {"popc": "countOneBits", "clz": "countLeadingZeros", "brev": "reverseBits"}
SHUFFLES, VOTES = set(text.SOURCES), set(text.VOTES)
WARP_OPS = SHUFFLES | VOTES | {"syncwarp"}
BARRIERS = WARP_OPS | {"syncthreads"}
NOTHING = Val("", "void")
VARYING = Val("", "i32")  # it may differ from thread to thread


def device_function(target: Any) -> FunctionType | None:
    if isinstance(target, FunctionType):
        return getattr(target, "py_func", target)
    return None if target is MISSING else python_function(target)


def stands_for_four(target: Any) -> str:
    """ "load" or "store" for an intrinsic that moves four neighbours at once, else ""."""
    name = getattr(target, "__name__", "") or getattr(target, "_name", "")
    return {"load4": "load", "store4": "store"}.get(name, "") if hasattr(target, "traced") else ""


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
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(f"`{ast.unparse(node)}`: arguments by name")
        if isinstance(target, Cuda):
            return self.cuda_call(target.name, node)
        if target is MISSING:
            self.refuse(f"`{ast.unparse(node)}`")
        arguments = self.values(node.args)
        dtype = None if isinstance(target, FunctionType) else dtype_named(target)
        if dtype is not None:
            return self.converted(arguments[0], dtype)
        if target in (int, bool, float):
            kinds = {int: np.int64, bool: np.bool_, float: np.float64}
            return self.converted(arguments[0], np.dtype(kinds[target]))
        if target is len and isinstance(arguments[0], (View, tuple)):
            found = arguments[0]
            return found.shape[0] if isinstance(found, View) else const(len(found))
        if target in (min, max, abs):
            return self.extreme(target.__name__, arguments)
        if isinstance(target, Hashable) and target in MATHS:
            return self.maths(MATHS[target], arguments)
        if four := stands_for_four(target):
            return self.four(four, arguments)
        inner = device_function(target)
        if inner is None:
            name = getattr(target, "__name__", repr(target))
            self.refuse(f"{name}, which stands for instructions of NVIDIA's GPUs")
        if signatures_of(target):
            self.refuse(f"{inner.__name__}, a device function with a signature of its own")
        return self.call_device(inner, arguments)

    def converted(self, given: Value, dtype: np.dtype) -> Val:
        """float32(x), int64(x), …: as Numba converts."""
        value = self.plain(given)
        if dtype.name not in STORED:
            self.refuse(DOUBLE if dtype == np.float64 else f"{dtype}, which WGSL has not")
        if value.type == "f64" or (value.weak and dtype == np.float32):
            if dtype != np.float32:
                self.refuse(DOUBLE)
            return const(np.float32(value.const))
        if dtype == np.bool_:
            return self.truth(value)
        kind = STORED[dtype.name]
        if kind == "f32" or value.type == "bool":
            return self.cast(value, kind)
        if value.type == "f32":
            return self.truncated(value, dtype)
        if dtype.itemsize == 8:
            value = self.cast(value, kind)
            if dtype == np.uint64 and not value.low:
                self.refuse("an integer that may be negative, as uint64")
            return replace(value, weak=False)
        value = self.modular(value, kind)
        bits = 32 - 8 * dtype.itemsize
        if bits:
            value = self.at_run_time(value)
            info = np.iinfo(dtype)
            code, span = f"(({value.code} << {bits}u) >> {bits}u)", (int(info.min), int(info.max))
            return val(code, kind, value, span=span)
        return replace(value, weak=False)

    def truncated(self, value: Val, dtype: np.dtype) -> Val:
        """A float as an integer; of 64 bits only if 32 hold it."""
        kind = STORED[dtype.name]
        value = self.temporary(value)
        if dtype.itemsize == 8:
            self.emit(f"if (abs({value.code}) >= 2147400000.0) {{ {self.fault('wide')} }}")
        if dtype.itemsize < 4:
            self.refuse(f"a float as {dtype}: write {dtype}(int32(…))")
        return val(f"{kind}({value.code})", kind, value)

    def extreme(self, name: str, arguments: list) -> Val:
        if name == "abs":
            value = self.settled(self.plain(arguments[0]))
            if value.type not in ("f32", "i32") or value.narrow:
                self.refuse("abs of anything but a float32 or an int32: write int32(…)")
            most = max(map(abs, value.span))
            made = val(f"abs({value.code})", value.type, value, span=(0, most))
            return replace(made, exact=f"abs(f32({value.code}))")
        first, *rest = arguments[0] if isinstance(arguments[0], tuple) else arguments
        for other in rest:
            a, b = self.comparable(self.plain(first), self.plain(other))
            pick = min if name == "min" else max
            if a.const is not None and b.const is not None:
                first = const(pick(a.const, b.const)) if a.type == "i32" else a
                if a.type == "i32":
                    continue
            span = pick(a.span[0], b.span[0]), pick(a.span[1], b.span[1])
            first = val(f"{name}({a.code}, {b.code})", a.type, a, b, span=span)
        return self.plain(first)

    def maths(self, name: str, arguments: list) -> Val:
        values = [self.plain(a) for a in arguments]
        for value in values:
            if value.type != "f32" and not (value.weak and len(values) > 1):
                self.refuse(f"{name} of an integer or a Python float is float64: write float32(…)")
        values = [self.cast(v, "f32") for v in values]
        if name in text.MATHS:
            self.module.helper(name, text.MATHS[name])
            name = f"math_{name}"
        name = "abs" if name == "fabs" else name
        code = f"{name}({', '.join(v.code for v in values)})"
        if name in ("floor", "ceil"):  # which are integers of 64 bits
            return self.truncated(val(code, "f32", *values), np.dtype(np.int64))
        kind = "bool" if name in ("math_isnan", "math_isinf") else "f32"
        return val(code, kind, *values)

    def call_device(self, function: FunctionType, arguments: list) -> Value:
        given: list[Any] = []
        for each in arguments:
            value = each if isinstance(each, View) else self.settled(self.plain(each))
            if isinstance(value, Val) and value.type == "f64":
                self.refuse(DOUBLE)
            given.append(value)
        masked = bool(self.mask) and bool(calls_of(function, self.module.uses) & BARRIERS)
        if masked and "syncthreads" in calls_of(function, self.module.uses):
            self.refuse("a barrier of the whole block where its warps go different ways")
        if function in self.module.callers:
            self.refuse(f"{function.__name__}, which calls itself")
        name = self.module.instance(function, tuple(given), masked=masked)
        result = self.module.returns.get((function, tuple(map(kind_of, given)), masked))
        codes = [c for a in given for c in codes_of(a)]
        code = (
            f"{name}({', '.join(['tid', 'bid', 'lin', *([self.mask] if masked else []), *codes])})"  # type: ignore[list-item]
        )
        if result is None:
            self.emit(f"{code};")
            return NOTHING
        got = self.fresh("t")
        self.emit(f"let {got} = {code};")
        if isinstance(result, tuple):
            return tuple(
                Val(f"{got}.e{n}", k, span=FULL.get(k, (0, 0))) for n, k in enumerate(result)
            )
        return Val(got, result, span=FULL.get(result, (0, 0)))

    # Names of numba.cuda

    def cuda_call(self, name: str, node: ast.Call) -> Value:
        if name in ("syncthreads", "syncwarp"):
            return self.barrier(name)
        arguments = self.values(node.args)
        if name in ("grid", "gridsize"):
            axes = "xyz"[: arguments[0].const]
            found = tuple(map(self.place_in_grid if name == "grid" else self.grid_size, axes))
            return found[0] if len(axes) == 1 else found
        if name in SHUFFLES | VOTES:
            return self.exchanged(name, arguments)
        if name.startswith("atomic."):
            return self.atomic(name[7:], arguments)
        if name in INTEGERS or name == "ffs":
            value = self.settled(self.plain(arguments[0]))
            if value.type not in ("i32", "u32"):
                self.refuse(f"cuda.{name} of anything but an integer")
            if value.type == "i32" and (not value.low or name in ("clz", "brev")):
                self.refuse(f"cuda.{name} of a signed integer, which has 64 bits in Numba: write "
                            "uint32(…)")  # fmt: skip
            if name == "ffs":
                code = f"(i32(firstTrailingBit(u32({value.code}))) + 1)"
                return val(code, "i32", value, span=(0, 32))
            span = (0, 32) if name != "brev" else FULL["u32"]
            return val(f"{INTEGERS[name]}({value.code})", value.type, value, span=span)
        if name == "fma":
            values = [self.cast(self.plain(a), "f32") for a in arguments]
            return val(f"fma({', '.join(v.code for v in values)})", "f32", *values)
        self.refuse(f"cuda.{name}")

    def place_in_grid(self, axis: str) -> Val:
        size = self.module.block["xyz".index(axis)]
        span = (0, min(self.module.most_blocks * size, 2**31) - 1)  # a launch sees to that
        return Val(f"(bid.{axis} * {size} + tid.{axis})", "i32", span=span)

    def grid_size(self, axis: str) -> Val:
        size = self.module.block["xyz".index(axis)]
        span = (1, min(self.module.most_blocks * size, 2**31 - 1))
        return Val(f"(P.grid_{axis} * {size})", "i32", True, span=span)

    def barrier(self, name: str) -> Val:
        if self.mask and name == "syncthreads":
            self.refuse("a barrier of the whole block where its warps go different ways")
        if name == "syncwarp":
            self.together()
        self.emit("workgroupBarrier(); storageBarrier();")
        return NOTHING

    def together(self) -> None:
        """Where warps go different ways: does the whole warp take part in what follows?"""
        self.exchange()
        if self.mask:
            self.fault("warp")
            self.module.helper("together", text.TOGETHER)
            self.emit(f"together(lin, {self.mask}, {self.said('warp')});")

    def exchange(self) -> None:
        lanes = self.module.lanes
        made = text.EXCHANGE.replace("ROOM", str(-(-lanes // 32) * 32)).replace("LANES", str(lanes))
        self.module.helper("exchange", made)

    def exchanged(self, name: str, arguments: list) -> Val:
        """A shuffle or a vote, in which all lanes of the warp take part."""
        mask, value = self.plain(arguments[0]), self.settled(self.plain(arguments[1]))
        if mask.const not in (0xFFFFFFFF, -1) or len(arguments) != 2 + (name in SHUFFLES):
            self.refuse(f"cuda.{name} of a part of a warp")
        self.together()
        got = self.fresh("t")
        if name in VOTES:
            mine = self.truth(value).code
            mine = f"({self.mask} && {mine})" if self.mask else mine
            self.emit(f"let {got} = {text.VOTES[name].replace('MINE', mine)};")
            kind = "u32" if name == "ballot_sync" else "bool"
            return Val(got, kind, span=FULL[kind])
        if value.type not in ("f32", "i32", "u32"):
            self.refuse(f"cuda.{name} of a {value.type}")
        self.module.helper(f"shuffle_{value.type}", text.SHUFFLE.replace("KIND", value.type))
        step = self.temporary(self.modular(self.plain(arguments[2]), "i32"))
        if name in ("shfl_up_sync", "shfl_down_sync") and not step.low:
            step = replace(step, code=f"abs({step.code} & 63)")
        source = text.SOURCES[name].replace("STEP", step.code)
        self.emit(f"let {got} = shuffle_{value.type}(lin, {value.code}, {source});")
        return Val(got, value.type, span=value.span)

    def atomic(self, name: str, arguments: list) -> Val:
        view, index, *values = arguments
        if name == "compare_and_swap":  # (array, old, value), of its first element
            index, values = const(0), [index, *values]
        if not isinstance(view, View):
            self.refuse(f"atomic.{name} on no array")
        view, at = self.indexed(view, index if isinstance(index, tuple) else (index,))
        root = view.root
        if at is None or root.dtype not in ("float32", "int32", "uint32", "int64"):
            self.refuse(f"atomic.{name} on {root.dtype}")
        self.module.atomics.add(root.name)
        narrow = self.cast if root.dtype in ("float32", "int64") else self.modular
        values = [narrow(self.plain(v), root.type) for v in values]
        swaps = name in ("cas", "compare_and_swap")
        if len(values) != 1 + swaps:
            self.refuse(f"atomic.{name} with {len(arguments)} arguments")
        code = self.swap(root, at, values) if swaps else self.changed(name, root, at, values[0])
        if self.mask:
            self.refuse("an atomic operation where the warps of a block go different ways")
        got = self.fresh("t")
        self.emit(f"let {got} = {code};")
        if root.dtype == "int64" and name in ("add", "sub"):
            sign = "+" if name == "add" else "-"
            after = f"abs(f32({got}) {sign} f32({values[0].code}))"
            self.emit(f"if ({after} >= 2147400000.0) {{ {self.fault('wide')} }}")
        return Val(got, root.type, span=root.span)

    def changed(self, name: str, root: Any, at: Val, value: Val) -> str:
        if root.type != "f32":
            if name not in text.ATOMICS:
                self.refuse(f"atomic.{name} on {root.dtype}")
            return f"atomic{text.ATOMICS[name]}(&{root.name}[{at.code}], {value.code})"
        if name not in text.FLOAT_CHANGES:
            self.refuse(f"atomic.{name} on {root.dtype}")
        helper, change = f"atomic_{name}_{root.name}", text.FLOAT_CHANGES[name]
        made = text.FLOAT_ATOMIC.replace("NAME", helper).replace("ROOT", root.name)
        self.module.helper(helper, made.replace("CHANGE", change))
        return f"{helper}({at.code}, {value.code})"

    def swap(self, root: Any, at: Val, values: list[Val]) -> str:
        if root.type == "f32":
            self.refuse("atomic.cas on float32")
        helper = f"atomic_swap_{root.name}"
        made = text.SWAP.replace("NAME", helper).replace("ROOT", root.name)
        self.module.helper(helper, made.replace("KIND", root.type))
        return f"{helper}({at.code}, {values[0].code}, {values[1].code})"

    def four(self, what: str, arguments: list) -> Value:
        """Four neighbours: here four accesses."""
        view, index, *values = arguments
        view, at = self.indexed(view, index if isinstance(index, tuple) else (index,))
        if at is None:
            self.refuse("four neighbours of a part of an array")
        at = self.temporary(at)
        places = [Val(f"{at.code} + {n}", "i32") for n in range(4)]
        if what == "load":
            return tuple(self.temporary(self.load(view, place)) for place in places)
        for place, value in zip(places, values[0], strict=True):
            self.store(view, place, value)
        return NOTHING
