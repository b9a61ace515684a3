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
import inspect
import operator
from collections.abc import Callable, Hashable
from enum import Enum
from itertools import zip_longest
from types import FunctionType, ModuleType, NoneType
from typing import Any, NoReturn

import numpy as np

from ..arguments import array_view
from ..device import DeviceArray, device_array_of
from ..lanes import (
    access,
    barriers,
    complexes,
    conditions,
    endings,
    flow,
    functions,
    intrinsics,
    limits,
    masks,
    memory,
    methods,
    sequences,
    tuples,
    ufuncs,
    values,
)
from ..signatures import declared
from .ending import compared, counting, deciding
from .names import (
    MISSING,
    Cuda,
    Names,
    assignments,
    cuda_attribute,
    dtype_named,
    folded_number,
    is_docstring,
    is_namespace,
    leaves,
    own_nodes,
    python_function,
    source_of,
    spelled_as_def,
)

PRELUDE: dict[str, Any] = {
    **values.ARITHMETIC,
    **values.COMPARISONS,
    **values.UNARY,
    **{
        name: getattr(access, name)
        for name in [
            "load",
            "load_constant",
            "store",
            "attribute",
            "set_attribute",
            "unpack",
            "parts",
        ]
    },
    **{
        name: getattr(conditions, name)
        for name in ["narrow", "and_", "or_", "other_lanes", "conditional"]
    },
    **{
        name: getattr(flow, name)
        for name in ["Branch", "Loop", "Call", "call_value", "check_literal"]
    },
    "In": access.contains,
    "NotIn": access.contains_not,
    "Is": access.identical,
    "IsNot": access.not_identical,
    "Open": memory.Open,
    "Dim3": access.Dim3,
    "end_threads": endings.end_threads,
    "Variable": masks.Variable,
    "cast": values.cast,
    "constant_array": intrinsics.constant_array,
    "sync_group": barriers.sync_group,
}
METHODS: dict[str, Any] = functions.METHODS | methods.METHODS
FUNCTIONS: dict[Any, Any] = {
    **functions.FUNCTIONS,
    **sequences.FUNCTIONS_OF_SEQUENCES,
    **complexes.CMATH,
    **ufuncs.UFUNCS,
    **ufuncs.PARTS,
    **tuples.FUNCTIONS,
    **limits.FUNCTIONS,
    **{getattr(np, name): METHODS[name] for name in ["sum", "prod", "mean"]},
    operator.is_: access.identical,
    operator.is_not: access.not_identical,
    len: access.length,
    print: intrinsics.print_lanes,
}
CALLED = {**intrinsics.CALLS, **barriers.BARRIERS}
REFUSED = {
    "Try": "try",
    "With": "with",
    "ClassDef": "a class",
    "ListComp": "a comprehension",
    "GeneratorExp": "a generator expression",
    "List": "a list",
    "Dict": "a dict",
    "Set": "a set",
    "JoinedStr": "an f-string",
    "NamedExpr": "the operator :=",
    "Slice": "a slice here",
    "Import": "import",
    "ImportFrom": "import",
}  # others by the name of their syntax: delete, match, yield, …


class Writer(ast.NodeVisitor):
    """Writes one function anew; `run` is the result.

    `device` gives the compiled form of a device function that is called. Statements emit lines,
    expressions return text, whose free names are in `space`.
    """

    def __init__(
        self,
        function: FunctionType,
        kernel: bool,
        device: Callable[[FunctionType], Callable[..., Any]],
    ) -> None:
        self.function, self.device, self.kernel = function, device, kernel
        self.name = function.__name__
        self.source = source_of(function)
        self.names = Names(function, self.source.tree)
        self.space, self.depth, self.serial = dict(PRELUDE), 0, 0
        self.lines: list[str] = []
        self.loops: list[str] = []
        self.naming: str | None = None  # the variable that is being set
        self.counts = False  # in a loop that does no more than count?
        self.here = object()  # tells this function's own arrays from those of others
        defaults = [self.constant(default) for default in function.__defaults__ or ()]
        self.write_function("compiled", self.source.tree, defaults)
        text = "\n".join(self.lines)
        exec(compile(text, f"<microscope of {self.name}>", "exec"), self.space)
        self.run: Callable[..., Any] = self.space["compiled"]

    def refuse(self, what: str, node: ast.AST) -> NoReturn:
        self.names.refuse(what, node)

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, letter: str) -> str:
        self.serial += 1
        return f"{letter}{self.serial}"

    def constant(self, value: Any) -> str:
        name = self.fresh("k")
        self.space[name] = value
        return name

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

    def generic_visit(self, node: ast.AST) -> NoReturn:
        self.refuse(REFUSED.get(type(node).__name__, type(node).__name__.lower()), node)

    def at(self, node: ast.stmt) -> None:
        self.emit(f"w.line = {node.lineno}")

    def visit_Pass(self, node: ast.Pass) -> None:
        self.emit("pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        self.at(node)
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

    # Expressions

    def visit_Constant(self, node: ast.Constant) -> str:
        value = node.value
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            self.refuse(f"the number {value}, which no integer of 64 bits holds", node)
        if isinstance(value, int) and value >= 2**63:
            return self.constant(np.uint64(value))
        if isinstance(value, (int, float)) and value < 0:
            return f"({value!r})"
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return (
                repr(value)
                if np.isfinite(value if isinstance(value, float) else 0)
                else self.constant(value)
            )
        self.refuse(f"the constant {value!r}", node)

    def visit_Tuple(self, node: ast.Tuple) -> str:
        return f"({', '.join(self.visit(e) for e in node.elts)},)" if node.elts else "()"

    def visit_Name(self, node: ast.Name) -> str:
        if node.id in self.names.own:
            return f"v_{node.id}.value"
        return self.outside(self.names.resolve(node), node)

    def visit_Attribute(self, node: ast.Attribute) -> str:
        found = self.names.resolve(node)
        if found is not MISSING:
            return self.outside(found, node)
        return f"attribute(w, {self.visit(node.value)}, {node.attr!r})"

    def visit_Subscript(self, node: ast.Subscript) -> str:
        found = self.names.resolve(node)
        if found is not MISSING:
            return self.outside(found, node)
        index, constant = self.index(node.slice), folded_number(node.slice)
        load = "load_constant" if isinstance(constant, int) else "load"
        return f"{load}(w, {self.visit(node.value)}, {index})"

    def index(self, node: ast.expr) -> str:
        if isinstance(node, ast.Slice):
            parts = (self.visit(p) if p else "None" for p in (node.lower, node.upper, node.step))
            return f"slice({', '.join(parts)})"
        if isinstance(node, ast.Constant) and node.value is ...:
            return "Open((...,))"
        if isinstance(node, ast.Tuple):
            open_ended = any(isinstance(e, ast.Constant) and e.value is ... for e in node.elts)
            listed = "".join(f"{self.index_part(e)}, " for e in node.elts)
            return f"Open(({listed}))" if open_ended else f"({listed})"
        return self.visit(node)

    def index_part(self, node: ast.expr) -> str:
        is_dots = isinstance(node, ast.Constant) and node.value is ...
        return "..." if is_dots else self.index(node)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        op = type(node.op).__name__
        self.known_operator(node.op, node)
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return self.operation(op, self.visit(node.left), node.right, node.left)

    def operation(self, op: str, left: str, right: ast.expr, first: ast.expr) -> str:
        """`left op right`; +, -, * and / are told whether a side is a constant."""
        constant = op in ("Add", "Sub", "Mult", "Div") and any(map(self.known, (first, right)))
        return f"{op}(w, {left}, {self.visit(right)}{', True' * constant})"

    def known(self, node: ast.expr) -> bool:
        return folded_number(node) is not None or self.names.is_constant(node)

    def known_operator(self, op: ast.operator, node: ast.AST) -> None:
        if type(op).__name__ not in values.ARITHMETIC:
            self.refuse("the operator @", node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return f"{type(node.op).__name__}(w, {self.visit(node.operand)})"

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        wanted, join = (True, "and_") if isinstance(node.op, ast.And) else (False, "or_")
        left, *rest = [self.visit(v) for v in node.values]
        for right in rest:
            left = f"({join}(w, {right}) if narrow(w, {left}, {wanted}) else {join}(w))"
        return left

    def visit_Compare(self, node: ast.Compare) -> str:
        names = [type(op).__name__ for op in node.ops]
        left, text = self.visit(node.left), ""
        for i, (name, comparator) in enumerate(zip(names, node.comparators, strict=True)):
            right = again = self.visit(comparator)
            if i < len(names) - 1:  # it is compared once more, and must not be computed twice
                again = self.fresh("t")
                right = f"({again} := {right})"
            one = f"{name}(w, {left}, {right})"
            text = f"(and_(w, {one}) if narrow(w, {text}, True) else and_(w))" if text else one
            left = again
        return text

    def visit_Starred(self, node: ast.Starred) -> str:
        return f"*parts(w, {self.visit(node.value)})"

    def visit_Lambda(self, node: ast.Lambda) -> str:
        return self.inner_function(spelled_as_def(node))

    def visit_IfExp(self, node: ast.IfExp) -> str:
        test, a, b = map(self.visit, (node.test, node.body, node.orelse))
        match node.test:
            case ast.Compare(_, [ast.Is() | ast.IsNot()], [ast.Constant(None)]):
                return f"({a} if {test} else {b})"  # known when Numba compiles
        a, b = self.if_needed(a, node.body), self.if_needed(b, node.orelse)
        return f"conditional(w, narrow(w, {test}, True), {a}, other_lanes(w), {b})"

    def if_needed(self, text: str, node: ast.expr) -> str:
        """One side of a conditional expression: None where no lane needs a call, or a variable that
        no lane has set; else it is evaluated for its type."""
        if "yield from" in text:
            return f"({text} if w.mask else None)"
        named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        unsure = sorted((named & self.names.own) - self.names.surely_set)
        known = " and ".join(f"v_{name}.known" for name in unsure)
        return f"({text} if w.mask or ({known}) else None)" if unsure else text

    # Calls

    def visit_Call(self, node: ast.Call) -> str:
        if any(k.arg is None for k in node.keywords):
            self.refuse("a call with **", node)
        called = self.names.resolve(node.func)
        if called is MISSING:
            return self.method(node)
        match node.args:
            case [ast.Constant(str(text))] if called is float:
                return self.constant(float(text))
        if isinstance(called, Cuda) and called.name in intrinsics.ARRAYS:
            return self.own_array(called.name, node)
        function = python_function(called)
        prefix = "a_" if function else ""  # compiled functions call their parameters so
        types, result = declared(called) if function else ([], None)
        for a in node.args if function else ():
            self.check_handed(a)
        given = [self.converted(self.visit(a), t) for a, t in zip_longest(node.args, types) if a]
        arguments = "".join(f", {value}" for value in given)
        arguments += "".join(f", {prefix}{k.arg}={self.visit(k.value)}" for k in node.keywords)
        if isinstance(called, Cuda):
            return self.intrinsic(called.name, arguments, node)
        if dtype_named(called) is not None:
            return f"cast(w{arguments}, {self.constant(dtype_named(called))})"
        if instruction := self.instruction(called):
            return f"{self.constant(instruction)}(w{arguments})"
        if function is None:
            self.refuse(self.describe(called), node)
        self.check_arguments(function, node)
        literals = self.constant(self.literals(function, node))
        run = self.constant(self.device(function))
        return self.converted(f"(yield from {run}(w{arguments}, literals={literals}))", result)

    def check_handed(self, node: ast.expr) -> None:
        """Refuse what Numba cannot hand to a device function: one inside this one that uses a
        variable of this one's which is no constant."""
        found: list[ast.AST | None] = [node]
        if isinstance(node, ast.Name):
            inside = [n for n in own_nodes(self.names.tree) if isinstance(n, ast.FunctionDef)]
            found = [n for n in inside if n.name == node.id]
            found += assignments(self.names.tree, node.id)
        one = found[0] if len(found) == 1 else None
        inner = spelled_as_def(one) if isinstance(one, ast.Lambda) else one
        if isinstance(inner, ast.FunctionDef):
            used = {n.id for n in own_nodes(inner) if isinstance(n, ast.Name)} & self.names.own
            for name in sorted(used - Names(self.function, inner).own):
                if not self.names.is_constant(ast.Name(name)):
                    what = f"handing on a function that uses {name!r}, which is no constant"
                    self.refuse(f"{what}: hand that on as well", node)

    def converted(self, value: str, dtype: np.dtype | None) -> str:
        """A value in the type that a signature gives it, if it does."""
        return value if dtype is None else f"cast(w, {value}, {self.constant(dtype)})"

    def check_arguments(self, function: FunctionType, node: ast.Call) -> None:
        """Refuse a call that gives a device function too few arguments, or too many."""
        try:
            inspect.signature(function).bind(
                *node.args, **{keyword.arg or "": keyword.value for keyword in node.keywords}
            )
        except TypeError as trouble:
            self.refuse(f"calling {function.__name__} like this: {trouble}", node)

    def literals(self, function: FunctionType, node: ast.Call) -> frozenset[str]:
        """The parameters of a device function that Numba knows the values of when it compiles."""
        if any(isinstance(a, ast.Starred) for a in node.args):
            return frozenset()
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        given = dict(zip(names, node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
        return frozenset(n for n in names if n not in given or self.names.is_constant(given[n]))

    def instruction(self, called: Any) -> Callable[..., Any] | None:
        """What warps do instead of a function of Python's, NumPy's or one with `traced`."""
        if isinstance(called, Hashable) and called in FUNCTIONS:
            return FUNCTIONS[called]
        traced = self.names.attribute(called, "traced")
        return None if traced is MISSING else traced

    def describe(self, called: Any) -> str:
        name = getattr(called, "__name__", repr(called))
        if isinstance(called, np.ufunc):
            return f"np.{name}, which numba-cuda does not have in kernels: {ufuncs.instead(name)}"
        if inspect.isfunction(called):
            return (
                f"calling {name}, a plain Python function: decorate it with @cuda.jit(device=True)"
            )
        return f"calling {name}"

    def intrinsic(self, name: str, arguments: str, node: ast.AST) -> str:
        if name in barriers.BARRIERS:
            return f"(yield from {self.constant(barriers.BARRIERS[name])}(w{arguments}))"
        if name not in intrinsics.CALLS:
            self.refuse(f"cuda.{name}", node)
        return f"{self.constant(intrinsics.CALLS[name])}(w{arguments})"

    def method(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sync" and not node.args:
            return f"(yield from sync_group(w, {self.visit(node.func.value)}))"
        arguments = "".join(f", {self.visit(a)}" for a in node.args)
        if not isinstance(node.func, ast.Attribute):
            arguments += "".join(f", {k.arg}={self.visit(k.value)}" for k in node.keywords)
            return f"(yield from call_value(w, {self.visit(node.func)}{arguments}))"
        if node.func.attr not in METHODS or node.keywords:
            self.refuse(f"the method .{node.func.attr}()", node)
        method = self.constant(METHODS[node.func.attr])
        return f"{method}(w, {self.visit(node.func.value)}{arguments})"

    def own_array(self, name: str, node: ast.Call) -> str:
        given = dict(zip(("shape", "dtype"), node.args, strict=False)) | {
            k.arg: k.value for k in node.keywords
        }
        if set(given) - {"alignment"} != {"shape", "dtype"}:
            self.refuse(f"cuda.{name} without a shape and a dtype", node)
        what = f"a shape of cuda.{name} that is no constant: give it a name outside the kernel"
        size = given["shape"]
        if not self.kernel and isinstance(size, ast.Name) and size.id in self.names.parameters:
            self.emit(f"check_literal(w, {size.id!r} in literals, {what!r})")
        elif not self.names.is_constant(size):
            self.refuse(what, node)
        site = (self.here, node.lineno, node.col_offset)
        label = self.naming or f"{name.split('.')[0]} array, line {node.lineno}"
        shape, dtype = self.visit(given["shape"]), self.visit(given["dtype"])
        make = self.constant(intrinsics.ARRAYS[name])
        return f"{make}(w, {self.constant(site)}, {label!r}, {shape}, {dtype})"

    def outside(self, value: Any, node: ast.expr) -> str:
        """A value from outside as Numba freezes it."""
        if isinstance(value, Cuda):
            if value.name in intrinsics.VALUES:
                return f"{self.constant(intrinsics.VALUES[value.name])}(w)"
            if f"{value.name}.x" in intrinsics.VALUES:
                axes = (self.constant(intrinsics.VALUES[f"{value.name}.{a}"]) for a in "xyz")
                return f"Dim3({', '.join(f'{axis}(w)' for axis in axes)})"
            if is_namespace(value):
                return self.constant(value)
            dtype = dtype_named(cuda_attribute(value.name))
            held = CALLED.get(value.name) if dtype is None else dtype
            if held is None:
                self.refuse(f"cuda.{value.name}", node)
            return self.constant(held)
        if isinstance(value, ModuleType):
            return self.constant(value)
        if isinstance(value, Enum) and not isinstance(value, int):
            return self.constant(access.Member(type(value), value.value))
        if isinstance(array := device_array_of(value), DeviceArray):
            return self.constant(array_view(array.memory, ast.unparse(node), array.root))
        if isinstance(value, np.ndarray) and value.ndim:
            return f"constant_array(w, {ast.unparse(node)!r}, {self.constant(value)})"
        if dtype_named(value) is not None:
            return self.constant(dtype_named(value))
        if isinstance(value, int) and not isinstance(value, bool):  # an IntEnum, too
            return self.visit_Constant(ast.copy_location(ast.Constant(int(value)), node))
        if value is None or isinstance(value, (bool, float, complex, str, np.generic)):
            return self.constant(values.plain(value))
        if isinstance(value, tuple) and all(isinstance(v, (int, float, np.generic)) for v in value):
            return self.constant(value)
        if function := python_function(value):
            return self.constant(self.device(function))
        if callable(value) and (instruction := self.instruction(value)):
            return self.constant(instruction)
        self.refuse(f"the global {ast.unparse(node)} ({type(value).__name__})", node)


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
