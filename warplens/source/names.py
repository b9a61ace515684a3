"""A kernel's source: where it is, what its names mean, and what can be read off it unrun."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import textwrap
from types import FunctionType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..faults import Unsupported
from ..lanes import intrinsics

MISSING = object()
VALUES = np.ndarray, tuple, int, float


class Source(NamedTuple):
    """A function's text without its indentation, its first line's number, its syntax tree with the
    line numbers of its file or cell."""

    text: str
    first_line: int
    tree: ast.FunctionDef


def source_of(function: FunctionType) -> Source:
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        name = getattr(function, "__name__", str(function))
        raise Unsupported(
            f"{name}: a function whose source cannot be found: write it in a file or a cell", None
        ) from None
    first = max(first, 1)
    indented = lines[0][:1].isspace()
    tree = ast.parse(("if True:\n" if indented else "") + "".join(lines))
    ast.increment_lineno(tree, first - 1 - indented)
    found = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
    if found is None or found.name != function.__code__.co_name:
        raise Unsupported("anything but a function written with def", first, function.__name__)
    return Source(textwrap.dedent("".join(lines)), first, found)


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
        return None if hasattr(obj, "fields") else np.dtype(str(obj))
    if str(obj) in ("bool", "boolean") and hasattr(obj, "cast_python_value"):
        return np.dtype(bool)
    return None


# Names of a function


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
    """The names of one function: its own, and what those from outside mean."""

    def __init__(self, function: FunctionType, tree: ast.FunctionDef) -> None:
        self.function, self.tree = function, tree
        self.parameters = [p.arg for p in tree.args.posonlyargs + tree.args.args]
        self.own = {*self.parameters, *names_set(tree.body)}
        straight = (ast.Assign, ast.AnnAssign)  # outside of branches and loops
        body: list[ast.stmt] = [s for s in tree.body if isinstance(s, straight)]
        self.surely_set = {*self.parameters, *names_set(body)}

    def refuse(self, what: str, node: ast.AST) -> NoReturn:
        raise Unsupported(what, getattr(node, "lineno", None), self.function.__name__)

    def resolve(self, node: ast.AST) -> Any:
        """What a name from outside means; MISSING for what only the running kernel knows."""
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if base is MISSING or isinstance(base, VALUES):
                return MISSING
            if isinstance(base, Cuda):
                return Cuda(f"{base.name}.{node.attr}".lstrip("."))
            value = getattr(base, node.attr, MISSING)
            if value is MISSING:
                self.refuse(f"{node.attr}, which {base!r} does not have", node)
            return as_cuda(value)
        if not isinstance(node, ast.Name) or node.id in self.own:
            return MISSING
        value = surrounding(self.function, node.id)
        if value is MISSING:
            self.refuse(f"the name {node.id!r}, which is not defined", node)
        return as_cuda(value)

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
        set_to = assignments(self.tree, node.id)
        return len(set_to) == 1 and set_to[0] is not None and self.is_constant(set_to[0])


# Facts about the source


def names_set(body: list[ast.stmt]) -> set[str]:
    """The names that statements set."""
    nodes = ast.walk(ast.Module(body, []))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def assignments(tree: ast.AST, name: str) -> list[ast.expr | None]:
    """What a name is set to, wherever it is; None where that is no plain assignment."""
    found: list[ast.expr | None] = [
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
    ]
    stores = sum(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for n in ast.walk(tree)
    )
    return found + [None] * (stores - len(found))


def array_given(node: ast.Call) -> dict[str | None, ast.expr]:
    """What `cuda.shared.array` is given, or local.array, by name."""
    places = zip(("shape", "dtype"), node.args, strict=False)
    return dict(places) | {k.arg: k.value for k in node.keywords}


def folded_number(node: ast.expr) -> int | float | None:
    """The value of arithmetic on literals, which Python folds before Numba sees it, or None."""
    parts = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant)
    if not all(isinstance(n, parts) for n in ast.walk(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "<literals>", "eval"))
    except (ArithmeticError, TypeError, ValueError):
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if number else None


LEAVING = ast.Return, ast.Break, ast.Continue


def leaves(node: ast.AST) -> bool:
    """May lanes leave for good inside this statement?"""
    return any(isinstance(n, LEAVING) for n in ast.walk(node))


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
