"""Expressions of a kernel as WGSL: names, indices, conditions. Calls are in `calls`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..source.names import MISSING, Cuda, folded_number
from .numbers import Numbers
from .values import NATURAL, STORED, Root, Val, Value, View, const, joined, parts_of, val


class Expressions(Numbers):
    def value(self, node: ast.expr) -> Value:
        folded = folded_number(node)
        if folded is not None:
            return const(folded)
        match node:
            case ast.Constant(value):
                return const(value)
            case ast.Name() | ast.Attribute():
                return self.named(node)
            case ast.Tuple(items):
                return tuple(self.values(items))
            case ast.Subscript():
                return self.subscript(node)
            case ast.BinOp(left, op, right):
                a, b = self.values([left, right])
                return self.binary(a, op, b)
            case ast.UnaryOp(ast.Not(), operand):
                test = self.condition(operand)
                return val(f"!({test.code})", "bool", test)
            case ast.UnaryOp(op, operand):
                return self.unary(op, self.value(operand))
            case ast.Compare() | ast.BoolOp():
                return self.condition(node, as_value=True)
            case ast.IfExp(test, body, orelse):
                return self.either(self.condition(test), body, orelse)
            case ast.Call():
                return self.call(node)
        self.refuse(f"`{ast.unparse(node)}`")

    def values(self, nodes: Sequence[ast.expr]) -> list[Value]:
        return [self.value(node) for node in nodes]

    def call(self, node: ast.Call) -> Value:
        raise NotImplementedError

    # Names

    def named(self, node: ast.Name | ast.Attribute) -> Value:
        if isinstance(node, ast.Name) and node.id in self.names.own:
            return self.read(node.id)
        found = self.names.resolve(node)
        if found is MISSING and isinstance(node, ast.Attribute):
            return self.attribute(self.value(node.value), node.attr)
        return self.cuda_name(found.name) if isinstance(found, Cuda) else self.outside(found)

    def outside(self, found: Any) -> Value:
        if isinstance(found, tuple):
            return tuple(map(self.outside, found))
        if isinstance(found, (bool, int, float)) or type(found).__name__.rstrip("_") in STORED:
            return const(found)
        self.refuse(f"{type(found).__name__} from outside the kernel")

    def attribute(self, value: Value, name: str) -> Value:
        if not isinstance(value, View) or name not in ("shape", "ndim", "size"):
            self.refuse(f".{name}")
        if name == "shape":
            return value.shape
        if name == "ndim":
            return const(len(value.shape))
        total = value.shape[0] if value.shape else const(1)
        for n in value.shape[1:]:  # elements of 4 bytes in 32 bits of memory
            total = replace(self.binary(total, ast.Mult(), n), span=NATURAL)
        return total

    def cuda_name(self, name: str) -> Val:
        axis = name.partition(".")[2]
        size = dict(zip("xyz", self.module.block, strict=True)).get(axis, 0)
        blocks = self.module.most_blocks
        known = {
            f"threadIdx.{axis}": Val(f"tid.{axis}", "i32", size == 1, span=(0, size - 1)),
            f"blockIdx.{axis}": Val(f"bid.{axis}", "i32", True, span=(0, blocks - 1)),
            f"blockDim.{axis}": const(size),
            f"gridDim.{axis}": Val(f"P.grid_{axis}", "i32", True, span=(1, blocks)),
            "laneid": Val("(lin & 31)", "i32", span=(0, 31)),
            "warpsize": const(32),
        }
        if name not in known or (axis and not size):
            self.refuse(f"cuda.{name}")
        return known[name]

    # Arrays

    def subscript(self, node: ast.Subscript) -> Value:
        view, index = self.place(node)
        if isinstance(view, View):
            return view if index is None else self.load(view, index)
        if not isinstance(index, Val) or type(index.const) is not int:
            self.refuse("a tuple's item by a number that is not known")
        if not -len(view) <= index.const < len(view):
            self.refuse(f"item {index.const} of a tuple of {len(view)}")
        return view[index.const]

    def place(self, node: ast.Subscript) -> tuple[Value, Any]:
        """The view and the flat index that `x[…]` means; the index is None for a part of x."""
        if any(isinstance(n, ast.Slice) for n in ast.walk(node.slice)):
            self.refuse(f"`{ast.unparse(node)}`: a slice inside a kernel")
        view, given = self.values([node.value, node.slice])
        return (view, given) if isinstance(view, tuple) else self.indexed(view, given)

    def indexed(self, view: Value, given: Value) -> tuple[View, Val | None]:
        indices = parts_of(given)
        if not isinstance(view, View):
            self.refuse("an index of what is no array")
        if len(indices) > len(view.shape):
            self.refuse("more indices than axes")
        codes, parts = [view.offset.code], [view.offset]
        for index, stride, length in zip(indices, view.strides, view.shape, strict=False):
            if self.plain(index).type not in ("i32", "u32"):
                self.refuse("an index that is no integer")
            index = self.from_the_end(self.modular(index, "i32"), length)
            codes.append(index.code if stride.const == 1 else f"{index.code} * {stride.code}")
            parts.append(index)
        at = val(" + ".join(c for c in codes if c != "0i") or "0", "i32", *parts)
        if (rest := len(indices)) == len(view.shape):
            return view, at
        return View(view.root, at, view.shape[rest:], view.strides[rest:]), None

    def from_the_end(self, index: Val, length: Val) -> Val:
        """A negative index counts from the end."""
        if index.const is not None and index.const < 0:
            return val(f"({length.code} + {index.code})", "i32", index)
        if index.low:
            return index
        index = self.temporary(index)
        return val(f"select({index.code}, {index.code} + {length.code}, {index.code} < 0)", "i32",
                   index)  # fmt: skip

    def load(self, view: View, index: Val) -> Val:
        root, code = view.root, f"{view.root.name}[{index.code}]"
        if root.name in self.module.atomics:
            code = f"atomicLoad(&{code})"
            code = f"bitcast<f32>({code})" if root.type == "f32" else code
        if root.type == "bool":
            code = f"({code} != 0u)"
        return Val(self.let(code), root.type, span=root.span)  # now: it may change

    def store(self, view: Value, index: Val | None, value: Val) -> None:
        if not isinstance(view, View) or index is None:
            self.refuse("more than one element is set at once")
        root = view.root
        code, place = self.held(root, value), f"{root.name}[{index.code}]"
        if root.name in self.module.atomics:
            code = f"bitcast<u32>({code})" if root.type == "f32" else code
            self.emit(f"atomicStore(&{place}, {code});")
        else:
            self.emit(f"{place} = {code};")

    def held(self, root: Root, value: Val) -> str:
        """A value as an array's element: integers keep their lower bits, as Numba's do."""
        if root.type == "bool":
            return f"u32({self.truth(value).code})"
        if root.dtype == "int8":
            self.refuse("int8, which is only read: make the array int32")
        lower = self.cast if root.dtype in ("float32", "int64") else self.modular
        return lower(value, root.type).code

    # Conditions

    def condition(self, node: ast.expr, as_value: bool = False) -> Val:
        """Whether an expression is true. As a value, `a and b` is one of the two: only bools."""
        match node:
            case ast.BoolOp(op, nodes):
                parts = [partial(self.condition, n, as_value) for n in nodes]
                return self.shortcut("&&" if isinstance(op, ast.And) else "||", parts)
            case ast.Compare(left, [op], [right]):
                a, b = self.values([left, right])
                return self.comparison(a, op, b)
            case ast.Compare(left, ops, nodes):
                held = [self.value(left)]

                def link(op: ast.cmpop, node: ast.expr) -> Val:
                    held.append(self.value(node))
                    return self.comparison(held[-2], op, held[-1])

                return self.shortcut("&&", list(map(partial(partial, link), ops, nodes)))
        value = self.plain(self.value(node))
        if as_value and value.type != "bool":
            self.refuse("`and` or `or` of numbers, as a number")
        return self.truth(value)

    def shortcut(self, sign: str, parts: Sequence[Callable[[], Val]]) -> Val:
        """`and`, `or`: what is right of one that decides is not evaluated."""
        value = parts[0]()
        for part in parts[1:]:
            with self.into([]) as lines:
                right = part()
            if not lines:
                value = val(f"({value.code} {sign} {right.code})", "bool", value, right)
                continue
            name = self.fresh("t")
            self.emit(f"var {name} = {value.code};")
            test = name if sign == "&&" else f"!{name}"
            self.emit(f"if ({test}) {{ {' '.join(lines)} {name} = {right.code}; }}")
            value = val(name, "bool", value, right)
        return value

    def either(self, test: Val, body: ast.expr, orelse: ast.expr) -> Value:
        """`a if test else b`: only the one that is wanted is evaluated."""
        with self.into([]) as first:
            a = self.value(body)
        with self.into([]) as second:
            b = self.value(orelse)
        if isinstance(a, tuple) != isinstance(b, tuple):
            self.refuse("a choice between a tuple and something else")
        made = []
        for pair in zip(parts_of(a), parts_of(b), strict=True):
            kind, name, cast = self.joint(*map(self.plain, pair)), self.fresh("t"), []
            self.emit(f"var {name}: {kind};")
            for value, lines in zip(pair, (first, second), strict=True):
                with self.into(lines):
                    cast.append(self.cast(value, kind))
                    self.emit(f"{name} = {cast[-1].code};")
            span = joined(cast[0].span, cast[1].span)
            made.append(val(name, kind, *cast, test, span=span))
        self.emit(f"if ({test.code}) {{ {' '.join(first)} }} else {{ {' '.join(second)} }}")
        return tuple(made) if isinstance(a, tuple) else made[0]
