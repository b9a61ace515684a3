"""NumPy arrays that tell which products were made of them, for exercises that ask for few."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

UFUNCS = ("matmul", "vecdot", "vecmat", "matvec")
FUNCTIONS = (np.dot, np.inner, np.vdot, np.tensordot, np.einsum)


class Watched(np.ndarray):
    """What is made of a Watched array is one too, until np.asarray or the like."""

    __array_priority__ = 1  # so that np.concatenate keeps the class
    products: ClassVar[list] = []  # of all instances: see watch

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if out:
            options["out"] = tuple(map(plain, out))
        result = getattr(ufunc, method)(*map(plain, inputs), **options)
        if ufunc.__name__ in UFUNCS:
            note(ufunc, inputs)
        return out[0] if out else np.asarray(result).view(Watched)

    def __array_function__(self, function, types, inputs, options):
        if function not in FUNCTIONS:
            return super().__array_function__(function, types, inputs, options)
        note(function, inputs)
        options = {name: plain(value) for name, value in options.items()}
        return np.asarray(function(*map(plain, inputs), **options)).view(Watched)

    def dot(self, other):
        return np.dot(self, other)


def watch(arrays: Sequence) -> tuple[list[Watched], list]:
    """Watched copies, and the list to which each product adds (function, its factors' shapes)."""
    Watched.products = []
    return [np.array(array).view(Watched) for array in arrays], Watched.products


def note(function: Any, inputs: Sequence) -> None:
    factors = [value.shape for value in inputs if isinstance(value, np.ndarray)]
    Watched.products.append((function, factors))


def plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Watched) else value
