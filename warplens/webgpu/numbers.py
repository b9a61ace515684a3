"""Numbers: Numba's rules for types and operators, as far as 32 bits and float32 reach."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .values import FULL, Span, Val, Value, const, val, within
from .writer import Writer

SIGNS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
OF_BOOLS: dict[type, str] = {ast.BitAnd: "&&", ast.BitOr: "||", ast.BitXor: "!="}
COMPARED: dict[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
DOUBLE = "float64, which WGSL has not: write np.float32(…) around the number"
WIDE = "2147400000.0"  # what is nearer to 2³¹ float32 does not tell from it


def ends(a: Span, b: Span) -> list[int]:
    return [x * y for x in a for y in b]


SPANS: dict[type, Callable[[Span, Span], Span]] = {  # what a sum, difference or product may be
    ast.Add: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ast.Sub: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    ast.Mult: lambda a, b: (min(ends(a, b)), max(ends(a, b))),
}


class Numbers(Writer):
    # Types

    def cast(self, value: Value, kind: str) -> Val:
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
            return val(f"{kind}({value.code})", kind, value, span=(0, 1))
        if value.const is not None and value.type != "f32":
            if kind == "f32":
                return const(np.float32(value.const))
            if not within(value.span, FULL[kind]):
                self.refuse(f"the number {value.const} beside an integer of other 32 bits")
            return self.modular(value, kind)
        changed = val(f"{kind}({value.code})", kind, value)
        if "f32" in (kind, value.type):
            return changed
        return self.settled(replace(changed, span=value.span, exact=value.inexact))

    def settled(self, value: Val) -> Val:
        """An integer of which all 64 bits are asked for: the kernel looks whether 32 hold it."""
        if not value.wide:
            return value
        if value.type == "u32":
            self.refuse("a product, sum or difference of uint32 has 64 bits in Numba: write "
                        "uint32(…) around it")  # fmt: skip
        value = self.temporary(value)
        self.check_wide(value.exact)
        return replace(value, span=FULL["i32"], exact="")

    def check_wide(self, exact: str) -> None:
        self.emit(f"if (abs({exact}) >= {WIDE}) {{ {self.fault('wide')} }}")

    def modular(self, value: Value, kind: str) -> Val:
        """The lower 32 bits of an integer as i32 or u32; other numbers as `cast` has them."""
        value = self.plain(value)
        if value.type == kind and kind in ("i32", "u32"):
            return replace(value, span=FULL[kind]) if value.wide else value
        if {value.type, kind} != {"i32", "u32"}:
            return self.cast(value, kind)
        if value.const is not None:
            return const(np.array(value.const % 2**32, np.uint32).view(f"{kind[0]}4")[()])
        span = value.span if within(value.span, FULL[kind]) else FULL[kind]
        return val(f"{kind}({value.code})", kind, value, span=span)

    def at_run_time(self, value: Val) -> Val:
        """A number that WGSL's compiler does not reckon with: it refuses what runs over."""
        if value.const is None:
            return value
        return replace(value, code=self.let(value.code), const=None, weak=False)

    def signed(self, value: Val) -> Val:
        return self.cast(value, "i32") if value.type in ("u32", "bool") else value

    def common(self, a: Val, b: Val) -> tuple[Val, Val]:
        """Both as one type, by Numba's rules where these need no 64 bits."""
        pair = a, b
        for one in pair:
            if one.type == "f64":
                self.refuse(f"the Python float {one.code} makes {DOUBLE}")
        if "f32" in (a.type, b.type):
            for one in pair:
                if one.type in ("i32", "u32") and not one.weak:
                    self.refuse("an integer and a float32 make float64, which WGSL has not: write "
                                "float32(…) around the integer")  # fmt: skip
                if one.weak and abs(one.const) > 2**24:
                    self.refuse(f"{one.const} and a float32 make {DOUBLE}")
            return self.cast(a, "f32"), self.cast(b, "f32")
        if "u32" in (a.type, b.type) and all(
            one.type == "u32" or (one.weak and one.const >= 0) for one in pair
        ):  # of another pair Numba makes int64
            a, b = (self.modular(one, "u32") if one.type != "u32" else one for one in pair)
            return a, b
        return self.signed(a), self.signed(b)

    def comparable(self, a: Val, b: Val) -> tuple[Val, Val]:
        """One type; a Python float that float32 holds exactly may stand beside a float32."""
        if {a.type, b.type} == {"f32", "f64"}:
            number = (a if a.type == "f64" else b).const
            if float(np.float32(number)) == number and math.isfinite(number):
                return self.cast(a, "f32"), self.cast(b, "f32")
        a, b = self.common(a, b)
        return self.settled(a), self.settled(b)

    def joint(self, a: Val, b: Val) -> str:
        """The type of a value that is one of two."""
        with self.into([]):
            return a.type if a.type == b.type else self.comparable(a, b)[0].type

    def truth(self, value: Value) -> Val:
        value = self.plain(value)
        if value.type == "bool":
            return value
        if value.const is not None:
            return const(bool(value.const))
        value = self.settled(value)
        return val(f"bool({value.code})", "bool", value)

    # Operators

    def binary(self, a: Value, op: ast.operator, b: Value) -> Val:
        a, b, kind = self.plain(a), self.plain(b), type(op)
        if kind is ast.Pow:
            if b.const != 2 or a.type == "f64":
                self.refuse("** with another exponent than 2")
            a = self.temporary(self.cast(a, "i32") if a.type == "bool" else a)
            return self.binary(a, ast.Mult(), a)
        if kind not in SIGNS:
            self.refuse(f"the operator {kind.__name__}")
        if a.type == b.type == "bool" and kind in OF_BOOLS:
            return val(f"({a.code} {OF_BOOLS[kind]} {b.code})", "bool", a, b)
        if kind in (ast.LShift, ast.RShift):
            return self.shift(a, kind is ast.LShift, b)
        if kind is ast.Div and not {a.type, b.type} & {"f32", "f64"}:
            self.refuse("a quotient of integers is float64: write float32(…) / float32(…)")
        self.check_literal(a, kind, b)
        a, b = self.common(a, b)
        if a.type != "f32":
            return self.of_integers(a, kind, b)
        if kind not in (ast.Add, ast.Sub, ast.Mult, ast.Div):
            self.refuse(f"`{'//' if kind is ast.FloorDiv else SIGNS[kind]}` of float32")
        return val(f"({a.code} {SIGNS[kind]} {b.code})", "f32", a, b)

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
        if kind in SPANS and a.weak and b.weak:
            return const(SPANS[kind](a.span, b.span)[0])
        if kind in (ast.FloorDiv, ast.Mod):
            return self.floored(self.settled(a), kind is ast.FloorDiv, self.settled(b))
        if a.type == "i32" and (kind is ast.Mult or (a.wide and b.wide)):
            a, b = self.settled(a), self.settled(b)
        if b.const is not None:
            a = self.at_run_time(a)
        sign, exact = SIGNS[kind], ""
        if kind in SPANS:
            span, exact = SPANS[kind](a.span, b.span), f"({a.inexact} {sign} {b.inexact})"
        else:  # a mask of 32 bits cuts off what is above them
            masks = [one.span[1] for one in (a, b) if not one.wide and one.span[0] >= 0]
            if kind is not ast.BitAnd or not masks:
                a, b = self.settled(a), self.settled(b)
            span = bits_span(a, kind, b, masks)
        return val(f"({a.code} {sign} {b.code})", a.type, a, b, span=span, exact=exact)

    def shift(self, a: Val, left: bool, b: Val) -> Val:
        """By a number that is known: a product with a power of two, or a division by one."""
        if not {a.type, b.type} <= {"i32", "u32"} or b.const is None or not 0 <= b.const < 32:
            self.refuse("a shift but of an integer by a known number, 0 to 31")
        by = int(b.const)
        if left:
            return self.binary(a, ast.Mult(), const(2**by))
        a = self.at_run_time(self.settled(a))
        return val(f"({a.code} >> {by}u)", a.type, a, span=(a.span[0] >> by, a.span[1] >> by))

    def floored(self, a: Val, quotient: bool, b: Val) -> Val:
        """// and % as Python has them: rounded down."""
        most = max(map(abs, a.span))
        span = (-most - 1, most) if quotient else (min(b.span[0] + 1, 0), max(b.span[1] - 1, 0))
        least, most = (0, span[1]) if a.low and b.low else span
        span = max(least, FULL[a.type][0]), min(most, FULL[a.type][1])
        if a.low and b.low:
            return val(f"({a.code} {'/' if quotient else '%'} {b.code})", a.type, a, b, span=span)
        name = "div_i32" if quotient else "mod_i32"
        return val(f"{name}({a.code}, {b.code})", "i32", a, b, span=span)

    def unary(self, op: ast.unaryop, value: Value) -> Val:
        value = self.plain(value)
        if isinstance(op, ast.UAdd):
            return value
        negative = isinstance(op, ast.USub)
        if value.weak and (negative or value.type != "f64"):
            return const(-value.const if negative else ~value.const)
        if negative and value.type == "f32":
            return val(f"(-{value.code})", "f32", value)
        if value.type == "u32" or not (negative or value.type == "i32"):
            self.refuse("minus or ~ of anything but a signed number: write int32(…)")
        return self.binary(const(0 if negative else -1), ast.Sub(), self.signed(value))

    def comparison(self, a: Value, op: ast.cmpop, b: Value) -> Val:
        a, b = self.plain(a), self.plain(b)
        if type(op) not in COMPARED:
            self.refuse(f"`{type(op).__name__}`")
        sign = COMPARED[type(op)]
        if not a.type == b.type == "bool" or sign not in ("==", "!="):
            a, b = self.comparable(a, b)
        return val(f"({a.code} {sign} {b.code})", "bool", a, b)


def bits_span(a: Val, kind: type, b: Val, masks: list[int]) -> Span:
    """What &, | or ^ of two may be; `masks`: the greatest of those that are never negative."""
    if kind is ast.BitAnd:
        return (0, min(masks)) if masks else FULL[a.type]
    if len(masks) == 2:
        return 0, (1 << max(masks).bit_length()) - 1
    return FULL[a.type]
