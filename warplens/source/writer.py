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
from types import FunctionType
from typing import Any

from .expressions import Expressions
from .names import is_docstring, leaves


class Writer(Expressions):
    """Writes one function anew; `run` is the result.

    `device` gives the compiled form of a device function that is called. Statements emit lines,
    expressions return text.
    """

    def __init__(
        self,
        function: FunctionType,
        kernel: bool,
        device: Callable[[FunctionType], Callable[..., Any] | None],
    ) -> None:
        super().__init__(function, kernel, device)
        self.name = function.__name__
        self.loops: list[str] = []
        self.write_function(self.source.tree)
        text = "\n".join(self.lines)
        exec(compile(text, f"<microscope of {self.name}>", "exec"), self.space)
        self.run: Callable[..., Any] = self.space["compiled"]

    # Functions

    def write_function(self, tree: ast.FunctionDef) -> None:
        """`def compiled(w, …)`."""
        given = tree.args
        if given.vararg or given.kwarg or given.kwonlyargs:
            self.refuse("*args, **kwargs or keyword-only parameters", tree)
        parameters = [f"a_{name}" for name in self.names.parameters]
        for place, default in enumerate(reversed(self.function.__defaults__ or ()), 1):
            parameters[-place] += f"={self.constant(default)}"
        self.emit(f"def compiled({', '.join(['w', *parameters])}):")
        self.depth += 1
        self.emit(f"c = Call(w, {tree.name!r}, {self.kernel})")
        for name in sorted(self.names.own):
            self.emit(f"v_{name} = Variable(w)")
        for name in self.names.parameters:
            self.emit(f"v_{name}.set(a_{name})")
        self.suite(tree.body)
        self.emit("return c.end()")
        self.emit("yield")
        self.depth -= 1

    def suite(self, body: list[ast.stmt]) -> None:
        """Statements in a row; those behind a compound one are a new straight run of code."""
        body = [s for s in body if not is_docstring(s)]
        depth = self.depth
        if body:
            self.emit(f"w.enter({body[0].lineno})")
        for statement, following in zip(body, [*body[1:], None], strict=True):
            self.visit(statement)
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                break
            if following and isinstance(statement, (ast.If, ast.For, ast.While)):
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
            return self.assign(target, f"{op}(w, {old}, {self.visit(node.value)})")
        if not isinstance(target, ast.Subscript):
            self.refuse("an augmented assignment to an attribute", node)
        array, index = self.fresh("t"), self.fresh("t")
        self.emit(f"{array} = {self.visit(target.value)}")
        self.emit(f"{index} = {self.index(target.slice)}")
        new = f"{op}(w, load(w, {array}, {index}), {self.visit(node.value)})"
        self.emit(f"store(w, {array}, {index}, {new})")

    def assign(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Name):
            self.emit(f"v_{target.id}.set({value})")
        elif isinstance(target, ast.Subscript):
            new = self.fresh("t")
            self.emit(f"{new} = {value}")
            self.emit(f"store(w, {self.visit(target.value)}, {self.index(target.slice)}, {new})")
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
            self.emit(f"if w.launch.iterations: v_{variable}.set({loop}.plan({start}))")
        self.emit(f"while {loop}.test({self.visit(node.test)}):")
        self.depth += 1
        self.suite(node.body)
        self.emit(f"{loop}.end_iteration()")
        if counter:
            self.emit(f"if {loop}.leaps: v_{variable}.set({loop}.leap(v_{variable}.value))")
        self.at(node)
        self.end_loop(loop, node)

    def visit_For(self, node: ast.For) -> None:
        self.at(node)
        loop, item = self.begin_loop(node), self.fresh("t")
        self.emit(f"for {item} in {loop}.{self.iteration(node.iter)}:")
        self.depth += 1
        self.assign(node.target, item)
        self.suite(node.body)
        self.end_loop(loop, node)

    def begin_loop(self, node: ast.For | ast.While) -> str:
        loop = self.fresh("l")
        inside = [part for statement in node.body for part in ast.walk(statement)]
        leaves = any(isinstance(part, (ast.Break, ast.Return)) for part in inside)
        outer = any(isinstance(part, (ast.For, ast.While)) for part in inside)
        self.emit(f"{loop} = Loop(w, {leaves}, {outer})")
        self.loops.append(loop)
        return loop

    def end_loop(self, loop: str, node: ast.For | ast.While) -> None:
        self.depth -= 1
        self.loops.pop()
        if node.orelse:
            self.refuse("else behind a loop", node)
        self.emit(f"{loop}.end()")

    def iteration(self, node: ast.expr) -> str:
        if isinstance(node, ast.Call) and self.names.resolve(node.func) is range:
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
