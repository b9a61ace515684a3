"""Whose work is it? The course's own answer is nobody's attempt, and neither is a stub."""

import ast
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import warplens
from gpulessons.operation import Op, Version
from warplens import Trace

from .diagnosis import Trouble

PACKAGE = str(Path(warplens.__file__).parents[1])
YOURS = "the stub: write yours."


def behind(attempt: Any) -> Any:
    """What runs when an attempt is called: behind a partial, a decorator, an object's __call__."""
    while isinstance(attempt, partial):
        attempt = attempt.func
    found = inspect.unwrap(attempt) if callable(attempt) else attempt
    called = vars(type(found)).get("__call__")
    return called if code_of(found) is None and inspect.isfunction(called) else found


# -- What it speaks of, before it runs.


def refuse_borrowed(attempt: Any, yardsticks: Sequence) -> None:
    """Trouble where it is the course's own code, or names an op, or what it is judged by."""
    for name, value in {"": attempt, **mentioned(attempt), **reached(attempt)}.items():
        if is_exercise(value):
            raise Trouble(f"{name} is the course's own: what it is judged by.", YOURS)
        whole = not name or isinstance(value, Op | Version)
        whole = whole or any(value is yardstick for yardstick in yardsticks)
        if whole and str(getattr(value, "__module__", "")).startswith("gpulessons"):
            raise Trouble(f"{name or 'This'} is the course's own.", YOURS)


def is_exercise(value: Any) -> bool:
    """One of them, or the module of all: no attempt has to look into those."""
    return type(value).__name__ == "Exercise" or (
        inspect.ismodule(value) and value.__name__.startswith("gpulessons.exercises")
    )


def mentioned(function: Any) -> dict[str, Any]:
    """{name: value} of the globals that a function's own lines speak of; np.dot is np alone."""
    known = getattr(function, "__globals__", {})
    steps = dis.get_instructions(function) if inspect.isfunction(function) else ()
    names = (step.argval for step in steps if step.opname == "LOAD_GLOBAL")
    return {name: known[name] for name in names if name in known}


def reached(function: Any) -> dict[str, Any]:
    """{"money.Plan": value} of what its lines take from modules that are globals, by attribute."""
    found, value, name = {}, None, ""
    for step in dis.get_instructions(function) if inspect.isfunction(function) else ():
        if step.opname == "LOAD_GLOBAL":
            name, value = step.argval, function.__globals__.get(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and inspect.ismodule(value):
            name, value = f"{name}.{step.argval}", getattr(value, step.argval, None)
            found[name] = value
        else:
            value = None
    return found


def names_in(attempt: Any) -> tuple[str, ...]:
    """The globals and attributes that the code behind an attempt names; () where C is behind it."""
    code = code_of(behind(attempt))
    return code.co_names if code else ()


def refuse_ready_made(attempt: Any, name: str) -> None:
    """Trouble where it leaves the work to a library's function of this name."""
    if name in names_in(attempt):
        raise Trouble(f"That is somebody else's {name}.", YOURS)


# -- What it calls, while it runs: by whatever way it came there.


@contextmanager
def watched(
    attempt: Any, lesson: Any, yardsticks: Sequence, called: list[str]
) -> Iterator[None]:
    """Inside, `called` gets the names of ops, their versions, and parts of the judge that the
    attempt calls."""
    judges = {id(code) for code in map(code_of, (*vars(lesson).values(), *yardsticks)) if code}
    mine = getattr(attempt, "__globals__", None)

    def look(frame: FrameType, event: str, _: Any) -> None:
        home = frame.f_globals.get("__name__") or ""
        if event == "call" and home.startswith("gpulessons") and comes_from(frame.f_back, mine):
            code = frame.f_code
            if code in CALLS:
                whose = frame.f_locals["self"]
                called.append(whose.op.name if isinstance(whose, Version) else whose.name)
            elif id(code) in judges | answers_of(home):
                called.append(code.co_name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


def comes_from(frame: FrameType | None, globals_of_attempt: Any) -> bool:
    """Is this a call of the attempt's, be it through NumPy or functools, and not the judge's?"""
    while frame and not frame.f_code.co_filename.startswith(PACKAGE):
        if frame.f_globals is globals_of_attempt:
            return True
        frame = frame.f_back
    return False


@cache
def answers_of(module: str) -> set[int]:
    """The code of all specifications and versions of the ops that a module of ours holds."""
    ops = [value for value in vars(sys.modules[module]).values() if isinstance(value, Op)]
    functions = [op.function for op in ops]
    functions += [version.function for op in ops for version in op.versions.values()]
    return {id(code) for code in map(code_of, functions) if code}


CALLS = (Op.__call__.__code__, Version.__call__.__code__)


def refuse_called(names: Sequence[str]) -> None:
    if names:
        raise Trouble(f"{names[0]} is the course's own.", YOURS)


def refuse_borrowed_kernels(launches: Sequence[Trace]) -> None:
    for launch in launches:
        kernel = launch.launch and launch.launch.function
        if kernel and str(kernel.__module__).startswith("gpulessons"):
            raise Trouble(f"{kernel.__name__} is the course's own.", YOURS)


# -- Is it the stub?


def is_untouched(stub: str, attempt: Any) -> bool:
    """Is every function of the stub, the attempt's own and its kernels, as it was, word for word?

    Comments and spaces do not count; neither does what else stands in the cell.
    """
    given = {node.name: node for node in ast.parse(stub).body if isinstance(node, ast.FunctionDef)}
    own = getattr(attempt, "py_func", attempt)
    known = {**getattr(own, "__globals__", {}), getattr(own, "__name__", ""): own}
    return bool(given) and all(
        ast.dump(node) == written(known.get(name)) for name, node in given.items()
    )


def written(function: Any) -> str:
    """The syntax of a function, or of one that Numba compiles; "" where it has no source."""
    try:
        text = inspect.getsource(getattr(function, "py_func", function))
        return ast.dump(ast.parse(textwrap.dedent(text)).body[0])
    except (OSError, TypeError, SyntaxError):
        return ""


def code_of(function: Callable | Any) -> CodeType | None:
    """Of a Python function, or of one that Numba compiles."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    return code if isinstance(code, CodeType) else None
