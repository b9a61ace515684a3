"""Statements of a kernel as WGSL: blocks, loops, and who has to agree before a barrier.

WGSL wants all threads of a workgroup at every barrier. Where a kernel has operations of warps but
no barrier of the block, a warp is a workgroup. A condition around a barrier is taken from the first
thread, and whoever disagrees reports its line; that is what CUDA asks, too. But operations of a
warp in a larger block, to which its warps may go different ways there, are refused where they do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ..source.names import is_docstring
from .calls import BARRIERS, Calls, calls_in
from .values import Val, Value, const, parts_of, val
from .writer import RESULT


class Body(Calls):
    """One function for one set of arguments."""

    loop_syncs = False  # may a barrier come by in the innermost loop?

    def text(self) -> str:
        """The WGSL function."""
        self.loops: list[tuple] = []
        self.block(self.tree.body, False)
        result, name = self.locals.get(RESULT), self.module.functions[self.key]
        struct = arrow = ending = ""
        if result:
            fields = ", ".join(f"e{n}: {kind}" for n, kind in enumerate(result.kinds))
            struct, arrow = f"struct R_{name} {{ {fields} }};\n", f" -> R_{name}"
            ending = "" if isinstance(self.tree.body[-1], ast.Return) else f"return R_{name}();"
        given = ["tid: vec3<i32>", "bid: vec3<i32>", "lin: i32"]
        given += [f"a_{parameter}: {kind}" for parameter, kind in self.parameters.items()]
        taken = [f"v_{parameter} = a_{parameter};" for parameter in self.parameters]
        body = "\n    ".join([*self.declared(), *taken, *self.lines, ending])
        return f"{struct}fn {name}({', '.join(given)}){arrow} {{\n    {body}\n}}"

    # Barriers

    def syncs(self, *nodes: ast.AST) -> set[str]:
        """The barriers that may come by in these statements, of warps and of the block."""
        return calls_in(list(nodes), self.names, self.module.uses) & BARRIERS

    def agreed(self, condition: Val, node: ast.AST, after: bool) -> Val:
        """The condition, from the first thread where all have to agree."""
        met, ways = self.syncs(node), leaving(node)
        missed = (after and ast.Return in ways) or (self.loop_syncs and ways - {ast.Return})
        if condition.uniform or not (met or missed):
            return condition
        warps = met and not self.module.split and "syncthreads" not in met
        said = self.said("warps" if warps else "agree")
        return Val(self.let(f"agree(lin, {condition.code}, {said})"), "bool", True)

    # Statements

    def inside(self, nodes: Sequence[ast.stmt], after: bool, uniform: bool = True) -> str:
        """The lines of a block of statements."""
        around, self.uniform_here = self.uniform_here, self.uniform_here and uniform
        with self.into([]) as lines:
            self.block(nodes, after)
        self.uniform_here = around
        return " ".join(lines)

    def block(self, nodes: Sequence[ast.stmt], after: bool) -> None:
        for n, node in enumerate(nodes):
            later = after or bool(self.syncs(*nodes[n + 1 :]))
            self.line = node.lineno
            self.statement(node, later)

    def statement(self, node: ast.stmt, after: bool) -> None:
        """`after`: may a barrier come by behind it?"""
        match node:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assignment(node)
            case ast.If():
                self.branch(node, after)
            case ast.While(test, _, []):
                self.emit(f"loop {{ {self.turns(node, after, lambda: self.condition(test))} }}")
            case ast.For(ast.Name(name), over, _, []):
                self.loop(node, name, over, after)
            case ast.Return(value):
                self.leave(value)
            case ast.Expr(ast.Call() as call):
                self.value(call)
            case ast.Break() | ast.Continue():
                self.part(node)
            case _ if not isinstance(node, ast.Pass) and not is_docstring(node):
                self.refuse(f"`{ast.unparse(node).splitlines()[0]}`")

    def assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        match node:
            case ast.Assign([target], value):
                self.assign(target, self.value(value))
            case ast.Assign(targets, value):
                held = self.temporary(self.value(value))
                for target in targets:
                    self.assign(target, held)
            case ast.AnnAssign(target, _, value) if value is not None:
                self.assign(target, self.value(value))
            case ast.AugAssign(ast.Name(name), op, value):
                self.set(name, self.binary(self.read(name), op, self.value(value)))
            case ast.AugAssign(ast.Subscript() as target, op, value):
                view, index = self.place(target)
                if index is None or isinstance(view, tuple):
                    self.refuse(f"`{ast.unparse(node)}`")
                at = self.temporary(index)
                before = self.load(view, at)
                self.store(view, at, self.binary(before, op, self.value(value)))

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(name):
                self.set(name, value)
            case ast.Subscript():
                view, index = self.place(target)
                self.store(view, index, self.plain(value))
            case ast.Tuple(targets) if isinstance(value, tuple) and len(value) == len(targets):
                for each, part in zip(targets, self.temporary(value), strict=True):
                    self.assign(each, part)
            case _:
                self.refuse(f"`{ast.unparse(target)} = …`")

    def branch(self, node: ast.If, after: bool) -> None:
        test = self.agreed(self.condition(node.test), node, after)
        yes = self.inside(node.body, after, test.uniform)
        no = self.inside(node.orelse, after, test.uniform)
        self.emit(f"if ({test.code}) {{ {yes} }}" + (f" else {{ {no} }}" if no else ""))

    # Loops

    def loop(self, node: ast.For, name: str, over: ast.expr, after: bool) -> None:
        match over:
            case ast.Tuple(items) if not leaving(ast.Module(node.body, [])):
                for item in items:  # unrolled
                    self.set(name, self.value(item))
                    self.block(node.body, after or bool(self.syncs(node)))
            case ast.Call(function, given) if self.names.resolve(function) is range:
                self.counted(node, name, self.values(given), after)
            case _:
                self.refuse("a loop over anything but a range, or over a tuple that is left early")

    def turns(self, node: ast.While | ast.For, after: bool, condition: Callable[[], Val],
              begin: Callable[[], None] = lambda: None) -> str:  # fmt: skip
        """What a loop repeats."""
        around, outside = self.uniform_here, self.loop_syncs
        self.loops.append((self.function, node.lineno))
        self.uniform_here = around and self.loops[-1] not in self.module.parted
        with self.into([]) as lines:
            self.count_turn()
            test = self.agreed(condition(), node, after)
            self.emit(f"if (!({test.code})) {{ break; }}")
            self.uniform_here = self.uniform_here and test.uniform
            self.loop_syncs = bool(self.syncs(node))
            begin()
            self.block(node.body, after or self.loop_syncs)
        self.uniform_here, self.loop_syncs = around, outside
        self.loops.pop()
        return " ".join(lines)

    def count_turn(self) -> None:
        """Where the driver ends loops unasked: report one that comes near."""
        if most := self.module.most_turns:
            self.emit(f"if (turned() > {most}) {{ {self.fault('turns')} }}")

    def counted(self, node: ast.For, name: str, given: list, after: bool) -> None:
        """A `range`, whose numbers are taken once; the variable keeps the last of them."""
        start, stop, step = [const(0), *given, const(1)] if len(given) == 1 else (
            [*given, const(1)][:3])  # fmt: skip
        if any(self.plain(v).type not in ("i32", "u32", "bool") for v in (start, stop, step)):
            self.refuse("a range of numbers that are no integers")
        if step.const == 0:
            self.refuse("a range with steps of 0")
        start, stop, step = (self.temporary(self.cast(v, "i32")) for v in (start, stop, step))
        k, up, down = self.fresh("k"), step.span[0] > 0, step.span[1] < 0
        way = f"{k} < {stop.code}" if up else f"{k} > {stop.code}"
        if not up and not down:
            way = f"select({k} > {stop.code}, {k} < {stop.code}, {step.code} > 0)"
        on = f"{k} += {step.code};"
        if step.const not in (1, -1):  # the last step must not lead around 32 bits
            over = self.fresh("o")
            self.emit(f"var {over} = false;")
            way = f"(!{over} && {way})"
            on = f"{over} = ending({k}, {stop.code}, {step.code}); {on}"
        most = max(start.span[1], stop.span[1] - 1)
        least = start.span[0] if up else min(start.span[0], stop.span[0] + 1)
        number = val(k, "i32", start, stop, step, span=(least, most))
        self.emit(f"var {k}: i32 = {start.code};")
        test = val(way, "bool", start, stop, step)
        lines = self.turns(node, after, lambda: test, lambda: self.set(name, number))
        self.emit(f"loop {{ {lines} continuing {{ {on} }} }}")

    def part(self, node: ast.stmt) -> None:
        """break or continue."""
        if not self.uniform_here:
            self.module.parted.add(self.loops[-1])
        self.emit(f"{ast.unparse(node)};")

    def leave(self, node: ast.expr | None) -> None:
        if not self.uniform_here:
            self.module.parted.update(self.loops)
        value = None if node is None else self.value(node)
        if value is None:
            return self.emit("return;")
        if self.kernel:
            self.refuse("a kernel that returns something")
        parts = tuple(self.settled(self.plain(part)) for part in parts_of(value))
        kinds = self.know(RESULT, parts if isinstance(value, tuple) else parts[0]).kinds
        codes = ", ".join(self.cast(v, kind).code for v, kind in zip(parts, kinds, strict=True))
        return self.emit(f"return R_{self.module.functions[self.key]}({codes});")


def leaving(node: ast.AST) -> set[type]:
    """The statements by which a thread may leave this one for good: Return, Break, Continue."""
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return {type(node)}
    found = {way for child in ast.iter_child_nodes(node) for way in leaving(child)}
    return found & {ast.Return} if isinstance(node, (ast.For, ast.While)) else found
