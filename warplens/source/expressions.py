"""Expressions of a kernel as text: calls on vectors with one element per lane.

`x[i] + 1` becomes `Add(w, load(w, v_x.value, v_i.value), 1)`. What comes from outside of the
kernel is looked up here, while it is written, and is a constant of the program.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from ..arguments import array_view
from ..device import DeviceArray
from ..lanes import access, barriers, conditions, flow, functions, intrinsics, masks, values
from ..signatures import signatures_of
from .names import (
    MISSING,
    Cuda,
    Names,
    array_given,
    cuda_attribute,
    dtype_named,
    folded_number,
    python_function,
    source_of,
)

PRELUDE: dict[str, Any] = {
    **values.ARITHMETIC,
    **values.COMPARISONS,
    **values.UNARY,
    **{name: getattr(access, name) for name in ["load", "store", "attribute", "unpack", "Dim3"]},
    **{
        name: getattr(conditions, name)
        for name in ["narrow", "and_", "or_", "other_lanes", "conditional"]
    },
    **{name: getattr(flow, name) for name in ["Branch", "Loop", "Call"]},
    "Variable": masks.Variable,
    "cast": values.cast,
    "constant_array": intrinsics.constant_array,
}
FUNCTIONS: dict[Any, Any] = {
    **functions.FUNCTIONS,
    len: access.length,
    print: intrinsics.print_lanes,
}


class Expressions(ast.NodeVisitor):
    """What the text's free names mean is in `space`; lines that must come before it are emitted."""

    def __init__(
        self,
        function: FunctionType,
        kernel: bool,
        device: Callable[[FunctionType], Callable[..., Any] | None],
    ) -> None:
        self.function, self.device, self.kernel = function, device, kernel
        self.source = source_of(function)
        self.names = Names(function, self.source.tree)
        self.space, self.depth, self.serial = dict(PRELUDE), 0, 0
        self.lines: list[str] = []
        self.naming: str | None = None  # the variable that is being set
        self.unasked: ast.expr | None = None  # whose result the statement throws away
        self.here = object()  # tells this function's own arrays from those of others

    def refuse(self, what: str, node: ast.AST) -> NoReturn:
        self.names.refuse(what, node)

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, letter: str) -> str:
        self.serial += 1
        return f"{letter}{self.serial}"

    def constant(self, value: Any) -> str:
        name = self.fresh("k")
        self.space[name] = value
        return name

    def type_constant(self, dtype: np.dtype, node: ast.AST) -> str:
        if dtype == np.float16:
            self.refuse("float16", node)
        return self.constant(dtype)

    def generic_visit(self, node: ast.AST) -> NoReturn:
        self.refuse(f"`{ast.unparse(node).splitlines()[0]}`", node)

    def visit_Constant(self, node: ast.Constant) -> str:
        value = node.value
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            self.refuse(f"the number {value}, which no integer of 64 bits holds", node)
        if isinstance(value, int) and value >= 2**63:
            return self.constant(np.uint64(value))
        if isinstance(value, (int, float)) and value < 0:
            return f"({value!r})"
        if isinstance(value, float) and not np.isfinite(value):
            return self.constant(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return repr(value)
        self.refuse(f"the constant {value!r}", node)

    def visit_Tuple(self, node: ast.Tuple) -> str:
        return f"({', '.join(self.visit(e) for e in node.elts)},)" if node.elts else "()"

    def visit_Name(self, node: ast.Name) -> str:
        if node.id in self.names.own:
            return f"v_{node.id}.value"
        return self.outside(self.names.resolve(node), node)

    def visit_Attribute(self, node: ast.Attribute) -> str:
        found = self.names.resolve(node)
        if found is not MISSING:
            return self.outside(found, node)
        return f"attribute(w, {self.visit(node.value)}, {node.attr!r})"

    def visit_Subscript(self, node: ast.Subscript) -> str:
        found = self.names.resolve(node)
        if found is not MISSING:
            return self.outside(found, node)
        return f"load(w, {self.visit(node.value)}, {self.index(node.slice)})"

    def index(self, node: ast.expr) -> str:
        if isinstance(node, ast.Slice):
            parts = (self.visit(p) if p else "None" for p in (node.lower, node.upper, node.step))
            return f"slice({', '.join(parts)})"
        if isinstance(node, ast.Tuple):
            return f"({''.join(f'{self.index(e)}, ' for e in node.elts)})"
        return self.visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        op = type(node.op).__name__
        self.known_operator(node.op, node)
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return f"{op}(w, {self.visit(node.left)}, {self.visit(node.right)})"

    def known_operator(self, op: ast.operator, node: ast.AST) -> None:
        if type(op).__name__ not in values.ARITHMETIC:
            self.refuse("the operator @", node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return f"{type(node.op).__name__}(w, {self.visit(node.operand)})"

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        wanted, join = (True, "and_") if isinstance(node.op, ast.And) else (False, "or_")
        left, *rest = [self.visit(v) for v in node.values]
        for right in rest:
            left = f"({join}(w, {right}) if narrow(w, {left}, {wanted}) else {join}(w))"
        return left

    def visit_Compare(self, node: ast.Compare) -> str:
        names = [type(op).__name__ for op in node.ops]
        left, text = self.visit(node.left), ""
        for i, (name, comparator) in enumerate(zip(names, node.comparators, strict=True)):
            if name not in values.COMPARISONS:
                self.refuse("the operators in and is", node)
            right = again = self.visit(comparator)
            if i < len(names) - 1:  # it is compared once more, and must not be computed twice
                again = self.fresh("t")
                right = f"({again} := {right})"
            one = f"{name}(w, {left}, {right})"
            text = f"(and_(w, {one}) if narrow(w, {text}, True) else and_(w))" if text else one
            left = again
        return text

    def visit_IfExp(self, node: ast.IfExp) -> str:
        test, a, b = map(self.visit, (node.test, node.body, node.orelse))
        a, b = self.if_needed(a, node.body), self.if_needed(b, node.orelse)
        return f"conditional(w, narrow(w, {test}, True), {a}, other_lanes(w), {b})"

    def if_needed(self, text: str, node: ast.expr) -> str:
        """One side of a conditional expression: None where no lane needs a call, or a variable that
        no lane has set; else it is evaluated for its type."""
        if "yield from" in text:
            return f"({text} if w.mask else None)"
        named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        unsure = sorted((named & self.names.own) - self.names.surely_set)
        known = " and ".join(f"v_{name}.known" for name in unsure)
        return f"({text} if w.mask or ({known}) else None)" if unsure else text

    # Calls

    def visit_Call(self, node: ast.Call) -> str:
        if any(k.arg is None for k in node.keywords):
            self.refuse("a call with **", node)
        called = self.names.resolve(node.func)
        if called is MISSING:
            return self.method(node)
        if isinstance(called, Cuda) and called.name in intrinsics.ARRAYS:
            return self.own_array(called.name, node)
        function = python_function(called)
        prefix = "a_" if function else ""  # compiled functions call their parameters so
        arguments = "".join(f", {self.visit(value)}" for value in node.args)
        arguments += "".join(f", {prefix}{k.arg}={self.visit(k.value)}" for k in node.keywords)
        if isinstance(called, Cuda):
            return self.intrinsic(called.name, arguments, node)
        if (dtype := dtype_named(called)) is not None:
            return f"cast(w{arguments}, {self.type_constant(dtype, node)})"
        if instruction := self.instruction(called):
            return f"{self.constant(instruction)}(w{arguments})"
        if function is None:
            self.refuse(self.describe(called), node)
        if signatures_of(called):
            self.refuse(f"{function.__name__}, a device function with a signature of its own", node)
        self.check_arguments(function, node)
        if (program := self.device(function)) is None:
            self.refuse(f"{function.__name__}, which calls itself", node)
        run = self.constant(program)
        return f"(yield from {run}(w{arguments}))"

    def check_arguments(self, function: FunctionType, node: ast.Call) -> None:
        """Refuse a call that gives a device function too few arguments, or too many."""
        try:
            inspect.signature(function).bind(
                *node.args, **{keyword.arg or "": keyword.value for keyword in node.keywords}
            )
        except TypeError as trouble:
            self.refuse(f"calling {function.__name__} like this: {trouble}", node)

    def instruction(self, called: Any) -> Callable[..., Any] | None:
        """What warps do instead of a function of Python's, NumPy's or one with `traced`."""
        if isinstance(called, Hashable) and called in FUNCTIONS:
            return FUNCTIONS[called]
        return getattr(called, "traced", None)

    def describe(self, called: Any) -> str:
        name = getattr(called, "__name__", repr(called))
        if isinstance(called, np.ufunc):
            instead = f"math.{name}" if hasattr(math, name) else "a loop"
            return f"np.{name}: write {instead}"
        if inspect.isfunction(called):
            return (
                f"calling {name}, a plain Python function: decorate it with @cuda.jit(device=True)"
            )
        return f"calling {name}"

    def intrinsic(self, name: str, arguments: str, node: ast.AST) -> str:
        if name in barriers.BARRIERS:
            return f"(yield from {self.constant(barriers.BARRIERS[name])}(w{arguments}))"
        if name not in intrinsics.CALLS:
            self.refuse(f"cuda.{name}", node)
        blind = ", blind=True" if name == "atomic.exch" and node is self.unasked else ""
        return f"{self.constant(intrinsics.CALLS[name])}(w{arguments}{blind})"

    def method(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute):
            self.refuse(f"the method .{node.func.attr}()", node)
        self.refuse(f"calling {ast.unparse(node.func)}, a value of the kernel's own", node)

    def own_array(self, name: str, node: ast.Call) -> str:
        given = array_given(node)
        if set(given) - {"alignment"} != {"shape", "dtype"}:
            self.refuse(f"cuda.{name} without a shape and a dtype", node)
        if not self.names.is_constant(given["shape"]):
            what = f"a shape of cuda.{name} that is no constant: give it a name outside the kernel"
            self.refuse(what, node)
        site = (self.here, node.lineno, node.col_offset)
        label = self.naming or f"{name.split('.')[0]} array, line {node.lineno}"
        shape, dtype = self.visit(given["shape"]), self.visit(given["dtype"])
        make = self.constant(intrinsics.ARRAYS[name])
        return f"{make}(w, {self.constant(site)}, {label!r}, {shape}, {dtype})"

    def outside(self, value: Any, node: ast.expr) -> str:
        """A value from outside as Numba freezes it."""
        if isinstance(value, Cuda):
            if value.name in intrinsics.VALUES:
                return f"{self.constant(intrinsics.VALUES[value.name])}(w)"
            if f"{value.name}.x" in intrinsics.VALUES:
                axes = (self.constant(intrinsics.VALUES[f"{value.name}.{a}"]) for a in "xyz")
                return f"Dim3({', '.join(f'{axis}(w)' for axis in axes)})"
            if (dtype := dtype_named(cuda_attribute(value.name))) is not None:
                return self.type_constant(dtype, node)
            self.refuse(f"cuda.{value.name} as a value", node)
        if isinstance(value, DeviceArray):
            return self.constant(array_view(value.memory, ast.unparse(node), value.root))
        if isinstance(value, np.ndarray) and value.ndim:
            return f"constant_array(w, {ast.unparse(node)!r}, {self.constant(value.copy())})"
        if (dtype := dtype_named(value)) is not None:
            return self.type_constant(dtype, node)
        if type(value) is int:
            return self.visit_Constant(ast.copy_location(ast.Constant(value), node))
        if value is None or isinstance(value, (bool, float, str, np.generic)):
            return self.constant(values.plain(value))
        if isinstance(value, tuple) and all(isinstance(v, (int, float, np.generic)) for v in value):
            return self.constant(value)
        self.refuse(f"the global {ast.unparse(node)} ({type(value).__name__})", node)
