"""From a kernel's source to a Python function that runs whole warps as NumPy vectors.

Every expression becomes a call on vectors with one element per lane, every `if` and loop a change of mask:

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
import functools
import inspect
import textwrap

import numpy as np

from . import flow, intrinsics, memory, values
from .faults import Unsupported

MISSING = object()
PRELUDE = {
    **values.ARITHMETIC, **values.COMPARISONS, **values.UNARY,
    "load": memory.load, "store": memory.store, "attribute": memory.attribute,
    "set_attribute": memory.set_attribute, "cast": values.cast, "Variable": flow.Variable,
    "Fork": flow.Fork, "Loop": flow.Loop, "Call": flow.Call, "narrow": flow.narrow, "both": flow.both,
    "either": flow.either, "flip": flow.flip, "choice": flow.choice, "unpack": memory.unpack,
    "constant_array": intrinsics.constant_array, "sync_group": intrinsics.sync_group,
}  # fmt: skip


class Cuda:
    """A name below numba's cuda module, such as `atomic.add`."""

    def __init__(self, name: str):
        self.name = name


def source_of(function) -> tuple[str, int]:
    """(source text without its indentation, line number of its first line)"""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        name = getattr(function, "__name__", str(function))
        raise Unsupported(f"{name}: a function whose source cannot be found", None) from None
    return textwrap.dedent("".join(lines)), max(first, 1)


def python_function(obj):
    """The plain function behind a kernel of Numba's (or of its simulator), or None."""
    found = getattr(obj, "py_func", None) or getattr(obj, "fn", None)
    return found if inspect.isfunction(found) else None


@functools.lru_cache(maxsize=1)
def cuda_objects() -> dict[int, str]:
    """id of an object of numba.cuda → its name there, for `from numba.cuda import grid`."""
    from numba import cuda

    table = {}
    for name in intrinsics.NAMES:
        obj, path = cuda, ""
        for part in name.split("."):
            obj, path = getattr(obj, part, None), f"{path}.{part}".lstrip(".")
            if obj is None or isinstance(obj, int):
                break
            table[id(obj)] = path
    return table


def compiled(function, known: dict, kernel: bool = False):
    """The generator function `f(w, *args)` for a kernel or device function; `known` remembers those met."""
    if function in known:
        if known[function] is None:
            raise Unsupported("recursion", None, function.__name__)
        return known[function]
    known[function] = None
    known[function] = Writer(function, known, kernel).result
    return known[function]


class Writer(ast.NodeVisitor):
    """Writes the Python text of one function, statement by statement."""

    def __init__(self, function, known, kernel):
        self.function, self.known = function, known
        self.name = function.__name__
        text, first = source_of(function)
        tree = ast.parse(text)
        ast.increment_lineno(tree, first - 1)
        self.tree = next((n for n in tree.body if isinstance(n, ast.FunctionDef)), None)
        if self.tree is None:
            raise Unsupported("anything but a function written with def", first, self.name)
        self.closure = inspect.getclosurevars(function).nonlocals
        self.locals = local_names(self.tree)
        self.space, self.lines, self.depth, self.serial = dict(PRELUDE), [], 1, 0
        self.loops: list[str] = []
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
            f"a_{p}={self.constant(d)}" for p, d in zip(self.parameters[plain:], defaults, strict=True)
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
        names = {
            ast.Try: "try", ast.With: "with", ast.FunctionDef: "a function inside a kernel", ast.Lambda: "lambda",
            ast.ListComp: "a comprehension", ast.GeneratorExp: "a generator expression", ast.Dict: "a dict",
            ast.List: "a list", ast.Set: "a set", ast.JoinedStr: "an f-string", ast.NamedExpr: "the operator :=",
            ast.Raise: "raise", ast.Assert: "assert", ast.Delete: "del", ast.Starred: "a starred expression",
            ast.Global: "global", ast.Import: "import", ast.ImportFrom: "import", ast.ClassDef: "a class",
            ast.Yield: "yield", ast.Match: "match", ast.Slice: "a slice here",
        }  # fmt: skip
        self.refuse(names.get(type(node), f"{type(node).__name__}"), node)

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
            return self.assign(target, f"{op}(w, {self.visit_Name(target)}, {self.visit(node.value)})")
        if not isinstance(target, ast.Subscript):
            self.refuse("an augmented assignment to an attribute", node)
        array, index = self.fresh("t"), self.fresh("t")
        self.emit(f"{array} = {self.visit(target.value)}")
        self.emit(f"{index} = {self.index(target.slice)}")
        self.emit(f"store(w, {array}, {index}, {op}(w, load(w, {array}, {index}), {self.visit(node.value)}))")

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

    # Expressions

    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return self.constant(np.uint64(value))
        if isinstance(value, (int, float)) and value < 0:
            return f"({value!r})"
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return repr(value) if np.isfinite(value if isinstance(value, float) else 0) else self.constant(value)
        self.refuse(f"the constant {value!r}", node)

    def visit_Tuple(self, node):
        return f"({', '.join(self.visit(e) for e in node.elts)},)" if node.elts else "()"

    def visit_Name(self, node):
        if node.id in self.locals or node.id in self.parameters:
            return f"v_{node.id}.value"
        return self.outside(self.resolve(node), node)

    def visit_Attribute(self, node):
        found = self.resolve(node)
        if found is not MISSING:
            return self.outside(found, node)
        return f"attribute(w, {self.visit(node.value)}, {node.attr!r})"

    def visit_Subscript(self, node):
        return f"load(w, {self.visit(node.value)}, {self.index(node.slice)})"

    def index(self, node) -> str:
        if isinstance(node, ast.Slice):
            parts = (self.visit(p) if p else "None" for p in (node.lower, node.upper, node.step))
            return f"slice({', '.join(parts)})"
        if isinstance(node, ast.Tuple):
            return f"({', '.join(map(self.index, node.elts))},)" if node.elts else "()"
        return self.visit(node)

    def visit_BinOp(self, node):
        op = type(node.op).__name__
        self.known_operator(node.op, node)
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return f"{op}(w, {self.visit(node.left)}, {self.visit(node.right)})"

    def known_operator(self, op, node):
        if type(op).__name__ not in values.ARITHMETIC:
            self.refuse("the operator @", node)

    def visit_UnaryOp(self, node):
        if (folded := folded_number(node)) is not None:
            return self.visit(ast.copy_location(ast.Constant(folded), node))
        return f"{type(node.op).__name__}(w, {self.visit(node.operand)})"

    def visit_BoolOp(self, node):
        wanted, join = (True, "both") if isinstance(node.op, ast.And) else (False, "either")
        left, *rest = [self.visit(v) for v in node.values]
        for right in rest:
            left = f"({join}(w, {right}) if narrow(w, {left}, {wanted}) else {join}(w))"
        return left

    def visit_Compare(self, node):
        names = [type(op).__name__ for op in node.ops]
        for name in names:
            if name not in values.COMPARISONS:
                self.refuse("the operator in" if name == "In" else "the operator not in", node)
        left, text = self.visit(node.left), None
        for i, (name, right) in enumerate(zip(names, node.comparators, strict=True)):
            right, again = self.visit(right), None
            if i < len(names) - 1:
                again = self.fresh("t")
                right = f"({again} := {right})"
            one = f"{name}(w, {left}, {right})"
            text = one if text is None else f"(both(w, {one}) if narrow(w, {text}, True) else both(w))"
            left = again
        return text

    def visit_IfExp(self, node):
        test, a, b = map(self.visit, (node.test, node.body, node.orelse))
        return f"choice(w, {b} if flip(w, {a} if narrow(w, {test}, True) else None) else None)"

    # Calls

    def visit_Call(self, node):
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.refuse("a call with * or **", node)
        called = self.resolve(node.func)
        if called is MISSING:
            return self.method(node)
        if isinstance(called, Cuda) and called.name in intrinsics.ARRAYS:
            return self.own_array(called.name, node)
        function = python_function(called)
        prefix = "a_" if function else ""  # compiled functions call their parameters so
        arguments = "".join(f", {self.visit(a)}" for a in node.args)
        arguments += "".join(f", {prefix}{k.arg}={self.visit(k.value)}" for k in node.keywords)
        if isinstance(called, Cuda):
            return self.intrinsic(called.name, arguments, node)
        if dtype_named(called) is not None:
            return f"cast(w{arguments}, {self.constant(dtype_named(called))})"
        if instruction := found_in(FUNCTIONS, called):
            return f"{self.constant(instruction)}(w{arguments})"
        if function is None:
            self.refuse(self.describe(called), node)
        return f"(yield from {self.constant(compiled(function, self.known))}(w{arguments}))"

    def describe(self, called) -> str:
        name = getattr(called, "__name__", repr(called))
        if inspect.isfunction(called):
            return f"calling {name}, a plain Python function: decorate it with @cuda.jit(device=True)"
        return f"calling {name}"

    def intrinsic(self, name, arguments, node) -> str:
        if name in intrinsics.BARRIERS:
            return f"(yield from {self.constant(intrinsics.BARRIERS[name])}(w{arguments}))"
        if name not in intrinsics.CALLS:
            self.refuse(f"cuda.{name}", node)
        return f"{self.constant(intrinsics.CALLS[name])}(w{arguments})"

    def method(self, node) -> str:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sync" and not node.args:
            return f"(yield from sync_group(w, {self.visit(node.func.value)}))"
        what = f"the method .{node.func.attr}()" if isinstance(node.func, ast.Attribute) else "this call"
        self.refuse(what, node)

    def own_array(self, name, node) -> str:
        given = dict(zip(("shape", "dtype"), node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
        if set(given) - {"alignment"} != {"shape", "dtype"}:
            self.refuse(f"cuda.{name} without a shape and a dtype", node)
        if not self.is_constant(given["shape"]):
            what = f"a shape of cuda.{name} that is no constant: compute it outside the kernel and give it a name"
            self.refuse(what, node)
        site = (self.function, node.lineno, node.col_offset)
        label = getattr(self, "naming", None) or f"{name.split('.')[0]} array, line {node.lineno}"
        arguments = f"{self.constant(site)}, {label!r}, {self.visit(given['shape'])}, {self.visit(given['dtype'])}"
        return f"{self.constant(intrinsics.ARRAYS[name])}(w, {arguments})"

    def is_constant(self, node) -> bool:
        """Whether Numba knows the value when it compiles: literals, global names, locals set once to such."""
        if isinstance(node, ast.Tuple):
            return all(map(self.is_constant, node.elts))
        if isinstance(node, ast.BinOp):
            return folded_number(node) is not None
        if isinstance(node, ast.Name) and node.id in self.locals:
            set_by = assignments(self.tree, node.id)
            return len(set_by) == 1 and set_by[0] is not None and self.is_constant(set_by[0])
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id not in self.parameters)

    # Names from outside the kernel

    def resolve(self, node):
        """The object that a name outside the kernel means, or MISSING for what only the kernel knows."""
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if base is MISSING or isinstance(base, (np.ndarray, tuple, int, float, complex)):
                return MISSING
            if isinstance(base, Cuda) and not isinstance(base, int):
                return Cuda(f"{base.name}.{node.attr}".lstrip("."))
            if not hasattr(base, node.attr):
                self.refuse(f"{node.attr}, which {base!r} does not have", node)
            return as_cuda(getattr(base, node.attr))
        if not isinstance(node, ast.Name) or node.id in self.locals or node.id in self.parameters:
            return MISSING
        for names in (self.closure, self.function.__globals__, vars(builtins)):
            if node.id in names:
                return as_cuda(names[node.id])
        self.refuse(f"the name {node.id!r}, which is not defined", node)

    def outside(self, value, node) -> str:
        """A value from outside as Numba freezes it."""
        if isinstance(value, Cuda):
            if value.name in intrinsics.VALUES:
                return f"{self.constant(intrinsics.VALUES[value.name])}(w)"
            dtype = dtype_named(cuda_attribute(value.name))
            if dtype is None:
                self.refuse(f"cuda.{value.name}", node)
            return self.constant(dtype)
        if isinstance(value, np.ndarray) and value.ndim:
            return f"constant_array(w, {ast.unparse(node)!r}, {self.constant(value)})"
        if dtype_named(value) is not None:
            return self.constant(dtype_named(value))
        if value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
            return self.constant(values.plain(value) if not isinstance(value, str) else value)
        if isinstance(value, tuple) and all(isinstance(v, (int, float, np.generic)) for v in value):
            return self.constant(value)
        self.refuse(f"the global {ast.unparse(node)} ({type(value).__name__})", node)


FUNCTIONS = values.FUNCTIONS | {len: memory.length, print: intrinsics.print_lanes}


def found_in(table, key):
    try:
        return table.get(key)
    except TypeError:  # not hashable
        return None


def as_cuda(obj):
    if getattr(obj, "__name__", "") == "numba.cuda":
        return Cuda("")
    if not isinstance(obj, (int, float, np.generic, np.ndarray)) and id(obj) in cuda_objects():
        return Cuda(cuda_objects()[id(obj)])
    return obj


def cuda_attribute(name):
    from numba import cuda

    return functools.reduce(lambda obj, part: getattr(obj, part, None), name.split("."), cuda)


def dtype_named(obj):
    """The dtype that np.float32, numba.float32 or np.dtype("float32") means, else None."""
    if isinstance(obj, np.dtype):
        return obj
    if isinstance(obj, type) and issubclass(obj, np.generic):
        return np.dtype(obj)
    if type(obj).__module__.split(".")[0] == "numba" and hasattr(obj, "bitwidth"):
        return np.dtype(str(obj))
    return np.dtype(bool) if str(obj) in ("bool", "boolean") and hasattr(obj, "cast_python_value") else None


# Facts about the source


def local_names(tree) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def assignments(tree, name) -> list:
    """What a name is set to, wherever it is; None where that is no plain assignment."""
    found = [
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
    ]
    stores = sum(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(tree)
    )
    return found + [None] * (stores - len(found))


def folded_number(node):
    """The value of arithmetic on literals, which Python folds before Numba sees it; None for anything else."""
    parts = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant)
    if not all(isinstance(n, parts) for n in ast.walk(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "<literals>", "eval"))
    except (ArithmeticError, TypeError, ValueError):
        return None
    return value if isinstance(value, (int, float, complex)) and not isinstance(value, bool) else None


def leaves(node) -> bool:
    """May lanes leave for good inside this statement?"""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in ast.walk(node))


def is_docstring(node) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
