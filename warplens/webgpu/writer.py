"""What translating a function keeps in mind: lines written so far, variables, how to refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from ..source.names import Names, source_of
from .values import FULL, NONE, Local, Refused, Span, Val, Value, View, joined, parts_of

if TYPE_CHECKING:
    from .module import Module

FAULTS = "agree", "warps", "wide", "turns"  # what a kernel may find out about itself, by number
RESULT = "the result"  # of a function, kept as a variable is
LEAST, MOST = (0, -(2**31), -(2**63)), (2**31 - 1, 2**32 - 1, 2**63)  # where spans grow to


class Writer:
    def __init__(self, module: Module, key: tuple, arguments: tuple, kernel: bool) -> None:
        self.module, self.key, self.kernel = module, key, kernel
        self.function: FunctionType = key[0]
        self.tree = source_of(self.function).tree
        self.names = Names(self.function, self.tree)
        self.locals: dict[str, Local] = module.locals.setdefault(key, {})
        self.lines: list[str] = []
        self.temps, self.line = 0, self.tree.lineno
        self.uniform_here = True  # do all threads of a workgroup come by here?
        a = self.tree.args
        if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or len(a.args) != len(arguments):
            self.refuse(f"{len(arguments)} arguments for {len(a.args)} plain parameters")
        self.parameters = {
            p.arg: self.take(p.arg, value) for p, value in zip(a.args, arguments, strict=True)
        }

    def take(self, name: str, value: Value) -> str:
        """A parameter: what a device function is given may differ from thread to thread."""
        if isinstance(value, View):
            self.know(name, replace(value, offset=Val("", "i32", self.kernel)))
            return "i32"
        least, most = FULL.get(value.type, NONE)
        span = (0, most) if value.low else (least, most)
        self.know(name, Val("", value.type, self.kernel, span=span))
        return value.type

    def refuse(self, what: str) -> NoReturn:
        raise Refused(what, self.line, self.function.__name__)

    # Lines

    def emit(self, line: str) -> None:
        self.lines.append(line)

    @contextmanager
    def into(self, lines: list[str]) -> Iterator[list[str]]:
        """Meanwhile lines are written there."""
        outer, self.lines = self.lines, lines
        try:
            yield lines
        finally:
            self.lines = outer

    def fresh(self, letter: str) -> str:
        self.temps += 1
        return f"{letter}{self.temps}"

    def let(self, code: str) -> str:
        name = self.fresh("t")
        self.emit(f"let {name} = {code};")
        return name

    def fault(self, kind: str) -> str:
        return f"fault({self.said(kind)});"

    def said(self, kind: str) -> str:
        """The word that stands for a fault of this kind in this line."""
        return f"({self.line * len(FAULTS) + FAULTS.index(kind)}u | P.zero)"

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
        exact = self.let(value.exact) if value.wide and value.exact else ""
        return replace(value, code=self.let(value.code), exact=exact)

    def settled(self, value: Val) -> Val:
        raise NotImplementedError

    def cast(self, value: Val, kind: str) -> Val:
        raise NotImplementedError

    # Variables: what is known of them, from this pass and from those before

    def know(self, name: str, value: Value) -> Local:
        """Note what a name is set to."""
        view: View | None = None
        form: Any = len(value) if isinstance(value, tuple) else None
        if isinstance(value, View):
            view, form, parts = replace(value, offset=Val("", "i32")), value.kind, [value.offset]
        else:
            parts = [self.plain(part) for part in parts_of(value)]
        uniform = self.uniform_here and all(part.uniform for part in parts)
        known = self.locals.get(name)
        if known and known.form != form:
            self.refuse(f"{name} stands for different arrays, or for a tuple and something else")
        befores = known.kinds if known else ("",) * len(parts)
        kinds = tuple(self.join(name, *pair) for pair in zip(befores, parts, strict=True))
        spans = tuple(part.span for part in parts)
        if known:
            uniform = uniform and known.uniform
            spans = tuple(map(self.grown, known.spans, spans))
        self.locals[name] = Local(form, kinds, spans, uniform, view)
        return self.locals[name]

    def grown(self, before: Span, now: Span) -> Span:
        both = joined(before, now)
        if both == before or self.module.passes < 3:
            return both
        least = next(n for n in LEAST if n <= max(both[0], LEAST[-1]))
        most = next(n for n in MOST if n >= min(both[1], MOST[-1]))
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
        if not isinstance(value, View):
            parts = tuple(map(self.whole, map(self.plain, parts_of(value))))
            value = parts if isinstance(value, tuple) else parts[0]
        local = self.know(name, value)
        parts = (value.offset,) if isinstance(value, View) else parts_of(value)
        for slot, kind, part in zip(slots(name, local), local.kinds, parts, strict=True):
            code = part.code if part.type == kind else self.cast(part, kind).code
            self.emit(f"{slot} = {code};")

    def whole(self, value: Val) -> Val:
        """As a variable keeps it: of uint32 the lower bits, which may be all that is asked for."""
        return value if value.type == "u32" else self.settled(value)

    def read(self, name: str) -> Value:
        local = self.locals.get(name)
        if local is None:
            self.refuse(f"{name} is read before it is set")
        values = tuple(
            Val(slot, kind, local.uniform, span=span)
            for slot, kind, span in zip(slots(name, local), local.kinds, local.spans, strict=True)
        )
        if local.view:
            return replace(local.view, offset=values[0])
        return values if isinstance(local.form, int) else values[0]

    def declared(self) -> list[str]:
        """The function's variables in WGSL."""
        return [f"var {slot}: {kind};" for name, local in self.locals.items() if name != RESULT
                for slot, kind in zip(slots(name, local), local.kinds, strict=True)]  # fmt: skip


def slots(name: str, local: Local) -> list[str]:
    """The variables of WGSL that hold one of Python's."""
    if isinstance(local.form, int):
        return [f"v_{name}_{n}" for n in range(local.form)]
    return [f"v_{name}"]
