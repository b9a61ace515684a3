"""From a kernel's source to a Python function that runs whole warps as NumPy vectors.

Every expression becomes a call on vectors with one element per lane, every `if` and loop a change
of mask:

    if i < n:                   f1 = Fork(w, Lt(w, v_i.value, v_n.value))
        y[i] = 2                if f1.take(0):
                                    w.enter(12)
                                    store(w, v_y.value, v_i.value, 2)
                                    f1.end(0)
                                f1.join()

The function is a generator: it yields where a warp waits at a barrier.
"""

from __future__ import annotations

import ast
import builtins
import inspect

from ..faults import Unsupported
from ..lanes import access, conditions, flow, intrinsics, masks, values
from .expressions import Expressions
from .names import REFUSED, is_docstring, leaves, local_names, tree_of

PRELUDE = {
    **values.ARITHMETIC,
    **values.COMPARISONS,
    **values.UNARY,
    **{
        name: getattr(access, name)
        for name in ["load", "store", "attribute", "set_attribute", "unpack"]
    },
    **{name: getattr(conditions, name) for name in ["narrow", "both", "either", "flip", "choice"]},
    **{name: getattr(flow, name) for name in ["Fork", "Loop", "Call"]},
    "Variable": masks.Variable,
    "cast": values.cast,
    "constant_array": intrinsics.constant_array,
    "sync_group": intrinsics.sync_group,
}


def compiled(function, known: dict, kernel: bool = False):
    """The generator function `f(w, *args)` of a function; `known` holds those met before."""
    if function in known:
        if known[function] is None:
            raise Unsupported("recursion", None, function.__name__)
        return known[function]
    known[function] = None
    known[function] = Writer(function, known, kernel).result
    return known[function]


class Writer(Expressions):
    """Writes the Python text of one function, statement by statement."""

    def __init__(self, function, known, kernel):
        self.function, self.known = function, known
        self.name = function.__name__
        self.tree = tree_of(function)
        self.closure = inspect.getclosurevars(function).nonlocals
        self.locals = local_names(self.tree)
        self.space, self.lines, self.depth, self.serial = dict(PRELUDE), [], 1, 0
        self.loops: list[str] = []
        self.naming = None
        self.parameters = self.signature()
        self.write_function(kernel)
        self.text = "\n".join(self.lines)
        exec(builtins.compile(self.text, f"<microscope of {self.name}>", "exec"), self.space)
        self.result = self.space["compiled"]

    def refuse(self, what: str, node):
        raise Unsupported(what, getattr(node, "lineno", None), self.name)

    def emit(self, text: str):
        self.lines.append("    " * self.depth + text)

    def fresh(self, letter: str) -> str:
        self.serial += 1
        return f"{letter}{self.serial}"

    def constant(self, value) -> str:
        name = self.fresh("k")
        self.space[name] = value
        return name

    def device(self, function) -> str:
        """The name, in the generated code, of a device function that this one calls."""
        return self.constant(compiled(function, self.known))

    # Functions

    def signature(self) -> list[str]:
        a = self.tree.args
        if a.vararg or a.kwarg or a.kwonlyargs:
            self.refuse("*args, **kwargs or keyword-only parameters", self.tree)
        return [p.arg for p in a.posonlyargs + a.args]

    def write_function(self, kernel):
        defaults = self.function.__defaults__ or ()
        plain = len(self.parameters) - len(defaults)
        listed = [f"a_{p}" for p in self.parameters[:plain]]
        listed += [
            f"a_{p}={self.constant(d)}"
            for p, d in zip(self.parameters[plain:], defaults, strict=True)
        ]
        self.lines.append(f"def compiled({', '.join(['w', *listed])}):")
        self.emit(f"c = Call(w, {self.name!r}, {kernel})")
        for name in sorted(self.locals | set(self.parameters)):
            self.emit(f"v_{name} = Variable(w)")
        for name in self.parameters:
            self.emit(f"v_{name}.set(a_{name})")
        self.suite(self.tree.body)
        self.emit("return c.end()")
        self.emit("yield")

    def suite(self, body):
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

    def generic_visit(self, node):
        self.refuse(REFUSED.get(type(node).__name__, type(node).__name__.lower()), node)

    def at(self, node):
        self.emit(f"w.line = {node.lineno}")

    def visit_Pass(self, node):
        self.emit("pass")

    def visit_Expr(self, node):
        self.at(node)
        if not isinstance(node.value, ast.Call):
            self.refuse("an expression whose value is not used", node)
        self.emit(self.visit(node.value))

    def visit_Assign(self, node):
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

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.at(node)
            self.assign(node.target, self.visit(node.value))

    def visit_AugAssign(self, node):
        self.at(node)
        op, target = type(node.op).__name__, node.target
        self.known_operator(node.op, node)
        if isinstance(target, ast.Name):
            return self.assign(
                target, f"{op}(w, {self.visit_Name(target)}, {self.visit(node.value)})"
            )
        if not isinstance(target, ast.Subscript):
            self.refuse("an augmented assignment to an attribute", node)
        array, index = self.fresh("t"), self.fresh("t")
        self.emit(f"{array} = {self.visit(target.value)}")
        self.emit(f"{index} = {self.index(target.slice)}")
        old, by = f"load(w, {array}, {index})", self.visit(node.value)
        self.emit(f"store(w, {array}, {index}, {op}(w, {old}, {by}))")

    def assign(self, target, value: str):
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

    def visit_Return(self, node):
        self.at(node)
        self.emit(f"c.give({self.visit(node.value) if node.value else ''})")

    def visit_If(self, node):
        self.at(node)
        fork = self.fresh("f")
        self.emit(f"{fork} = Fork(w, {self.visit(node.test)})")
        for side, body in enumerate((node.body, node.orelse)):
            if body:
                self.emit(f"if {fork}.take({side}):")
                self.depth += 1
                self.suite(body)
                self.emit(f"{fork}.end({side})")
                self.depth -= 1
        self.emit(f"{fork}.join()")

    def visit_While(self, node):
        self.at(node)
        loop = self.begin_loop(node)
        self.emit(f"while {loop}.test({self.visit(node.test)}):")
        self.depth += 1
        self.suite(node.body)
        self.emit(f"{loop}.turn()")
        self.at(node)
        self.end_loop(loop)

    def visit_For(self, node):
        self.at(node)
        loop, item = self.begin_loop(node), self.fresh("t")
        self.emit(f"for {item} in {loop}.{self.iteration(node.iter)}:")
        self.depth += 1
        self.assign(node.target, item)
        self.suite(node.body)
        self.end_loop(loop)

    def begin_loop(self, node) -> str:
        if node.orelse:
            self.refuse("else after a loop", node)
        loop = self.fresh("l")
        self.emit(f"{loop} = Loop(w)")
        self.loops.append(loop)
        return loop

    def end_loop(self, loop):
        self.depth -= 1
        self.emit(f"{loop}.end()")
        self.loops.pop()

    def iteration(self, node) -> str:
        if isinstance(node, ast.Call):
            called = self.resolve(node.func)
            arguments = ", ".join(self.visit(a) for a in node.args)
            if called is range or getattr(called, "__name__", "") == "prange":
                return f"span({arguments})"
            if called in (enumerate, zip) and not node.keywords:
                return f"{called.__name__}({arguments})"
        return f"each({self.visit(node)})"

    def visit_Break(self, node):
        self.emit(f"{self.loops[-1]}.leave()")

    def visit_Continue(self, node):
        self.emit(f"{self.loops[-1]}.skip()")
