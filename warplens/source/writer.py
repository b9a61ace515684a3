"""From a kernel's source to a Python function that runs whole warps as NumPy vectors.

Every expression becomes a call on vectors with one element per lane, every `if` and loop a change
of mask:

    if i < n:                   b1 = Branch(w, Lt(w, v_i.value, v_n.value))
        y[i] = 2                if b1.take(0):
                                    w.enter(12)
                                    store(w, v_y.value, v_i.value, 2)
                                    b1.end(0)
                                b1.join()

The function is a generator: it yields where a warp waits at a barrier.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType, NoneType
from typing import Any

from .ending import compared, counting, deciding
from .expressions import Expressions
from .names import Names, is_docstring, leaves, own_nodes, spelled_as_def


class Writer(Expressions):
    """Writes one function anew; `run` is the result.

    `device` gives the compiled form of a device function that is called. Statements emit lines,
    expressions return text.
    """

    def __init__(
        self,
        function: FunctionType,
        kernel: bool,
        device: Callable[[FunctionType], Callable[..., Any]],
    ) -> None:
        super().__init__(function, kernel, device)
        self.name = function.__name__
        self.loops: list[str] = []
        self.counts = False  # in a loop that does no more than count?
        defaults = [self.constant(default) for default in function.__defaults__ or ()]
        self.write_function("compiled", self.source.tree, defaults)
        text = "\n".join(self.lines)
        exec(compile(text, f"<microscope of {self.name}>", "exec"), self.space)
        self.run: Callable[..., Any] = self.space["compiled"]

    # Functions

    def write_function(self, run: str, tree: ast.FunctionDef, defaults: list[str]) -> None:
        """`def run(w, …)`; `defaults` are those of its last parameters."""
        given = tree.args
        if given.kwarg or given.kwonlyargs or (self.kernel and given.vararg):
            what = "*args, **kwargs" if self.kernel else "**kwargs"
            self.refuse(f"{what} or keyword-only parameters", tree)
        parameters = [f"a_{name}" for name in self.names.parameters]
        for place, default in enumerate(reversed(defaults), 1):
            parameters[-place] += f"={default}"
        rest = [f"*a_{given.vararg.arg}"] if given.vararg else []
        self.emit(f"def {run}({', '.join(['w', *parameters, *rest, 'literals=()'])}):")
        self.depth += 1
        self.emit(f"c = Call(w, {tree.name!r}, {self.kernel})")
        for name in sorted(self.names.set_here):
            self.emit(f"v_{name} = Variable(w)")
        for name in [*self.names.parameters, *([given.vararg.arg] if given.vararg else [])]:
            self.emit(f"v_{name}.set(a_{name})")
        self.suite(tree.body)
        self.emit("return c.end()")
        self.emit("yield")
        self.depth -= 1

    def inner_function(self, tree: ast.FunctionDef) -> str:
        """Write a function that is inside this one, with its variables; its name in the program."""
        inside = [n.id for n in own_nodes(tree) if isinstance(n, ast.Name)]
        if tree.name in inside or tree.decorator_list:
            self.refuse("a function inside a kernel that is decorated or calls itself", tree)
        if not all(map(self.names.is_constant, tree.args.defaults)):
            self.refuse("a default of a function inside a kernel that is no constant", tree)
        run, defaults = self.fresh("f"), [self.visit(default) for default in tree.args.defaults]
        around = self.names, self.kernel, self.loops
        self.names, self.kernel, self.loops = Names(self.function, tree, self.names), False, []
        self.write_function(run, tree, defaults)
        self.names, self.kernel, self.loops = around
        return run

    def visit_Lambda(self, node: ast.Lambda) -> str:
        return self.inner_function(spelled_as_def(node))

    def suite(self, body: list[ast.stmt]) -> None:
        """Statements in a row; those behind a compound one are a new straight run of code."""
        body = [s for s in body if not is_docstring(s)]
        depth = self.depth
        if body:
            self.emit(f"w.enter({body[0].lineno})")
        for statement, following in zip(body, [*body[1:], None], strict=True):
            self.visit(statement)
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
                break
            if following and isinstance(statement, (ast.If, ast.For, ast.While, ast.Assert)):
                if leaves(statement):
                    self.emit("if w.mask:")
                    self.depth += 1
                self.emit(f"w.enter({following.lineno})")
        if not body:
            self.emit("pass")
        self.depth = depth

    # Statements

    def at(self, node: ast.stmt) -> None:
        self.emit(f"w.line = {node.lineno}")

    def visit_Pass(self, node: ast.Pass) -> None:
        self.emit("pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        self.at(node)
        self.unasked = node.value
        self.emit(self.visit(node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.emit(f"v_{node.name}.set({self.inner_function(node)})")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.emit("pass")

    def visit_Global(self, node: ast.Global) -> None:
        if self.names.own & set(node.names):
            self.refuse("a global that is set", node)
        self.emit("pass")

    def visit_Raise(self, node: ast.Raise) -> None:
        self.at(node)
        called = node.exc if isinstance(node.exc, ast.Call) else None
        kind, given = (called.func, called.args) if called else (node.exc, [])
        found = RuntimeError if kind is None else self.names.resolve(kind)
        if not (isinstance(found, type) and issubclass(found, BaseException)):
            self.refuse("raise of anything but an exception's class or a call of one", node)
        texts = tuple(a.value for a in given if isinstance(a, ast.Constant))
        if len(texts) < len(given):
            self.refuse("an exception whose text is not constant", node)
        arguments = self.constant(texts)
        self.emit(f"end_threads(w, {self.constant(found)}, {arguments})")

    def visit_Assert(self, node: ast.Assert) -> None:
        self.at(node)
        branch, said = self.fresh("b"), node.msg
        if not isinstance(said, (ast.Constant, NoneType)):
            self.refuse("an assertion whose text is not constant", node)
        arguments = self.constant((said.value,) if said else ())
        self.emit(f"{branch} = Branch(w, {self.visit(node.test)})")
        self.emit(f"if {branch}.take(1):")
        self.emit(f"    end_threads(w, {self.constant(AssertionError)}, {arguments})")
        self.emit(f"    {branch}.end(1)")
        self.emit(f"{branch}.join()")

    def visit_Assign(self, node: ast.Assign) -> None:
        self.at(node)
        target = node.targets[0]
        self.naming = target.id if isinstance(target, ast.Name) else None
        value = self.visit(node.value)
        self.naming = None
        if len(node.targets) == 1:
            return self.assign(target, value)
        shared = self.fresh("t")
        self.emit(f"{shared} = {value}")
        for target in node.targets:
            self.assign(target, shared)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.at(node)
            self.assign(node.target, self.visit(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.at(node)
        op, target = type(node.op).__name__, node.target
        self.known_operator(node.op, node)
        if isinstance(target, ast.Name):
            old = self.visit_Name(target)
            if self.loops and isinstance(node.value, ast.Constant) and self.counts:
                by = f"Mult(w, {self.visit(node.value)}, {self.loops[-1]}.times)"
                return self.assign(target, f"{op}(w, {old}, {by})")
            return self.assign(target, self.operation(op, old, node.value, target))
        if not isinstance(target, ast.Subscript):
            self.refuse("an augmented assignment to an attribute", node)
        array, index = self.fresh("t"), self.fresh("t")
        self.emit(f"{array} = {self.visit(target.value)}")
        self.emit(f"{index} = {self.index(target.slice)}")
        new = self.operation(op, f"load(w, {array}, {index})", node.value, target)
        self.emit(f"store(w, {array}, {index}, {new})")

    def assign(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Name):
            self.emit(f"v_{target.id}.set({value})")
        elif isinstance(target, ast.Subscript):
            new = self.fresh("t")
            self.emit(f"{new} = {value}")
            self.emit(f"store(w, {self.visit(target.value)}, {self.index(target.slice)}, {new})")
        elif isinstance(target, ast.Attribute):
            new = self.fresh("t")
            self.emit(f"{new} = {value}")
            self.emit(f"set_attribute(w, {self.visit(target.value)}, {target.attr!r}, {new})")
        elif isinstance(target, ast.Tuple):
            parts = [self.fresh("t") for _ in target.elts]
            self.emit(f"{', '.join(parts)}, = unpack(w, {value}, {len(parts)})")
            for element, part in zip(target.elts, parts, strict=True):
                self.assign(element, part)
        else:
            self.generic_visit(target)

    def visit_Return(self, node: ast.Return) -> None:
        self.at(node)
        self.emit(f"c.return_({self.visit(node.value) if node.value else ''})")

    def visit_If(self, node: ast.If) -> None:
        self.at(node)
        branch = self.fresh("b")
        self.emit(f"{branch} = Branch(w, {self.visit(node.test)})")
        for side, body in enumerate((node.body, node.orelse)):
            if body:
                self.emit(f"if {branch}.take({side}):")
                self.depth += 1
                self.suite(body)
                self.emit(f"{branch}.end({side})")
                self.depth -= 1
        self.emit(f"{branch}.join()")

    def visit_While(self, node: ast.While) -> None:
        self.at(node)
        loop, counter = self.begin_loop(node), counted(node)
        if counter:
            variable, bound, step = counter
            start = f"v_{variable}.value, {self.visit(bound)}, {self.visit(step)}"
            self.emit(f"if w.launch.turns: v_{variable}.set({loop}.plan({start}))")
        self.watch(loop, node)
        self.emit(f"while {loop}.test({self.visit(node.test)}):")
        self.depth += 1
        self.suite(node.body)
        self.emit(f"{loop}.end_iteration()")
        if counter:
            self.emit(f"if {loop}.leaps: v_{variable}.set({loop}.leap(v_{variable}.value))")
        self.at(node)
        self.end_loop(loop, node.orelse)

    def watch(self, loop: str, node: ast.While) -> None:
        """What tells whether a loop ends: see `lanes.endless`."""
        names, memory = deciding(node, self.names.own)
        state = "".join(f"v_{name}, " for name in sorted(names))
        pairs = [f"({self.visit(left)}, {self.visit(right)}), " for left, right in compared(node)]
        self.emit(f"{loop}.watch(({state}), {memory}, lambda: ({''.join(pairs)}))")

    def visit_For(self, node: ast.For) -> None:
        self.at(node)
        loop, item = self.begin_loop(node), self.fresh("t")
        self.emit(f"for {item} in {loop}.{self.iteration(node.iter)}:")
        self.depth += 1
        self.assign(node.target, item)
        self.counts = self.counters(node) is not None
        self.suite(node.body)
        self.counts = False
        self.end_loop(loop, node.orelse)

    def begin_loop(self, node: ast.For | ast.While) -> str:
        loop = self.fresh("l")
        inside = [part for statement in node.body for part in ast.walk(statement)]
        leaves = any(isinstance(part, (ast.Break, ast.Return, ast.Raise)) for part in inside)
        outer = any(isinstance(part, (ast.For, ast.While)) for part in inside)
        counters = ""
        if (names := self.counters(node)) is not None:
            values = "".join(f"v_{name}.value, " for name in names)
            counters = f", lambda: ({values})"
        self.emit(f"{loop} = Loop(w, {leaves}, {outer}{counters})")
        self.loops.append(loop)
        return loop

    def counters(self, node: ast.For | ast.While) -> list[str] | None:
        """What a loop over a range counts in, where its turns do nothing else."""
        if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
            return None
        return counting(node) if self.names.resolve(node.iter.func) is range else None

    def end_loop(self, loop: str, orelse: list[ast.stmt]) -> None:
        self.depth -= 1
        self.loops.pop()
        if orelse:
            self.emit(f"if {loop}.else_():")
            self.depth += 1
            self.suite(orelse)
            self.emit(f"{loop}.end_else()")
            self.depth -= 1
        self.emit(f"{loop}.end()")

    def iteration(self, node: ast.expr) -> str:
        if isinstance(node, ast.Call):
            called = self.names.resolve(node.func)
            if called is range or getattr(called, "__name__", "") == "prange":
                return f"range_({', '.join(self.visit(a) for a in node.args)})"
        return f"each({self.visit(node)})"

    def visit_Break(self, node: ast.Break) -> None:
        self.emit(f"{self.loops[-1]}.break_()")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.emit(f"{self.loops[-1]}.continue_()")


def counted(node: ast.While) -> tuple[str, ast.expr, ast.expr] | None:
    """(variable, bound, step) of `while k < bound: …; k += step` that sets none of them twice."""
    match node.test, node.body[-1]:
        case (
            ast.Compare(ast.Name(name), [ast.Lt()], [bound]),
            ast.AugAssign(ast.Name(again), ast.Add(), step),
        ) if name == again and plain(bound) and plain(step):
            parts = [part for statement in node.body for part in ast.walk(statement)]
            named = [part for part in parts if isinstance(part, ast.Name)]
            stores = [part.id for part in named if isinstance(part.ctx, ast.Store)]
            asked = {part.id for part in ast.walk(ast.Tuple([bound, step], ast.Load()))
                     if isinstance(part, ast.Name)}  # fmt: skip
            if stores.count(name) == 1 and not asked & set(stores):
                return name, bound, step
    return None


def plain(node: ast.expr) -> bool:
    """A number, a name or part of a shape: what can be asked for without reading an array?"""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    return isinstance(node, (ast.Constant, ast.Name, ast.Attribute))
