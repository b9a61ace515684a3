"""Expressions of a kernel as WGSL: operators, names, indices. Calls are in `calls`."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..source.names import MISSING, Cuda, folded_number
from .text import FLOORED
from .values import FULL, NATURAL, ONE, ZERO, Root, Span, Val, Value, View, const, val
from .writer import Writer

BINARY: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
COMPARED: dict[type, tuple[str, Callable[..., bool]]] = {
    ast.Lt: ("<", operator.lt), ast.LtE: ("<=", operator.le), ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge), ast.Eq: ("==", operator.eq), ast.NotEq: ("!=", operator.ne),
}  # fmt: skip
DOUBLE = "float64, which WGSL has not: write np.float32(…) around the number"


class Expressions(Writer):
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
            case ast.UnaryOp(op, operand):
                return self.unary(op, operand)
            case ast.Compare() | ast.BoolOp():
                return self.condition(node, as_value=True)
            case ast.IfExp(test, body, orelse):
                return self.either(self.condition(test), body, orelse)
            case ast.Call():
                return self.call(node)
        self.refuse(f"`{ast.unparse(node)}`")

    def values(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """In Python's order: what reads memory does so before what a later one changes there."""
        found: list[Value] = []
        for node in nodes:
            before, self.lines = self.lines, []
            value = self.value(node)
            lines, self.lines = self.lines, before
            if lines:
                found = [self.temporary(each) if costly(each) else each for each in found]
                self.lines += lines
            found.append(value)
        return found

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
        if isinstance(found, (bool, int, float, np.generic)):
            return const(found)
        self.refuse(f"{type(found).__name__} from outside the kernel")

    def attribute(self, value: Value, name: str) -> Value:
        if isinstance(value, View):
            if name == "shape":
                return value.shape
            if name == "ndim":
                return const(len(value.shape))
            if name == "size":
                total = value.shape[0] if value.shape else const(1)
                for n in value.shape[1:]:  # elements of 4 bytes in 32 bits of memory
                    total = replace(self.binary(total, ast.Mult(), n), span=NATURAL)
                return total
        self.refuse(f".{name}")

    def cuda_name(self, name: str) -> Val:
        owner, _, axis = name.partition(".")
        place = "xyz".find(axis) if axis else -1
        block, blocks = self.module.block, self.module.most_blocks
        if owner == "threadIdx" and place >= 0:
            return Val(f"tid.{axis}", "i32", block[place] == 1, span=(0, block[place] - 1))
        if owner == "blockIdx" and place >= 0:
            return Val(f"bid.{axis}", "i32", True, span=(0, blocks - 1))
        if owner == "blockDim" and place >= 0:
            return const(block[place])
        if owner == "gridDim" and place >= 0:
            return Val(f"P.grid_{axis}", "i32", True, span=(1, blocks))
        if name == "laneid":
            return Val("(lin & 31)", "i32", span=(0, 31))
        if name == "warpsize":
            return const(32)
        self.refuse(f"cuda.{name}")

    # Arrays

    def subscript(self, node: ast.Subscript) -> Value:
        view, index = self.place(node)
        if isinstance(view, tuple):
            if not isinstance(index, Val) or type(index.const) is not int:
                self.refuse("a tuple's item by a number that is not known")
            if not -len(view) <= index.const < len(view):
                self.refuse(f"item {index.const} of a tuple of {len(view)}")
            return view[index.const]
        return view if index is None else self.load(view, index)

    def place(self, node: ast.Subscript) -> tuple[Value, Any]:
        """The view and the flat index that `x[…]` means; the index is None for a part of x."""
        if any(isinstance(n, ast.Slice) for n in ast.walk(node.slice)):
            self.refuse(f"`{ast.unparse(node)}`: a slice inside a kernel")
        view, given = self.values([node.value, node.slice])
        if isinstance(view, tuple):
            return view, given
        if not isinstance(view, View):
            self.refuse(f"`{ast.unparse(node)}`")
        return self.indexed(view, given if isinstance(given, tuple) else (given,))

    def indexed(self, view: View, given: tuple) -> tuple[View, Val | None]:
        if len(given) > len(view.shape):
            self.refuse("more indices than axes")
        codes, uniform = [view.offset.code], view.offset.uniform
        for index, stride, length in zip(given, view.strides, view.shape, strict=False):
            index = self.plain(index)
            if index.type not in ("i32", "u32"):
                self.refuse("an index that is no integer")
            index = self.from_the_end(self.modular(index, "i32"), length)
            codes.append(index.code if stride.const == 1 else f"{index.code} * {stride.code}")
            uniform = uniform and index.uniform
        at = Val(" + ".join(c for c in codes if c != "0i") or "0", "i32", uniform, span=FULL["i32"])
        if len(given) == len(view.shape):
            return view, at
        rest = len(given)
        return View(view.root, at, view.shape[rest:], view.strides[rest:]), None

    def from_the_end(self, index: Val, length: Val) -> Val:
        """A negative index counts from the end."""
        if index.const is not None and index.const < 0:
            return Val(f"({length.code} + {index.code})", "i32", index.uniform)
        if index.low:
            return index
        index = self.temporary(index)
        code = f"select({index.code}, {index.code} + {length.code}, {index.code} < 0)"
        return Val(code, "i32", index.uniform)

    def load(self, view: View, index: Val) -> Val:
        root, code = view.root, f"{view.root.name}[{index.code}]"
        if root.name in self.module.atomics:
            code = f"atomicLoad(&{code})"
            code = f"bitcast<f32>({code})" if root.type == "f32" else code
        if root.type == "bool":
            code = f"({code} != 0u)"
        return Val(code, root.type, costly=True, span=root.span)

    def store(self, view: Value, index: Val | None, value: Val) -> None:
        if not isinstance(view, View) or index is None:
            self.refuse("more than one element is set at once")
        root = view.root
        code = self.held(root, value)
        if root.name in self.module.atomics:
            code = f"bitcast<u32>({code})" if root.type == "f32" else code
            self.write(f"atomicStore(&{root.name}[{index.code}], {code});")
        else:
            self.write(f"{root.name}[{index.code}] = {code};")

    def held(self, root: Root, value: Val) -> str:
        """A value as an array's element: integers keep their lower bits, as Numba's do."""
        if root.type == "bool":
            return f"select(0u, 1u, {self.truth(value).code})"
        if root.type == "f32" or root.dtype in ("int64", "uint64"):
            code = self.cast(value, root.type)
            if root.dtype == "uint64" and not self.settled(value).low:
                self.refuse("an integer that may be negative, in a uint64")
            return code.code
        value = self.modular(value, root.type)
        if np.dtype(root.dtype).itemsize < 4 and not within(value.span, root.span):
            bits, value = 32 - 8 * np.dtype(root.dtype).itemsize, self.at_run_time(value)
            return f"(({value.code} << {bits}u) >> {bits}u)"
        return value.code

    # Types

    def modular(self, value: Val, kind: str) -> Val:
        """The lower 32 bits of an integer as i32 or u32; other numbers as `cast` has them."""
        value = self.plain(value)
        if value.type not in ("i32", "u32") or value.type == kind:
            known = value.span if not value.wide else FULL.get(value.type, (0, 0))
            return replace(value, span=known) if value.type == kind else self.cast(value, kind)
        if value.const is not None:
            number = value.const % 2**32
            return const((np.int32 if kind == "i32" else np.uint32)(
                number - 2**32 if kind == "i32" and number >= 2**31 else number))  # fmt: skip
        span = value.span if within(value.span, FULL[kind]) else FULL[kind]
        return val(f"{kind}({value.code})", kind, value, span=span)

    def cast(self, value: Val, kind: str) -> Val:
        """The same number as another type."""
        value = self.plain(value)
        if value.type == "f64":
            if kind != "f32":
                self.refuse(DOUBLE)
            return replace(const(np.float32(value.const)), weak=False)
        value = self.settled(value)
        if value.type == kind:
            return value
        if kind == "bool":
            return self.truth(value)
        if value.type == "bool":
            code = f"select({ZERO[kind]}, {ONE[kind]}, {value.code})"
            return val(code, kind, value, span=(0, 1))
        if value.const is not None:
            return const(np.float32(value.const)) if kind == "f32" else self.modular(value, kind)
        if kind == "f32":
            return val(f"f32({value.code})", kind, value)
        if value.type == "f32":
            return val(f"{kind}({value.code})", kind, value)
        changed = val(f"{kind}({value.code})", kind, value, span=value.span)
        return self.settled(replace(changed, exact=value.inexact))

    def settled(self, value: Val) -> Val:
        """An integer of which all 64 bits are asked for: the kernel looks whether 32 hold it."""
        if not value.wide:
            return value
        if value.type == "u32":
            self.refuse("a product, sum or difference of uint32 has 64 bits in Numba: write "
                        "uint32(…) around it")  # fmt: skip
        value = self.temporary(value)
        self.emit(f"if (abs({value.exact}) >= 2147400000.0) {{ {self.fault('wide')} }}")
        return replace(value, span=FULL["i32"], exact="")

    def common(self, a: Val, b: Val) -> tuple[Val, Val]:
        """Both as one type, by Numba's rules where these need no 64 bits."""
        if "f64" in (a.type, b.type):
            self.refuse(f"the Python float {(a if a.type == 'f64' else b).code} makes {DOUBLE}")
        if "f32" in (a.type, b.type):
            for one in (a, b):
                if one.type != "f32" and not one.weak and one.type != "bool":
                    self.refuse("an integer and a float32 make float64, which WGSL has not: write "
                                "float32(…) around the integer")  # fmt: skip
                if one.weak and abs(one.const) > 2**24:
                    self.refuse(f"{one.const} and a float32 make {DOUBLE}")
            return self.cast(a, "f32"), self.cast(b, "f32")
        if a.type == b.type == "u32":
            return a, b
        if "u32" in (a.type, b.type):
            for one, other in ((a, b), (b, a)):  # Numba makes int64 of such a pair
                if one.weak and one.const >= 0 and other.type == "u32":
                    one = self.modular(one, "u32")
                    return (one, other) if other is b else (other, one)
        return self.signed(a), self.signed(b)

    def signed(self, value: Val) -> Val:
        if value.type == "u32":
            value = self.settled(value)
            changed = val(f"i32({value.code})", "i32", value, span=value.span)
            return self.settled(replace(changed, exact=f"f32({value.code})"))
        return self.cast(value, "i32") if value.type == "bool" else value

    # Operators

    def binary(self, a: Value, op: ast.operator, b: Value) -> Val:
        a, b, kind = self.plain(a), self.plain(b), type(op)
        if kind is ast.Pow:
            if b.const != 2 or a.type == "f64":
                self.refuse("** with another exponent than 2")
            a = self.temporary(self.signed(a) if a.type == "bool" else a)
            return self.binary(a, ast.Mult(), a)
        if kind is ast.Div:
            if "f32" not in (a.type, b.type) or "f64" in (a.type, b.type):
                self.refuse("a quotient of integers is float64: write float32(…) / float32(…)"
                            if "f64" not in (a.type, b.type) else DOUBLE)  # fmt: skip
                self.check_literal(a, kind, b)
            a, b = self.common(a, b)
            return val(f"({a.code} / {b.code})", "f32", a, b)
        if kind not in BINARY and kind not in (ast.FloorDiv, ast.Mod):
            self.refuse(f"the operator {kind.__name__}")
        if a.type == b.type == "bool" and kind in (ast.BitAnd, ast.BitOr, ast.BitXor):
            sign = {"&": "&&", "|": "||", "^": "!="}[BINARY[kind]]
            a, b = (self.temporary(each) if each.costly else each for each in (a, b))
            return val(f"({a.code} {sign} {b.code})", "bool", a, b)
        if kind in (ast.LShift, ast.RShift):
            return self.shift(a, kind is ast.LShift, b)
        self.check_literal(a, kind, b)
        a, b = self.common(a, b)
        if a.type == "f32":
            if kind not in (ast.Add, ast.Sub, ast.Mult):
                self.refuse(f"`{'//' if kind is ast.FloorDiv else '%'}` of float32")
            return val(f"({a.code} {BINARY[kind]} {b.code})", "f32", a, b)
        return self.of_integers(a, kind, b)

    def check_literal(self, a: Val, kind: type, b: Val) -> None:
        """An integer literal makes float64 of a float32: no matter where nothing is rounded."""
        for one, other in ((a, b), (b, a)):
            if one.weak and other.type == "f32" and type(one.const) is int:
                size = abs(one.const)
                scales = kind is ast.Mult or (kind is ast.Div and one is b)
                if size & (size - 1) or (size and not scales):
                    self.refuse(f"{one.const} and a float32 make float64, which WGSL has not: "
                                f"write float32({one.const})")  # fmt: skip

    def of_integers(self, a: Val, kind: type, b: Val) -> Val:
        if a.const is not None and b.const is not None and a.weak and b.weak:
            folded = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
            if kind in folded:
                return const(folded[kind](a.const, b.const))
        if kind in (ast.FloorDiv, ast.Mod):
            return self.floored(self.settled(a), kind is ast.FloorDiv, self.settled(b))
        if a.type == "i32" and (kind is ast.Mult or (a.wide and b.wide)):
            a, b = self.settled(a), self.settled(b)
        if b.const is not None:
            a = self.at_run_time(a)
        sign = BINARY[kind]
        if kind in (ast.BitAnd, ast.BitOr, ast.BitXor):
            a, b, span = *self.bits(a, kind, b), bits_span(a, kind, b)
        else:
            span = span_of(sign, a.span, b.span)
        exact = f"({a.inexact} {sign} {b.inexact})" if sign in "+-*" else ""
        return val(f"({a.code} {sign} {b.code})", a.type, a, b, span=span, exact=exact)

    def at_run_time(self, value: Val) -> Val:
        """A number that WGSL's compiler does not reckon with: it refuses what runs over."""
        if value.const is None:
            return value
        name = self.fresh("t")
        self.emit(f"let {name} = {value.code};")
        return replace(value, code=name, const=None, weak=False)

    def bits(self, a: Val, kind: type, b: Val) -> tuple[Val, Val]:
        """The operands of &, | and ^: a mask of 32 bits cuts off what is above them."""
        masked = kind is ast.BitAnd and any(not p.wide and p.span[0] >= 0 for p in (a, b))
        return (a, b) if masked else (self.settled(a), self.settled(b))

    def shift(self, a: Val, left: bool, b: Val) -> Val:
        if "f32" in (a.type, b.type) or "f64" in (a.type, b.type):
            self.refuse("a shift of a number that is no integer")
        a = self.at_run_time(a)
        a, b = self.signed(a) if a.type == "bool" else a, self.settled(b)
        a = a if left and a.type == "u32" else self.settled(a)
        by = self.modular(self.signed(b) if b.type == "bool" else b, "u32")
        known = by.const is not None and by.const < 32
        if left:
            if not known:
                a, by = self.temporary(a), self.temporary(by)
            code = f"({a.code} << {by.code if known else f'min({by.code}, 31u)'})"
            most = by.const if known else 63
            span = min(a.span[0] << most, 0), max(a.span[1] << most, 0)
            if a.type == "u32":
                code = code if known else f"select({code}, 0u, {by.code} > 31u)"
                return val(code, "u32", a, by, span=span)
            exact = f"({a.inexact} * exp2(f32({by.code})))"
            return val(code, "i32", a, by, span=span, exact=exact)
        code = f"({a.code} >> {by.code if known else f'min({by.code}, 31u)'})"
        if a.type == "u32" and not known:
            by = self.temporary(by)
            code = f"select({a.code} >> min({by.code}, 31u), 0u, {by.code} > 31u)"
        return val(code, a.type, a, by, span=(min(a.span[0], 0), max(a.span[1], 0)))

    def floored(self, a: Val, quotient: bool, b: Val) -> Val:
        """// and % as Python has them: rounded down."""
        sign = "/" if quotient else "%"
        most = max(abs(a.span[0]), abs(a.span[1]))
        span = (-most - 1, most) if quotient else (min(b.span[0] + 1, 0), max(b.span[1] - 1, 0))
        span = (0, span[1]) if a.low and b.low else span
        span = max(span[0], FULL[a.type][0]), min(span[1], FULL[a.type][1])
        if a.type == "u32" or (a.low and b.low):
            return val(f"({a.code} {sign} {b.code})", a.type, a, b, span=span)
        if b.const and b.const > 0 and b.const & (b.const - 1) == 0:
            if quotient:
                code = f"({a.code} >> {b.const.bit_length() - 1}u)"
                return val(code, "i32", a, span=span)
            return val(f"({a.code} & {b.const - 1})", "i32", a, span=span)
        span = FULL["i32"] if quotient else span
        self.module.helper(f"floored{sign}", FLOORED[sign])
        name = "div_i32" if quotient else "mod_i32"
        return val(f"{name}({a.code}, {b.code})", "i32", a, b, span=span)

    def unary(self, op: ast.unaryop, operand: ast.expr) -> Val:
        if isinstance(op, ast.Not):
            test = self.condition(operand)
            return const(not test.const) if test.const is not None else val(
                f"!({test.code})", "bool", test)  # fmt: skip
        value = self.plain(self.value(operand))
        if isinstance(op, ast.UAdd) or value.type == "f64":
            return const(-value.const) if isinstance(op, ast.USub) else value
        if value.weak:
            return const(-value.const if isinstance(op, ast.USub) else ~value.const)
        if isinstance(op, ast.USub):
            if value.type == "u32" or value.narrow:
                self.refuse("minus an unsigned number, or one of 8 or 16 bits: write int32(…)")
            if value.type == "f32":
                return val(f"(-{value.code})", "f32", value)
            return self.binary(const(0), ast.Sub(), self.signed(value))
        if value.type in ("bool", "f32"):
            self.refuse("~ of anything but an integer")
        value = self.settled(value)
        of_64_bits = (0, 2**63)
        span = of_64_bits if value.type == "u32" else (-value.span[1] - 1, -value.span[0] - 1)
        return val(f"(~{value.code})", value.type, value, span=span)

    # Conditions

    def truth(self, value: Value) -> Val:
        value = self.plain(value)
        if value.type == "bool":
            return value
        if value.const is not None:
            return const(bool(value.const))
        value = self.settled(value)
        return val(f"({value.code} != {ZERO[value.type]})", "bool", value)

    def condition(self, node: ast.expr, as_value: bool = False) -> Val:
        """Whether an expression is true. As a value, `a and b` is one of the two: only bools."""
        match node:
            case ast.BoolOp(op, nodes):
                parts = [partial(self.condition, n, as_value) for n in nodes]
                return self.shortcut("&&" if isinstance(op, ast.And) else "||", parts)
            case ast.Compare(left, ops, nodes):
                return self.compared(left, ops, nodes)
        value = self.plain(self.value(node))
        if as_value and value.type != "bool":
            self.refuse("`and` or `or` of numbers, as a number")
        return self.truth(value)

    def shortcut(self, sign: str, parts: Sequence[Callable[[], Val]]) -> Val:
        """`and`, `or`: what is right of one that decides is not evaluated."""
        value = parts[0]()
        for part in parts[1:]:
            if value.const is not None:
                if value.const == (sign == "||"):
                    return value
                value = part()
                continue
            outer, self.lines = self.lines, []
            right = part()
            self.lines, lines = outer, self.lines
            if not lines:
                value = val(f"({value.code} {sign} {right.code})", "bool", value, right)
                continue
            name = self.fresh("t")
            self.emit(f"var {name} = {value.code};")
            test = name if sign == "&&" else f"!{name}"
            self.emit(f"if ({test}) {{ {' '.join(lines)} {name} = {right.code}; }}")
            value = val(name, "bool", value, right)
        return value

    def compared(self, left: ast.expr, ops: list, nodes: list) -> Val:
        if len(ops) == 1:
            a, b = self.values([left, nodes[0]])
            return self.comparison(a, ops[0], b)
        held = [self.temporary(self.value(left))]

        def link(n: int) -> Val:
            held.append(self.temporary(self.value(nodes[n])))
            return self.comparison(held[n], ops[n], held[n + 1])

        return self.shortcut("&&", [partial(link, n) for n in range(len(ops))])

    def comparison(self, a: Value, op: ast.cmpop, b: Value) -> Val:
        a, b = self.plain(a), self.plain(b)
        if type(op) not in COMPARED:
            self.refuse(f"`{type(op).__name__}`")
        sign, compare = COMPARED[type(op)]
        if not a.type == b.type == "bool" or sign not in ("==", "!="):
            a, b = self.comparable(a, b)
        if a.const is not None and b.const is not None:
            return const(bool(compare(a.const, b.const)))
        return val(f"({a.code} {sign} {b.code})", "bool", a, b)

    def comparable(self, a: Val, b: Val) -> tuple[Val, Val]:
        """One type; a Python float that float32 holds exactly may stand beside a float32."""
        if {a.type, b.type} == {"f32", "f64"}:
            number = (a if a.type == "f64" else b).const
            if float(np.float32(number)) == number and math.isfinite(number):
                return self.cast(a, "f32"), self.cast(b, "f32")
        a, b = self.common(a, b)
        return self.settled(a), self.settled(b)

    def either(self, test: Val, body: ast.expr, orelse: ast.expr) -> Value:
        """`a if test else b`: only the one that is wanted is evaluated."""
        if test.const is not None:
            return self.value(body if test.const else orelse)
        if test.costly:
            test = self.temporary(test)
        (a, first), (b, second) = self.apart(body), self.apart(orelse)
        if (
            isinstance(a, View)
            or isinstance(b, View)
            or isinstance(a, tuple) != isinstance(b, tuple)
        ):
            self.refuse("a choice between arrays, or of a tuple or something else")
        pairs = list(zip(a, b, strict=True)) if isinstance(a, tuple) else [(a, b)]
        results = []
        for one, other in pairs:
            one, other = self.alike(one, first, other, second)
            name = self.fresh("t")
            self.emit(f"var {name}: {one.type};")
            first.append(f"{name} = {one.code};")
            second.append(f"{name} = {other.code};")
            span = min(one.span[0], other.span[0]), max(one.span[1], other.span[1])
            results.append(val(name, one.type, one, other, test, span=span, costly=False))
        self.emit(f"if ({test.code}) {{ {' '.join(first)} }} else {{ {' '.join(second)} }}")
        return tuple(results) if isinstance(a, tuple) else results[0]

    def apart(self, node: ast.expr) -> tuple[Value, list[str]]:
        """A value, and the lines it takes."""
        outer, self.lines = self.lines, []
        value = self.value(node)
        self.lines, lines = outer, self.lines
        return value, lines

    def alike(self, a: Val, first: list[str], b: Val, second: list[str]) -> tuple[Val, Val]:
        """Both ways out of a choice in one type, whose lines go where each is evaluated."""
        a, b = self.plain(a), self.plain(b)
        floats = {a.type, b.type} == {"f32", "f64"}
        kind = "f32" if floats else self.joint(a, b)
        outer, self.lines = self.lines, first
        a = self.cast(a, kind)
        self.lines = second
        b = self.cast(b, kind)
        self.lines = outer
        return a, b

    def joint(self, a: Val, b: Val) -> str:
        if a.type == b.type:
            return a.type
        if a.type == "f64" or b.type == "f64":
            self.refuse(DOUBLE)
        if "f32" in (a.type, b.type):
            if not (a.weak or b.weak):
                self.refuse("an integer or a float32: in Numba a float64")
            return "f32"
        return "u32" if (a.weak and b.type == "u32" and a.const >= 0) or (
            b.weak and a.type == "u32" and b.const >= 0) else "i32"  # fmt: skip


def costly(value: Value) -> bool:
    if isinstance(value, tuple):
        return any(map(costly, value))
    return isinstance(value, Val) and value.costly


def within(span: Span, other: Span) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]


def span_of(sign: str, a: Span, b: Span) -> Span:
    """What a sum, difference or product may be."""
    if sign == "+":
        return a[0] + b[0], a[1] + b[1]
    if sign == "-":
        return a[0] - b[1], a[1] - b[0]
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def bits_span(a: Val, kind: type, b: Val) -> Span:
    if kind is ast.BitAnd:
        tops = [p.span[1] for p in (a, b) if not p.wide and p.span[0] >= 0]
        return (0, min(tops)) if tops else FULL[a.type]
    if a.low and b.low and not (a.wide or b.wide):
        return 0, (1 << max(a.span[1], b.span[1]).bit_length()) - 1
    return FULL[a.type]
