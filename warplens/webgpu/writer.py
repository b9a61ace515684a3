"""What translating a function keeps in mind: lines written so far, variables, how to refuse."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, NoReturn

from ..source.names import Names, source_of
from .text import FAULT
from .values import FULL, Local, Refused, Span, Val, Value, View, is_uniform, joined

if TYPE_CHECKING:
    from .module import Module

FAULTS = "agree", "warp", "wide", "turns"  # what a kernel may find out about itself, by number


class Writer:
    def __init__(self, module: Module, key: tuple, arguments: tuple, kernel: bool) -> None:
        self.module, self.key, self.kernel = module, key, kernel
        self.function: FunctionType = key[0]
        self.tree = source_of(self.function).tree
        self.names = Names(self.function, self.tree)
        self.locals: dict[str, Local] = module.locals.setdefault(key, {})
        self.lines: list[str] = []
        self.temps, self.line = 0, self.tree.lineno
        self.mask: str | None = "mask" if key[2] else None  # who of those that come by takes part
        self.uniform_here = not self.mask
        self.parameters: list[tuple[str, str]] = []
        a = self.tree.args
        if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or len(a.args) != len(arguments):
            self.refuse(f"{len(arguments)} arguments for {len(a.args)} plain parameters")
        for name, value in zip((p.arg for p in a.args), arguments, strict=True):
            self.take(name, value)

    def take(self, name: str, value: Value) -> None:
        """A parameter: what a device function is given may differ from thread to thread."""
        kind = "i32" if isinstance(value, View) else value.type
        self.parameters.append((name, kind))
        if isinstance(value, View):
            value = replace(value, offset=Val(f"v_{name}", "i32", self.kernel))
        else:
            span = FULL.get(kind, (0, 0))
            span = value.span if value.narrow else (0, span[1]) if value.low else span
            value = Val(f"v_{name}", kind, self.kernel, span=span)
        self.know(name, value)

    def refuse(self, what: str) -> NoReturn:
        raise Refused(what, self.line, self.function.__name__)

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def write(self, line: str) -> None:
        """Something to be remembered: only by those who take part."""
        self.lines.append(f"if ({self.mask}) {{ {line} }}" if self.mask else line)

    def fresh(self, letter: str) -> str:
        self.temps += 1
        return f"{letter}{self.temps}"

    def fault(self, kind: str) -> str:
        self.module.helper("fault", FAULT)
        self.module.faults = True
        return f"fault({self.said(kind)});"

    def said(self, kind: str) -> str:
        """The word that stands for a fault of this kind in this line."""
        return f"({self.line * 4 + FAULTS.index(kind)}u | P.zero)"

    def plain(self, value: Value) -> Val:
        if not isinstance(value, Val) or value.type == "void":
            self.refuse("an array, a tuple or nothing where a number belongs")
        return value

    def temporary(self, value: Value) -> Value:
        """The value as it is now, whatever is assigned next."""
        if isinstance(value, tuple):
            return tuple(map(self.temporary, value))
        if not isinstance(value, Val) or value.const is not None or value.type == "f64":
            return value
        name = self.fresh("t")
        self.emit(f"let {name} = {value.code};")
        if value.wide:
            exact = self.fresh("t")
            self.emit(f"let {exact} = {value.exact or '0.0'};")
            value = replace(value, exact=exact if value.exact else "")
        return replace(value, code=name, costly=False)

    def settled(self, value: Val) -> Val:
        raise NotImplementedError

    def cast(self, value: Val, kind: str) -> Val:
        raise NotImplementedError

    # Variables: what is known of them, from this pass and from those before

    def know(self, name: str, value: Value) -> object:
        """Note what a name is set to; back comes the variable's type, or its view."""
        known = self.locals.get(name)
        uniform = self.uniform_here and is_uniform(value)
        held: object
        if isinstance(value, View):
            held = replace(value, offset=Val(f"v_{name}", "i32"))
            if known and not (isinstance(known.value, View) and known.value.kind == held.kind):
                self.refuse(f"{name} stands for different arrays")
            spans: tuple[Span, ...] = ()
        elif isinstance(value, tuple):
            parts = [self.plain(v) for v in value]
            before = known.value if known else [""] * len(parts)
            if not isinstance(before, (tuple, list)) or len(before) != len(parts):
                self.refuse(f"{name} is a tuple and something else")
            held = tuple(self.join(name, b, v) for b, v in zip(before, parts, strict=True))
            spans = tuple(v.span for v in parts)
        else:
            before = known.value if known else ""
            if not isinstance(before, str):
                self.refuse(f"{name} is a number and something else")
            held, spans = self.join(name, before, self.plain(value)), (value.span,)
        if known:
            uniform = uniform and known.uniform
            spans = tuple(map(self.grown, known.spans, spans))
        self.locals[name] = Local(held, uniform, spans)
        return held

    def grown(self, before: Span, now: Span) -> Span:
        both = joined(before, now)
        if both == before or self.module.passes < 3:
            return both
        least = next(n for n in (0, -(2**31), -(2**63)) if n <= max(both[0], -(2**63)))
        most = next(n for n in (2**31 - 1, 2**32 - 1, 2**63) if n >= min(both[1], 2**63))
        return min(least, before[0]), max(most, before[1])

    def join(self, name: str, before: str, value: Val) -> str:
        """The type of a variable that was `before`, and is now set to this."""
        now = value.type
        if now == "f64":
            self.refuse(f"{name} is a Python float, so float64, which WGSL has not: write "
                        f"np.float32({value.code})")  # fmt: skip
        if not before or before == now or (value.weak and before == "u32" and value.const >= 0):
            return before or now
        if {before, now} == {"i32", "bool"}:
            return "i32"
        if (before == "i32" and now == "f32") or (before == "f32" and value.weak):
            self.refuse(f"{name} is an integer and a float32: in Numba a float64, which WGSL has "
                        "not; begin with np.float32(…)")  # fmt: skip
        self.refuse(f"{name} is of type {before} and of type {now}")

    def set(self, name: str, value: Value) -> None:
        if isinstance(value, tuple):
            value = tuple(self.settled(self.plain(v)) for v in value)
        elif isinstance(value, Val):
            value = self.temporary(value) if value.wide and value.type == "u32" else value
            value = value if value.type == "u32" else self.settled(value)
        held = self.know(name, value)
        if isinstance(held, View):
            self.write(f"v_{name} = {value.offset.code};")
        elif isinstance(held, tuple):
            for n, (part, kind) in enumerate(zip(value, held, strict=True)):
                self.write(f"v_{name}_{n} = {self.cast(part, kind).code};")
        else:
            code = value.code if value.type == held else self.cast(value, str(held)).code
            self.write(f"v_{name} = {code};")

    def read(self, name: str) -> Value:
        known = self.locals.get(name)
        if known is None:
            self.refuse(f"{name} is read before it is set")
        held, uniform = known.value, known.uniform
        if isinstance(held, View):
            return replace(held, offset=Val(f"v_{name}", "i32", uniform))
        if isinstance(held, tuple):
            parts = enumerate(zip(held, known.spans, strict=True))
            return tuple(Val(f"v_{name}_{n}", k, uniform, span=s) for n, (k, s) in parts)
        return Val(f"v_{name}", held, uniform, span=known.spans[0])

    def declared(self) -> list[str]:
        """The function's variables in WGSL."""
        found = []
        for name, local in self.locals.items():
            held = local.value
            if isinstance(held, View):
                found.append(f"var v_{name}: i32;")
            elif isinstance(held, tuple):
                found += [f"var v_{name}_{n}: {kind};" for n, kind in enumerate(held)]
            else:
                found.append(f"var v_{name}: {held};")
        return found


def leaving(node: ast.AST) -> set[type]:
    """The statements by which a thread may leave this one for good: Return, Break, Continue."""
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return {type(node)}
    found = {way for child in ast.iter_child_nodes(node) for way in leaving(child)}
    return found & {ast.Return} if isinstance(node, (ast.For, ast.While)) else found
