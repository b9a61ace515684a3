"""Expressions of a kernel, written as Python that computes them for all lanes at once."""

from __future__ import annotations

import ast
import builtins
import inspect

import numpy as np

from ..lanes import access, functions, intrinsics, values
from .names import (
    MISSING,
    Cuda,
    as_cuda,
    assignments,
    cuda_attribute,
    dtype_named,
    folded_number,
    found_in,
    python_function,
)

FUNCTIONS = functions.FUNCTIONS | {len: access.length, print: intrinsics.print_lanes}


class Expressions(ast.NodeVisitor):
    """Turns expressions into text; `compile.Writer` adds statements and holds the state.

    The visitor needs `function`, `name`, `closure`, `locals`, `parameters`, `tree`, `space` (the
    names of the generated code), `naming` (the variable that is being set) and `device` (compiles a
    device function).
    """

    # Expressions

    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return self.constant(np.uint64(value))
        if isinstance(value, (int, float)) and value < 0:
            return f"({value!r})"
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return (
                repr(value)
                if np.isfinite(value if isinstance(value, float) else 0)
                else self.constant(value)
            )
        self.refuse(f"the constant {value!r}", node)

    def visit_Tuple(self, node):
        return f"({', '.join(self.visit(e) for e in node.elts)},)" if node.elts else "()"

    def visit_Name(self, node):
        if node.id in self.locals or node.id in self.parameters:
            return f"v_{node.id}.value"
        return self.outside(self.resolve(node), node)

    def visit_Attribute(self, node):
        found = self.resolve(node)
        if found is not MISSING:
            return self.outside(found, node)
        return f"attribute(w, {self.visit(node.value)}, {node.attr!r})"

    def visit_Subscript(self, node):
        return f"load(w, {self.visit(node.value)}, {self.index(node.slice)})"

    def index(self, node) -> str:
        if isinstance(node, ast.Slice):
            parts = (self.visit(p) if p else "None" for p in (node.lower, node.upper, node.step))
            return f"slice({', '.join(parts)})"
        if isinstance(node, ast.Tuple):
            return f"({', '.join(map(self.index, node.elts))},)" if node.elts else "()"
        return self.visit(node)

    def visit_BinOp(self, node):
        op = type(node.op).__name__
        self.known_operator(node.op, node)
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return f"{op}(w, {self.visit(node.left)}, {self.visit(node.right)})"

    def known_operator(self, op, node):
        if type(op).__name__ not in values.ARITHMETIC:
            self.refuse("the operator @", node)

    def visit_UnaryOp(self, node):
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return f"{type(node.op).__name__}(w, {self.visit(node.operand)})"

    def visit_BoolOp(self, node):
        wanted, join = (True, "both") if isinstance(node.op, ast.And) else (False, "either")
        left, *rest = [self.visit(v) for v in node.values]
        for right in rest:
            left = f"({join}(w, {right}) if narrow(w, {left}, {wanted}) else {join}(w))"
        return left

    def visit_Compare(self, node):
        names = [type(op).__name__ for op in node.ops]
        for name in names:
            if name not in values.COMPARISONS:
                self.refuse("the operator in" if name == "In" else "the operator not in", node)
        left, text = self.visit(node.left), None
        for i, (name, right) in enumerate(zip(names, node.comparators, strict=True)):
            right, again = self.visit(right), None
            if i < len(names) - 1:
                again = self.fresh("t")
                right = f"({again} := {right})"
            one = f"{name}(w, {left}, {right})"
            text = (
                one if text is None else f"(both(w, {one}) if narrow(w, {text}, True) else both(w))"
            )
            left = again
        return text

    def visit_IfExp(self, node):
        test, a, b = map(self.visit, (node.test, node.body, node.orelse))
        if isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], (ast.Is, ast.IsNot)):
            return f"({a} if {test} else {b})"  # known when Numba compiles
        a, b = (f"({x} if w.mask else None)" if "yield from" in x else x for x in (a, b))
        return f"choice(w, narrow(w, {test}, True), {a}, flip(w), {b})"

    # Calls

    def visit_Call(self, node):
        if any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            self.refuse("a call with * or **", node)
        called = self.resolve(node.func)
        if called is MISSING:
            return self.method(node)
        if isinstance(called, Cuda) and called.name in intrinsics.ARRAYS:
            return self.own_array(called.name, node)
        function = python_function(called)
        prefix = "a_" if function else ""  # compiled functions call their parameters so
        arguments = "".join(f", {self.visit(a)}" for a in node.args)
        arguments += "".join(f", {prefix}{k.arg}={self.visit(k.value)}" for k in node.keywords)
        if isinstance(called, Cuda):
            return self.intrinsic(called.name, arguments, node)
        if dtype_named(called) is not None:
            return f"cast(w{arguments}, {self.constant(dtype_named(called))})"
        if instruction := found_in(FUNCTIONS, called):
            return f"{self.constant(instruction)}(w{arguments})"
        if instruction := getattr(called, "traced", None):
            return f"{self.constant(instruction)}(w{arguments})"
        if function is None:
            self.refuse(self.describe(called), node)
        return f"(yield from {self.device(function)}(w{arguments}))"

    def describe(self, called) -> str:
        name = getattr(called, "__name__", repr(called))
        if inspect.isfunction(called):
            return (
                f"calling {name}, a plain Python function: decorate it with @cuda.jit(device=True)"
            )
        return f"calling {name}"

    def intrinsic(self, name, arguments, node) -> str:
        if name in intrinsics.BARRIERS:
            return f"(yield from {self.constant(intrinsics.BARRIERS[name])}(w{arguments}))"
        if name not in intrinsics.CALLS:
            self.refuse(f"cuda.{name}", node)
        return f"{self.constant(intrinsics.CALLS[name])}(w{arguments})"

    def method(self, node) -> str:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sync" and not node.args:
            return f"(yield from sync_group(w, {self.visit(node.func.value)}))"
        what = (
            f"the method .{node.func.attr}()"
            if isinstance(node.func, ast.Attribute)
            else "this call"
        )
        self.refuse(what, node)

    def own_array(self, name, node) -> str:
        given = dict(zip(("shape", "dtype"), node.args, strict=False)) | {
            k.arg: k.value for k in node.keywords
        }
        if set(given) - {"alignment"} != {"shape", "dtype"}:
            self.refuse(f"cuda.{name} without a shape and a dtype", node)
        if not self.is_constant(given["shape"]):
            what = f"a shape of cuda.{name} that is no constant: give it a name outside the kernel"
            self.refuse(what, node)
        site = (self.function, node.lineno, node.col_offset)
        label = self.naming or f"{name.split('.')[0]} array, line {node.lineno}"
        shape, dtype = self.visit(given["shape"]), self.visit(given["dtype"])
        make = self.constant(intrinsics.ARRAYS[name])
        return f"{make}(w, {self.constant(site)}, {label!r}, {shape}, {dtype})"

    def is_constant(self, node) -> bool:
        """Does Numba know it when it compiles? Literals, globals, locals set once to such."""
        if isinstance(node, ast.Tuple):
            return all(map(self.is_constant, node.elts))
        if isinstance(node, ast.BinOp):
            return folded_number(node) is not None
        if isinstance(node, ast.Name) and node.id in self.locals:
            set_by = assignments(self.tree, node.id)
            return len(set_by) == 1 and set_by[0] is not None and self.is_constant(set_by[0])
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.Name) and node.id not in self.parameters
        )

    # Names from outside the kernel

    def resolve(self, node):
        """What a name from outside means; MISSING for what only the running kernel knows."""
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if base is MISSING or isinstance(base, (np.ndarray, tuple, int, float, complex)):
                return MISSING
            if isinstance(base, Cuda):
                return Cuda(f"{base.name}.{node.attr}".lstrip("."))
            if not hasattr(base, node.attr):
                self.refuse(f"{node.attr}, which {base!r} does not have", node)
            return as_cuda(getattr(base, node.attr))
        if not isinstance(node, ast.Name) or node.id in self.locals or node.id in self.parameters:
            return MISSING
        for names in (self.closure, self.function.__globals__, vars(builtins)):
            if node.id in names:
                return as_cuda(names[node.id])
        self.refuse(f"the name {node.id!r}, which is not defined", node)

    def outside(self, value, node) -> str:
        """A value from outside as Numba freezes it."""
        if isinstance(value, Cuda):
            if value.name in intrinsics.VALUES:
                return f"{self.constant(intrinsics.VALUES[value.name])}(w)"
            dtype = dtype_named(cuda_attribute(value.name))
            if dtype is None:
                self.refuse(f"cuda.{value.name}", node)
            return self.constant(dtype)
        if isinstance(value, np.ndarray) and value.ndim:
            return f"constant_array(w, {ast.unparse(node)!r}, {self.constant(value)})"
        if dtype_named(value) is not None:
            return self.constant(dtype_named(value))
        if isinstance(value, int) and not isinstance(value, bool):  # an IntEnum, too
            return self.visit_Constant(ast.copy_location(ast.Constant(int(value)), node))
        if value is None or isinstance(value, (bool, float, complex, str, np.generic)):
            return self.constant(values.plain(value))
        if isinstance(value, tuple) and all(isinstance(v, (int, float, np.generic)) for v in value):
            return self.constant(value)
        self.refuse(f"the global {ast.unparse(node)} ({type(value).__name__})", node)
