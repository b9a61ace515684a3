"""Whose work is it? The course's own answer is nobody's attempt, and neither is a stub."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from gpulessons.operation import Op, Version
from warplens import Trace

from .diagnosis import Mismatch


def not_yours(name: str) -> Mismatch:
    return Mismatch(f"{name} is the course's own.", "the stub: write yours.")


@contextmanager
def own_work(attempt: Any, forbidden: Sequence[Callable], watch: bool = True) -> Iterator[None]:
    """Mismatch where the attempt is an op, a version or one of these; watch: or calls one."""
    if isinstance(attempt, Op | Version) or attempt in forbidden:
        raise not_yours("This")
    codes = [each.__code__ for each in (Op.__call__, Version.__call__, *forbidden)]

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in codes:
            caller = frame.f_back.f_globals.get("__name__") if frame.f_back else ""
            if not str(caller).startswith("gpulessons"):  # a judge may
                raise not_yours("What it calls")

    before = sys.getprofile()
    sys.setprofile(look if watch else before)
    try:
        yield
    finally:
        sys.setprofile(before)


def require_own_kernels(launches: Sequence[Trace]) -> None:
    for launch in launches:
        kernel = launch.launch and launch.launch.function
        if kernel and str(kernel.__module__).startswith("gpulessons"):
            raise not_yours(kernel.__name__)


def is_untouched(stub: str, attempt: Any) -> bool:
    """Is every function of the stub, the attempt's own and its kernels, as it was, word for word?

    Comments and spaces do not count; neither does what else stands in the cell.
    """
    given = [node for node in ast.parse(stub).body if isinstance(node, ast.FunctionDef)]
    own = getattr(attempt, "py_func", attempt)
    known = {**getattr(own, "__globals__", {}), getattr(own, "__name__", ""): own}
    return bool(given) and all(ast.dump(node) == written(known.get(node.name)) for node in given)


def written(function: Any) -> str:
    """The syntax of a function, or of one that Numba compiles; "" where it has no source."""
    try:
        text = inspect.getsource(getattr(function, "py_func", function))
        return ast.dump(ast.parse(textwrap.dedent(text)).body[0])
    except (OSError, TypeError, SyntaxError):
        return ""
