"""Statements of a kernel as WGSL: blocks, loops, and who has to agree before a barrier.

WGSL wants all threads of a workgroup at every barrier. Where a kernel has operations of warps but
no barrier of the block, a warp is a workgroup. A condition around a barrier is taken from the first
thread, and whoever disagrees reports its line; that is what CUDA asks, too. Only around operations
of a warp in a larger block may warps go different ways: then all of them come along, and a mask
says who takes part.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence

from ..source.names import Cuda, dtype_named, is_docstring
from . import text
from .calls import BARRIERS, Calls, calls_in
from .values import STORED, ZERO, Root, Val, Value, View, const, val
from .writer import leaving


class Body(Calls):
    """One function for one set of arguments."""

    loop_syncs = False  # may a barrier come by in the innermost loop?
    turn: tuple[str, str] | None = None  # of a masked loop: who stays in it, who is in this turn

    def text(self) -> str:
        """The WGSL function."""
        self.loops: list[tuple] = []
        self.block(self.tree.body, False)
        result, name = self.module.returns.get(self.key), self.module.functions[self.key]
        struct = arrow = ending = ""
        if isinstance(result, tuple):
            fields = ", ".join(f"e{n}: {kind}" for n, kind in enumerate(result))
            struct, arrow = f"struct R_{name} {{ {fields} }};\n", f" -> R_{name}"
            ending = f"return R_{name}({', '.join(ZERO[kind] for kind in result)});"
        elif result:
            arrow, ending = f" -> {result}", f"return {ZERO[result]};"
        if isinstance(self.tree.body[-1], ast.Return) and not self.key[2]:
            ending = ""
        given = ["tid: vec3<i32>", "bid: vec3<i32>", "lin: i32", *(["mask: bool"] * self.key[2])]
        given += [f"a_{parameter}: {kind}" for parameter, kind in self.parameters]
        taken = [f"v_{parameter} = a_{parameter};" for parameter, _ in self.parameters]
        body = "\n    ".join([*self.declared(), *taken, *self.lines, ending])
        return f"{struct}fn {name}({', '.join(given)}){arrow} {{\n    {body}\n}}"

    # Barriers

    def syncs(self, *nodes: ast.AST) -> set[str]:
        """The barriers that may come by in these statements, of warps and of the block."""
        return calls_in(list(nodes), self.names, self.module.uses) & BARRIERS

    def masked(self, condition: Val, node: ast.AST) -> bool:
        """Must threads that do not come by here keep the others company at a barrier?"""
        found = self.syncs(node)
        if not found or self.module.split or "syncthreads" in found:
            return False
        return not condition.uniform

    def agreed(self, condition: Val, node: ast.AST, after: bool) -> Val:
        """The condition, from the first thread where all have to agree."""
        ways = leaving(node)
        missed = (after and ast.Return in ways) or (self.loop_syncs and ways - {ast.Return})
        if condition.uniform or not (self.syncs(node) or missed):
            return condition
        self.fault("agree")
        self.module.helper("agree", text.AGREE)
        name = self.fresh("t")
        self.emit(f"let {name} = agree(lin, {condition.code}, {self.said('agree')});")
        return Val(name, "bool", True)

    def mask_of(self, code: str) -> str:
        name = self.fresh("m")
        self.emit(f"var {name} = {f'{self.mask} && ' if self.mask else ''}({code});")
        return name

    # Statements

    def inside(self, nodes: Sequence[ast.stmt], after: bool, uniform: bool = True,
               mask: str | None = None) -> str:  # fmt: skip
        """The lines of a block of statements."""
        outer, self.lines = self.lines, []
        around, self.uniform_here = self.uniform_here, self.uniform_here and uniform
        before, self.mask = self.mask, mask
        self.block(nodes, after)
        self.lines, lines = outer, self.lines
        self.uniform_here, self.mask = around, before
        return " ".join(lines)

    def block(self, nodes: Sequence[ast.stmt], after: bool) -> None:
        for n, node in enumerate(nodes):
            later = after or bool(self.syncs(*nodes[n + 1 :]))
            self.line = node.lineno
            if self.mask and not self.syncs(node):  # nobody waits in it: a branch will do
                self.check_leaving(node, nodes[n + 1 :], later)
                self.emit(f"if ({self.mask}) {{ {self.inside([node], later)} }}")
            else:
                self.statement(node, later)

    def check_leaving(self, node: ast.stmt, rest: Sequence[ast.stmt], later: bool) -> None:
        """Where warps go different ways, only plain ways out of a turn are followed."""
        if not leaving(node):
            return
        if any(isinstance(n, ast.Return) for n in ast.walk(node)) and (later or self.turn):
            self.refuse("a return where the warps of a block go different ways")
        if self.turn and isinstance(node, (ast.If, ast.Break, ast.Continue)):
            ways = [node.body, node.orelse] if isinstance(node, ast.If) else []
            if all(not leaving(ast.Module(way[:-1], [])) for way in ways) and not any(
                isinstance(n, ast.If) and leaving(n) for way in ways for n in way
            ):
                return
        if self.turn:
            self.refuse("this way out of a loop where the warps of a block go different ways")

    def statement(self, node: ast.stmt, after: bool) -> None:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as call) if self.is_array(call):
                self.allocate(name, call)
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
                self.assign_many(targets, values)
            case ast.Assign(targets, value):
                held = self.value(value)
                held = self.temporary(held) if len(targets) > 1 or isinstance(held, tuple) else held
                for target in targets:
                    self.assign(target, held)
            case ast.AnnAssign(target, _, value) if value is not None:
                self.assign(target, self.value(value))
            case ast.AugAssign(ast.Name(name), op, value):
                before = self.temporary(self.read(name))
                self.set(name, self.binary(before, op, self.value(value)))
            case ast.AugAssign(ast.Subscript() as target, op, value):
                view, index = self.place(target)
                if index is None or isinstance(view, tuple):
                    self.refuse(f"`{ast.unparse(target)} {ast.unparse(value)}`")
                at = self.temporary(index)
                before = self.temporary(self.load(view, at))
                self.store(view, at, self.binary(before, op, self.value(value)))
            case ast.If():
                self.branch(node, after)
            case ast.While(test, body, []):
                self.while_(node, test, body, after)
            case ast.For(ast.Name(name), ast.Tuple(items), body, []):
                if leaving(ast.Module(body, [])):
                    self.refuse("break, continue or return in a loop over a tuple")
                for item in items:  # unrolled
                    self.set(name, self.value(item))
                    self.block(body, after or bool(self.syncs(node)))
            case ast.For(ast.Name(name), ast.Call() as call, body, []) if self.is_range(call):
                self.counted(node, name, call, body, after)
            case ast.Return(value):
                self.leave(value)
            case ast.Expr(ast.Call() as call):
                self.value(call)
            case ast.Break() | ast.Continue():
                self.part(node)
            case ast.Pass():
                pass
            case _ if is_docstring(node):
                pass
            case _:
                self.refuse(f"`{ast.unparse(node).splitlines()[0]}`")

    def assign_many(self, targets: list, values: list) -> None:
        arrays = [isinstance(v, ast.Call) and self.is_array(v) for v in values]
        numbers = [v for v, array in zip(values, arrays, strict=True) if not array]
        held = iter([self.temporary(value) for value in self.values(numbers)])
        for target, value, array in zip(targets, values, arrays, strict=True):
            if array:
                self.allocate(target.id, value)
            else:
                self.assign(target, next(held))

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(name):
                self.set(name, value)
            case ast.Subscript():
                value = self.temporary(self.plain(value)) if self.has_call(target) else value
                view, index = self.place(target)
                self.store(view, index, self.plain(value))
            case ast.Tuple(targets) if isinstance(value, tuple) and len(value) == len(targets):
                for each, part in zip(targets, value, strict=True):
                    self.assign(each, part)
            case _:
                self.refuse(f"`{ast.unparse(target)} = …`")

    def has_call(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Call) for n in ast.walk(node))

    def branch(self, node: ast.If, after: bool) -> None:
        test = self.condition(node.test)
        if test.const is not None:
            return self.block(node.body if test.const else node.orelse, after)
        if self.mask or self.masked(test, node):
            test = self.temporary(test)
            for way, code in (node.body, test.code), (node.orelse, f"!{test.code}"):
                if way:
                    self.emit(self.inside(way, after, False, self.mask_of(code)))
            return None
        test = self.agreed(test, node, after)
        yes = self.inside(node.body, after, test.uniform)
        no = self.inside(node.orelse, after, test.uniform)
        self.emit(f"if ({test.code}) {{ {yes} }}" + (f" else {{ {no} }}" if no else ""))

    # Loops

    def while_(self, node: ast.While, test: ast.expr, body: list, after: bool) -> None:
        if "atomic.cas" in (used := calls_in([test], self.names, self.module.uses)) or (
            used & {"atomic.exch", "atomic.compare_and_swap"}
        ):
            self.refuse("a lock: here nothing promises that threads wait for each other")
        lines = self.turns(node, after, lambda: self.condition(test), body)
        self.emit(f"loop {{ {lines} }}")

    def turns(self, node: ast.stmt, after: bool, condition: Callable[[], Val], body: list,
              begin: Callable[[], None] = lambda: None) -> str:  # fmt: skip
        """What a loop repeats: it ends where its threads say so, or, of those that meet at a
        barrier in it, the last one."""
        outer, self.lines = self.lines, []
        around, known, mask, outside = self.uniform_here, self.turn, self.mask, self.loop_syncs
        self.loops.append((self.function, node.lineno))
        self.uniform_here = around and self.loops[-1] not in self.module.parted
        self.count_turn()
        test = condition()
        if mask or self.masked(test, node):
            staying, turn = self.fresh("m"), self.fresh("n")
            outer.append(f"var {staying} = {mask or 'true'};")
            self.module.helper("any_of", text.ANY_OF)
            self.emit(f"{staying} = {staying} && ({test.code}); var {turn} = {staying};")
            self.emit(f"if (!any_of(lin, {staying})) {{ break; }}")
            self.mask, self.turn, self.uniform_here = turn, (staying, turn), False
            begin()
            self.emit(self.inside(body, True, False, turn))
        else:
            test, self.turn = self.agreed(test, node, after), None
            self.uniform_here = self.uniform_here and test.uniform
            self.loop_syncs = bool(self.syncs(node))
            self.emit(f"if (!({test.code})) {{ break; }}")
            begin()
            self.emit(self.inside(body, after or bool(self.syncs(node))))
        self.turn, self.uniform_here, self.mask = known, around, mask
        self.loop_syncs = outside
        self.loops.pop()
        self.lines, lines = outer, self.lines
        return " ".join(lines)

    def count_turn(self) -> None:
        """Where the driver ends loops unasked: report one that comes near."""
        if self.module.most_turns:
            self.module.helper("turned", "var<private> turned: i32;")
            most = self.module.most_turns
            self.emit(f"turned += 1; if (turned > {most}) {{ {self.fault('turns')} }}")

    def counted(self, node: ast.For, name: str, call: ast.Call, body: list, after: bool) -> None:
        """A `range`, whose numbers are taken once; the variable keeps the last of them."""
        given = self.values(call.args)
        if len(given) == 1:
            given = [const(0), *given]
        start, stop, step = (*given, const(1))[:3]
        if any(self.plain(v).type not in ("i32", "u32", "bool") for v in (start, stop, step)):
            self.refuse("a range of numbers that are no integers")
        start, stop, step = (self.temporary(self.cast(v, "i32")) for v in (start, stop, step))
        k, up, down = self.fresh("k"), step.span[0] > 0, step.span[1] < 0
        if step.const == 0:
            self.refuse("a range with steps of 0")
        way = f"{k} < {stop.code}" if up else f"{k} > {stop.code}"
        if not up and not down:
            way = f"select({k} > {stop.code}, {k} < {stop.code}, {step.code} > 0)"
        on = f"{k} += {step.code};"
        if step.const not in (1, -1):  # the last step must not lead around 32 bits
            over, left = self.fresh("o"), self.ending(k, stop, step)
            self.emit(f"var {over} = false;")
            way, on = f"(!{over} && {way})", f"if ({left}) {{ {over} = true; }} {on}"
        test = val(way, "bool", start, stop, step)
        span = (min(start.span[0], stop.span[0] + 1), max(start.span[1], stop.span[1] - 1))
        number = val(k, "i32", start, stop, step,
                     span=(start.span[0], span[1]) if up else span)  # fmt: skip
        self.emit(f"var {k}: i32 = {start.code};")
        lines = self.turns(node, after, lambda: test, body, lambda: self.set(name, number))
        self.emit(f"loop {{ {lines} continuing {{ {on} }} }}")

    def ending(self, k: str, stop: Val, step: Val) -> str:
        """Whether a loop's next number is beyond its end."""
        up = f"u32({stop.code} - {k}) <= u32({step.code})"
        down = f"u32({k} - {stop.code}) <= u32(-({step.code}))"
        if step.const is not None:
            return up.replace(f"u32({step.code})", f"{step.const}u") if step.const > 0 else (
                down.replace(f"u32(-({step.code}))", f"{-step.const}u"))  # fmt: skip
        return f"select({down}, {up}, {step.code} > 0)"

    def part(self, node: ast.stmt) -> None:
        """break or continue."""
        if not self.loops:
            self.refuse(f"`{ast.unparse(node)}` in a loop over a tuple")
        if not self.uniform_here:
            self.module.parted.add(self.loops[-1])
        leaves = isinstance(node, ast.Break)
        if self.turn:
            staying, turn = self.turn
            self.emit(f"{staying} = false; {turn} = false;" if leaves else f"{turn} = false;")
        else:
            self.emit("break;" if leaves else "continue;")

    def leave(self, node: ast.expr | None) -> None:
        if not self.uniform_here:
            self.module.parted.update(self.loops)
        value = None if node is None else self.value(node)
        if value is None:
            return self.emit("return;")
        if self.kernel:
            self.refuse("a kernel that returns something")
        parts = value if isinstance(value, tuple) else (value,)
        parts = tuple(self.settled(self.plain(part)) for part in parts)
        if any(part.narrow for part in parts):
            self.refuse("a result of 8 or 16 bits: write int32(…)")
        before = self.module.returns.get(self.key)
        befores = before if isinstance(before, tuple) else (before or "",) * len(parts)
        if len(befores) != len(parts) or (
            before and isinstance(before, tuple) != isinstance(value, tuple)
        ):
            self.refuse("results of different kinds")
        what = f"the result of {self.function.__name__}"
        kinds = tuple(self.join(what, b, v) for b, v in zip(befores, parts, strict=True))
        codes = ", ".join(self.cast(v, k).code for v, k in zip(parts, kinds, strict=True))
        self.module.returns[self.key] = kinds if isinstance(value, tuple) else kinds[0]
        name = f"R_{self.module.functions[self.key]}"
        self.emit(f"return {name}({codes});" if isinstance(value, tuple) else f"return {codes};")

    # Arrays of the kernel's own

    def is_array(self, node: ast.Call) -> bool:
        target = self.names.resolve(node.func)
        return isinstance(target, Cuda) and target.name in ("shared.array", "local.array")

    def is_range(self, node: ast.Call) -> bool:
        return self.names.resolve(node.func) is range

    def allocate(self, name: str, call: ast.Call) -> None:
        shared = self.names.resolve(call.func).name == "shared.array"
        given = dict(zip(("shape", "dtype"), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg}
        shape = self.value(given["shape"])
        shape = shape if isinstance(shape, tuple) else (shape,)
        dtype = dtype_named(self.names.resolve(given["dtype"]))
        if any(n.const is None for n in shape):
            self.refuse(f"{name} has a shape that is not known when the kernel is translated")
        if dtype is None or dtype.name not in STORED:
            self.refuse(f"{name} holds {dtype}, which WGSL has not")
        sizes = [int(n.const) for n in shape]
        if math.prod(sizes) == 0:
            self.refuse(f"{name} has its size from the launch")
        strides = tuple(const(math.prod(sizes[axis + 1 :])) for axis in range(len(sizes)))
        # Workgroup memory belongs to a line of Python, private memory to a function's instance.
        space, owner = "private", self.module.functions[self.key]
        if shared:
            space, owner = "workgroup", f"{self.function.__name__}_{self.line}"
        root = Root(f"{space[0]}_{owner}_{name}", dtype.name, space, math.prod(sizes))
        self.module.root(root)
        self.set(name, View(root, const(0), shape, strides))
