"""Whether there is a Numba that compiles: in a browser there is none, and loops stay Python's.

There the microscope's stand-in leaves a function under `@njit` as it is, slow and right, a plain
function with a `py_func`. Its time would be Python's, and nothing of it may be called Numba's.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

OURS = ("gpulessons", "__main__")  # modules whose functions are looked into
WHY_NOT = "its loops are for Numba to compile, and there is no Numba here"


def left_as_it_is(function: Any) -> bool:
    """Whether it is under `@njit` where there is no Numba to compile it."""
    return isinstance(function, FunctionType) and hasattr(function, "py_func")


@cache
def compiles() -> bool:
    """Whether there is a Numba that compiles."""
    from numba import njit

    return not left_as_it_is(njit(lambda: None))


def waits_for_numba(function: Any, seen: frozenset = frozenset()) -> bool:
    """Whether it is such a loop, or calls one, itself or through another function of the course."""
    if compiles():
        return False
    if isinstance(function, partial):
        return waits_for_numba(function.func, seen)
    if not isinstance(function, FunctionType) or function in seen:
        return False
    names = names_in(function.__code__)
    if "py_func" in names:  # it asks for Python's own loop, by its name
        return False
    return left_as_it_is(function) or any(
        waits_for_numba(each, seen | {function}) for each in meant(function, names)
    )


def names_in(code: CodeType) -> set[str]:
    """The names that a function's code uses, and the code of functions inside it."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(names_in, inner))


def meant(function: FunctionType, names: set[str]) -> Iterator[Any]:
    """What these names mean there: functions of the course, also those of a module it names."""
    known = [function.__globals__[name] for name in names if name in function.__globals__]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # nothing in it yet
            known.append(cell.cell_contents)
    for each in known:
        if isinstance(each, ModuleType) and each.__name__.startswith(OURS):
            yield from (vars(each)[name] for name in names if name in vars(each))
        elif isinstance(each, partial) or str(getattr(each, "__module__", "")).startswith(OURS):
            yield each
