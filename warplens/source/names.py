"""A kernel's source: where it is, what its names mean, and what can be read off it unrun."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
import linecache
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, EnumMeta
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..faults import Unsupported
from ..lanes import intrinsics

MISSING = object()
VALUES = np.ndarray, tuple, int, float, complex
TEXTS = itertools.count(1)  # of programs that `exec` ran


class Source(NamedTuple):
    """A function's text without its indentation, its first line's number, its syntax tree with the
    line numbers of its file or cell."""

    text: str
    first_line: int
    tree: ast.FunctionDef


@contextmanager
def kept_sources() -> Iterator[None]:
    """Inside, the text of functions that a program makes with `exec` is kept, to be found again."""
    plain = builtins.exec

    def keeping_exec(source: Any, names: Any = None, own: Any = None, /, **options: Any) -> None:
        caller = sys._getframe(1)
        if names is None:
            names, own = caller.f_globals, caller.f_locals if own is None else own
        if isinstance(source, str) and "def " in source:
            file = f"<text {next(TEXTS)} of exec>"
            linecache.cache[file] = len(source), None, source.splitlines(True), file
            source = compile(source, file, "exec", dont_inherit=True)
        plain(source, names, names if own is None else own, **options)

    builtins.exec = keeping_exec
    try:
        yield
    finally:
        builtins.exec = plain


def source_of(function: FunctionType) -> Source:
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        name = getattr(function, "__name__", str(function))
        raise Unsupported(
            f"{name}: a function whose source cannot be found: write it in a file or a cell "
            "(of what `exec` makes, the source is kept inside tracing())",
            None,
        ) from None
    first = max(first, 1)
    if function.__name__ == "<lambda>":
        return Source(textwrap.dedent("".join(lines)), first, lambda_tree(function))
    indented = lines[0][:1].isspace()
    tree = ast.parse(("if True:\n" if indented else "") + "".join(lines))
    ast.increment_lineno(tree, first - 1 - indented)
    found = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
    if found is None or found.name != function.__code__.co_name:
        raise Unsupported("anything but a function written with def", first, function.__name__)
    return Source(textwrap.dedent("".join(lines)), first, found)


def lambda_tree(function: FunctionType) -> ast.FunctionDef:
    """A lambda as the function that it is short for, found in its file by its code's places."""
    file = ast.parse("".join(inspect.findsource(function)[0]))
    places = set(function.__code__.co_positions())
    for node in ast.walk(file):
        if isinstance(node, ast.Lambda):
            body = node.body
            if (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset) in places:
                return spelled_as_def(node)
    raise Unsupported("this lambda: write it with def", None, function.__name__)


def spelled_as_def(node: ast.Lambda) -> ast.FunctionDef:
    body = ast.copy_location(ast.Return(node.body), node.body)
    tree = ast.FunctionDef("<lambda>", node.args, [body], [], None, None)
    return ast.copy_location(tree, node)


def python_function(obj: Any) -> FunctionType | None:
    """The plain function behind a kernel of Numba's (or of its simulator), or None."""
    found = getattr(obj, "py_func", None) or getattr(obj, "fn", None)
    return found if inspect.isfunction(found) else None


# Names of numba.cuda


class Cuda:
    """A name below numba's cuda module, such as `atomic.add`."""

    def __init__(self, name: str) -> None:
        self.name = name


@functools.lru_cache(maxsize=1)
def cuda_objects() -> dict[int, str]:
    """id of an object of numba.cuda → its name there, for `from numba.cuda import grid`."""
    from numba import cuda

    table: dict[int, str] = {}
    for name in intrinsics.NAMES:
        obj: Any = cuda
        path = ""
        for part in name.split("."):
            obj, path = getattr(obj, part, None), f"{path}.{part}".lstrip(".")
            if obj is None or isinstance(obj, int):
                break
            table[id(obj)] = path
    return table


def is_namespace(obj: Any) -> bool:
    """Is it a part of numba.cuda with names below it, as cuda.atomic is?"""
    return isinstance(obj, Cuda) and any(
        name.startswith(f"{obj.name}.".lstrip(".")) for name in intrinsics.NAMES
    )


def as_cuda(obj: Any) -> Any:
    if getattr(obj, "__name__", "") == "numba.cuda":
        return Cuda("")
    if not isinstance(obj, (int, float, np.generic, np.ndarray)) and id(obj) in cuda_objects():
        return Cuda(cuda_objects()[id(obj)])
    return obj


def cuda_attribute(name: str) -> Any:
    from numba import cuda

    found: Any = cuda
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def dtype_named(obj: Any) -> np.dtype | None:
    """The dtype that np.float32, numba.float32 or np.dtype("float32") means, else None."""
    if isinstance(obj, np.dtype):
        return obj
    if isinstance(obj, type) and issubclass(obj, np.generic):
        return np.dtype(obj)
    if type(obj).__module__.split(".")[0] == "numba" and hasattr(obj, "bitwidth"):
        if not hasattr(obj, "fields"):
            return np.dtype(str(obj))
        from numba.np.numpy_support import as_dtype

        return as_dtype(obj)
    if str(obj) in ("bool", "boolean") and hasattr(obj, "cast_python_value"):
        return np.dtype(bool)
    return None


# Names of a function


class Meaning(NamedTuple):
    """What was found under a name: an attribute of `owner`, or a name in a function's
    surroundings. Of an array, a constant to the kernel, also what it held."""

    owner: Any  # MISSING for the surroundings
    name: str
    value: Any
    held: bytes | None

    @classmethod
    def of(cls, owner: Any, name: str, value: Any) -> Meaning:
        return cls(owner, name, value, contents(value))

    def holds(self, function: FunctionType) -> bool:
        """Is it still what one finds there?"""
        if self.owner is MISSING:
            found = surrounding(function, self.name)
        else:
            found = getattr(self.owner, self.name, MISSING)
        return found is self.value and contents(found) == self.held


def contents(value: Any) -> bytes | None:
    return value.tobytes() if isinstance(value, np.ndarray) else None


def surrounding(function: FunctionType, name: str) -> Any:
    """What a function finds under a name that is not its own, or MISSING."""
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:  # not assigned yet
            return MISSING
    return function.__globals__.get(name, vars(builtins).get(name, MISSING))


class Names:
    """The names of one function: its own, and what those from outside mean.

    `meanings` keeps all that was looked up: as long as each holds, so does what was made of them.
    """

    def __init__(
        self, function: FunctionType, tree: ast.FunctionDef, outer: Names | None = None
    ) -> None:
        self.function, self.tree, self.outer = function, tree, outer
        self.parameters = [p.arg for p in tree.args.posonlyargs + tree.args.args]
        given = {*self.parameters, *([tree.args.vararg.arg] if tree.args.vararg else [])}
        self.set_here = given | names_set(tree)
        self.own: set[str] = self.set_here | (outer.own if outer else set())
        self.surely_set = given | names_set(tree, straight=True)
        self.surely_set |= (outer.surely_set if outer else set()) - self.set_here
        self.meanings: list[Meaning] = outer.meanings if outer else []
        self.namespaces: dict[str, Any] = {}  # of its own names

    def refuse(self, what: str, node: ast.AST) -> NoReturn:
        raise Unsupported(what, getattr(node, "lineno", None), self.function.__name__)

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of something from outside, or MISSING."""
        value = getattr(owner, name, MISSING)
        self.meanings.append(Meaning.of(owner, name, value))
        return value

    def resolve(self, node: ast.AST) -> Any:
        """What a name from outside means; MISSING for what only the running kernel knows."""
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if base is MISSING or (isinstance(base, VALUES) and not isinstance(base, Enum)):
                return MISSING
            if isinstance(base, Cuda):
                return Cuda(f"{base.name}.{node.attr}".lstrip("."))
            value = self.attribute(base, node.attr)
            if value is MISSING:
                self.refuse(f"{node.attr}, which {base!r} does not have", node)
            return as_cuda(value)
        if isinstance(node, ast.Subscript):
            match self.resolve(node.value), node.slice:
                case EnumMeta() as owner, ast.Constant(str(name)):
                    return owner[name]
            return MISSING
        if not isinstance(node, ast.Name):
            return MISSING
        if node.id in self.own:
            return self.held_namespace(node.id)
        value = surrounding(self.function, node.id)
        if value is MISSING:
            self.refuse(f"the name {node.id!r}, which is not defined", node)
        self.meanings.append(Meaning.of(MISSING, node.id, value))
        return as_cuda(value)

    def held_namespace(self, name: str) -> Any:
        """A module or a part of numba.cuda, such as cuda.atomic, that a local name stands for."""
        if name not in self.set_here:
            return self.outer.held_namespace(name) if self.outer else MISSING
        if name not in self.namespaces:
            self.namespaces[name] = MISSING
            match assignments(self.tree, name):
                case [ast.Name() | ast.Attribute() as held] if name not in self.parameters:
                    found = self.resolve(held)
                    if isinstance(found, ModuleType) or is_namespace(found):
                        self.namespaces[name] = found
        return self.namespaces[name]

    def is_constant(self, node: ast.AST) -> bool:
        """Does Numba know it when it compiles? Literals, globals, locals set once to such."""
        if isinstance(node, ast.Tuple):
            return all(map(self.is_constant, node.elts))
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return folded_number(node) is not None
        if not isinstance(node, ast.Name):
            return isinstance(node, ast.Constant)
        if node.id not in self.own:
            return True
        if node.id not in self.set_here:
            return self.outer is not None and self.outer.is_constant(node)
        set_to = assignments(self.tree, node.id)
        return len(set_to) == 1 and set_to[0] is not None and self.is_constant(set_to[0])


# Facts about the source


def own_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    queue = list(ast.iter_child_nodes(tree))
    for node in queue:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            queue.extend(ast.iter_child_nodes(node))


def names_set(tree: ast.FunctionDef, straight: bool = False) -> set[str]:
    """The names that a function sets; `straight`: outside of branches and loops only."""
    body = [s for s in tree.body if not straight or is_straight(s)]
    nodes = list(own_nodes(ast.Module(body, [])))
    others = {n for node in nodes if isinstance(node, ast.Nonlocal) for n in node.names}
    return {
        node.id if isinstance(node, ast.Name) else node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    } - others


def is_straight(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Assign, ast.AnnAssign, ast.FunctionDef))


def assignments(tree: ast.AST, name: str) -> list[ast.expr | None]:
    """What a name is set to, wherever it is; None where that is no plain assignment."""
    found: list[ast.expr | None] = [
        n.value
        for n in own_nodes(tree)
        if isinstance(n, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
    ]
    stores = sum(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for n in own_nodes(tree)
    )
    return found + [None] * (stores - len(found))


def folded_number(node: ast.expr) -> int | float | complex | None:
    """The value of arithmetic on literals, which Python folds before Numba sees it, or None."""
    parts = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant)
    if not all(isinstance(n, parts) for n in ast.walk(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "<literals>", "eval"))
    except (ArithmeticError, TypeError, ValueError):
        return None
    number = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    return value if number else None


LEAVING = ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Assert


def leaves(node: ast.AST) -> bool:
    """May lanes leave for good inside this statement?"""
    return any(isinstance(n, LEAVING) for n in ast.walk(node))


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
