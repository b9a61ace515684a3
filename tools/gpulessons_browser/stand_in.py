"""Numba's names where there is no Numba, as in a browser: kernels are read, never compiled.

The microscope needs a kernel's source and what its names mean. So `cuda.jit` keeps the function,
each name of `numba.cuda` is a thing of its own that does nothing outside kernels, `njit` leaves
Python's functions as they are (slow, and right), and what speaks to a compiler is told nothing.
`install()` puts these modules in Numba's place, where nobody finds Numba itself.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, NoReturn

import numpy as np

NUMBERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
NUMBERS += "complex128"
OTHER_NAMES = {"boolean": "bool", "bool_": "bool", "intp": "int64", "uintp": "uint64",
               "int_": "int64", "uint": "uint64", "float_": "float64", "double": "float64",
               "f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64"}  # fmt: skip


# -- Types.


class Type:
    """A number's type: a call converts a value, brackets make the type of an array."""

    def __init__(self, name: str) -> None:
        self.name, self.bitwidth = name, 8 * np.dtype(name).itemsize

    def __call__(self, *given: Any) -> Any:
        if len(given) == 1 and not isinstance(given[0], (Type, ArrayType)):
            return np.dtype(self.name).type(given[0])
        return Signature(given)

    def __getitem__(self, axes: Any) -> ArrayType:
        return ArrayType(self, len(axes) if isinstance(axes, tuple) else 1)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


Type.__module__ = "numba"


class ArrayType(NamedTuple):
    dtype: Type
    ndim: int


class Signature(NamedTuple):
    args: tuple
    return_type: Any = None


class Void:
    def __call__(self, *args: Any) -> Signature:
        return Signature(args)


TYPES: dict[str, Any] = {name: Type(name) for name in NUMBERS.split()}
TYPES |= {other: Type(name) for other, name in OTHER_NAMES.items()}
TYPES["void"] = Void()


def normalize_signature(signature: Any) -> tuple[tuple, Any]:
    """`sigutils.normalize_signature`: (the types of the arguments, of the result)."""
    found = eval(signature, dict(TYPES)) if isinstance(signature, str) else signature
    return (found, None) if type(found) is tuple else (found.args, found.return_type)


# -- Functions.


class Kernel:
    """What `cuda.jit` makes of a function: something to be traced."""

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self.py_func, self.targetoptions = function, options
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__ = function.__module__

    def __getitem__(self, sizes: Any) -> Callable[..., NoReturn]:
        return self.configure(*sizes)

    def configure(self, *sizes: Any) -> Callable[..., NoReturn]:
        def launch(*args: Any) -> NoReturn:
            name = self.__name__
            raise RuntimeError(f"{name} has no GPU and no Numba here; the microscope runs it: "
                               f"trace({name})[grid, block](…), or all in `with tracing():`")

        return launch

    def forall(self, *sizes: Any) -> Callable[..., NoReturn]:
        return self.configure(*sizes)

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


def jit(function: Any = None, *_: Any, **options: Any) -> Any:
    """`cuda.jit`, bare or with options or a signature."""
    if isinstance(function, FunctionType):
        return Kernel(function, options)
    return lambda function: Kernel(function, options)


def as_it_is(function: Any = None, *_: Any, **__: Any) -> Any:
    """`njit` and its kin, bare or with options: a function like it, which has it as `py_func`."""
    if not isinstance(function, FunctionType):
        return as_it_is
    parts = function.__name__, function.__defaults__, function.__closure__
    like = FunctionType(function.__code__, function.__globals__, *parts)
    like.__kwdefaults__, like.__module__ = function.__kwdefaults__, function.__module__
    like.__qualname__, like.__doc__ = function.__qualname__, function.__doc__
    vars(like).update(vars(function), py_func=function)
    return like


class Name:
    """A name that means something to a compiler or inside a kernel, and nothing here."""

    def __init__(self, path: str) -> None:
        self.__name__ = path

    def __getattr__(self, name: str) -> Name:
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, type(self)(f"{self.__name__}.{name}"))
        return vars(self)[name]

    def __repr__(self) -> str:
        return f"<{self.__name__}, inside kernels>"


class InKernels(Name):
    """A name of `numba.cuda`."""

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(f"{self.__name__} works inside kernels only, which the microscope runs")


class ForCompilers(Name):
    """A name of Numba's or LLVM's own machinery, all of which comes to nothing."""

    def __call__(self, *_: Any, **__: Any) -> Name:
        return self

    def __mro_entries__(self, bases: tuple) -> tuple:
        return ()  # a class made from it is made from nothing


# -- Modules.

FUNCTIONS = dict.fromkeys(("jit", "njit", "vectorize", "guvectorize", "stencil"), as_it_is)
HELD: dict[str, dict[str, Any]] = {  # what modules hold that have something
    "numba": {**TYPES, **FUNCTIONS, "prange": range, "get_num_threads": lambda: 1},
    "numba.cuda": {**TYPES, "jit": jit, "is_available": lambda: False},
    "numba.config": {"NUMBA_NUM_THREADS": 1, "NUMBA_DEFAULT_NUM_THREADS": 1},
    "numba.core": {},
    "numba.core.errors": {},
    "numba.core.types": TYPES,
    "numba.types": TYPES,
    "numba.core.sigutils": {"normalize_signature": normalize_signature},
    "numba.extending": {"register_jitable": as_it_is, "intrinsic": as_it_is},
}


class Module(ModuleType):
    """A module that has every name: those given, and for others what `otherwise` makes."""

    def __init__(self, name: str, given: dict[str, Any], otherwise: Callable[[str], Any]) -> None:
        super().__init__(name, __doc__)
        self.__path__: list[str] = []
        vars(self).update(given)
        self.otherwise = otherwise

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self.__name__}.{name}"
        if path in HELD:  # importing a module sets it here
            return importlib.import_module(path)
        setattr(self, name, self.otherwise(path))
        return vars(self)[name]


def contents(name: str) -> tuple[dict[str, Any], Callable[[str], Any]]:
    """What a module of this name holds, and what the names are that it does not hold."""
    otherwise = {"numba.cuda": InKernels, "numba.core.errors": exception}
    return HELD.get(name, {}), otherwise.get(name, ForCompilers)


def exception(path: str) -> type[Exception]:
    return type(path.rpartition(".")[2], (Exception,), {})


def install() -> None:
    """Have Numba's names found in this process; where Numba itself is found, nothing changes."""
    sys.meta_path.append(Finder())


class Finder:
    """The last of `sys.meta_path`: Numba's modules and LLVM's, where nobody else has them."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        root = name.partition(".")[0]
        if root not in ("numba", "llvmlite"):
            return None
        if name != root and not isinstance(sys.modules.get(root), Module):
            return None
        loader: Any = self
        return importlib.util.spec_from_loader(name, loader, is_package=True)

    def create_module(self, spec: ModuleSpec) -> Module:
        return Module(spec.name, *contents(spec.name))

    def exec_module(self, module: Module) -> None:
        pass
