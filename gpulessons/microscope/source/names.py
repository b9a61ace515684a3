"""A kernel's source: where it is, what its names mean, and what can be read off it unrun."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap

import numpy as np

from ..faults import Unsupported
from ..lanes import intrinsics

MISSING = object()
REFUSED = {
    "Try": "try",
    "With": "with",
    "FunctionDef": "a function inside a kernel",
    "ClassDef": "a class",
    "Lambda": "lambda",
    "ListComp": "a comprehension",
    "GeneratorExp": "a generator expression",
    "List": "a list",
    "Dict": "a dict",
    "Set": "a set",
    "JoinedStr": "an f-string",
    "NamedExpr": "the operator :=",
    "Starred": "a starred expression",
    "Slice": "a slice here",
    "Import": "import",
    "ImportFrom": "import",
}  # others by the name of their syntax: raise, assert, delete, global, match, yield, …


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


def tree_of(function) -> ast.FunctionDef:
    """The syntax tree of a function, with the line numbers of its file or cell."""
    source_of(function)
    lines, first = inspect.getsourcelines(function)
    indented = lines[0][:1].isspace()
    tree = ast.parse(("if True:\n" if indented else "") + "".join(lines))
    ast.increment_lineno(tree, max(first, 1) - 1 - indented)
    found = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
    if found is None or found.name != function.__name__:
        raise Unsupported("anything but a function written with def", first, function.__name__)
    return found


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
    return (
        np.dtype(bool)
        if str(obj) in ("bool", "boolean") and hasattr(obj, "cast_python_value")
        else None
    )


# Facts about the source


def local_names(tree) -> set[str]:
    return {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def assignments(tree, name) -> list:
    """What a name is set to, wherever it is; None where that is no plain assignment."""
    found = [
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


def folded_number(node):
    """The value of arithmetic on literals, which Python folds before Numba sees it, or None."""
    parts = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant)
    if not all(isinstance(n, parts) for n in ast.walk(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "<literals>", "eval"))
    except (ArithmeticError, TypeError, ValueError):
        return None
    return (
        value if isinstance(value, (int, float, complex)) and not isinstance(value, bool) else None
    )


def leaves(node) -> bool:
    """May lanes leave for good inside this statement?"""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in ast.walk(node))


def is_docstring(node) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
