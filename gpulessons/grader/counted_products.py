"""NumPy arrays that tell which products were made of them, for exercises that ask for few."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

UFUNCS = ("matmul", "vecdot", "vecmat", "matvec")
FUNCTIONS = (np.dot, np.inner, np.vdot, np.tensordot, np.einsum)


class CountedArray(np.ndarray):
    """What is made of one is one too, until np.asarray or the like."""

    __array_priority__ = 1  # so that np.concatenate keeps the class
    products: ClassVar[list] = []  # of all instances: see count_products

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if out:
            options["out"] = tuple(map(unwrapped, out))
        result = getattr(ufunc, method)(*map(unwrapped, inputs), **options)
        if ufunc.__name__ in UFUNCS:
            record(ufunc, inputs)
        return out[0] if out else np.asarray(result).view(CountedArray)

    def __array_function__(self, function, types, inputs, options):
        if function not in FUNCTIONS:
            return super().__array_function__(function, types, inputs, options)
        record(function, inputs)
        options = {name: unwrapped(value) for name, value in options.items()}
        return np.asarray(function(*map(unwrapped, inputs), **options)).view(CountedArray)

    def dot(self, other):
        return np.dot(self, other)


def count_products(arrays: Sequence) -> tuple[list[CountedArray], list]:
    """Counted copies, and the list to which each product adds (function, its factors' shapes)."""
    CountedArray.products = []
    return [np.array(array).view(CountedArray) for array in arrays], CountedArray.products


def record(function: Any, inputs: Sequence) -> None:
    factors = [value.shape for value in inputs if isinstance(value, np.ndarray)]
    CountedArray.products.append((function, factors))


def unwrapped(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, CountedArray) else value
