"""NumPy arrays that notice who goes through them one element at a time, in C or in Python."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np


class Whole(np.ndarray):
    """What NumPy makes of one is one too, until np.asarray or the like."""

    taken: ClassVar[int] = 0  # elements, of all instances

    def __iter__(self):
        Whole.taken += self.size
        return iter(np.asarray(self))

    def __getitem__(self, index):
        result = super().__getitem__(index)
        Whole.taken += np.ndim(result) == 0
        return result

    def tolist(self):
        Whole.taken += self.size
        return super().tolist()

    def item(self, *index):
        Whole.taken += 1
        return super().item(*index)

    @property
    def flat(self):
        Whole.taken += self.size
        return np.asarray(self).flat

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if getattr(np, ufunc.__name__, None) is not ufunc:  # one that somebody made of a function
            Whole.taken += self.size
        if out:
            options["out"] = tuple(map(plain, out))
        result = getattr(ufunc, method)(*map(plain, inputs), **options)
        return out[0] if out else result.view(Whole) if isinstance(result, np.ndarray) else result


def elements_taken(function: Callable, arrays: Sequence) -> int:
    """How many elements a call takes out of its arrays, or of what it makes of them, one by one."""
    Whole.taken = 0
    function(*(np.array(array).view(Whole) for array in arrays))
    return Whole.taken


def plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Whole) else value
