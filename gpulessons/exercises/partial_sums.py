"""A sum in several chains: the same additions, most of which need not wait for one another."""

import random
from types import FunctionType

import numpy as np
from numba import njit

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, Wasteful, returned

CHAINS, SLACK = 4, 10  # the longest is n / CHAINS; additions at the end, or of zeros, on top
text = '''\
import numpy as np

def my_total(x):
    """The sum of the numbers in the array x, of any length: chains of a quarter at most."""
    ### BEGIN SOLUTION
    a = b = c = d = np.float32(0)
    whole = x.size - x.size % 4
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(whole, x.size):
        a += x[i]
    return (a + b) + (c + d)
    ### STUB
    a = np.float32(0)
    for i in range(x.size):
        a += x[i]  # Your turn: each of these waits for the one before it.
    return a
    ### END SOLUTION
'''


class Link:
    """A number that knows how long a chain of additions is behind it."""

    __array_ufunc__ = None  # NumPy's own numbers leave additions to it

    def __init__(self, value, depth=0):
        self.value, self.depth = value, depth

    def __add__(self, other):
        other = other if isinstance(other, Link) else Link(float(other))
        return Link(self.value + other.value, max(self.depth, other.depth) + 1)

    __radd__ = __add__

    def __float__(self):
        raise Mismatch("An array of floats, or float(), hides the chains from this check.",
                       "where the partial sums are kept: variables, or a list of them.")


class Boxes:
    """NumPy, but what it makes for partial sums has room for Links."""

    def __getattr__(self, name):
        made = getattr(np, name)
        return (lambda shape, dtype=None: made(shape, object)) if name == "zeros" else made


def boxed(attempt):
    """The attempt with Boxes for NumPy."""
    names = {name: Boxes() if value is np else value
             for name, value in attempt.__globals__.items()}  # fmt: skip
    return FunctionType(attempt.__code__, names, attempt.__name__, attempt.__defaults__,
                        attempt.__closure__)


def judge(attempt):
    """Sums of few numbers and of many, by their longest chain; then Numba has a try."""
    attempt = getattr(attempt, "py_func", attempt)  # as it was before Numba compiled it
    summed, longest = boxed(attempt), {}
    for n in (400, 401, 402, 403, 7, 1):
        numbers = [float(random.randrange(1, 2**20)) for _ in range(n)]
        links = np.array([*map(Link, numbers)], dtype=object)
        found = returned(summed(links))
        if not isinstance(found, Link):
            raise Mismatch(f"It returned {found!r}, not a sum of numbers of x.", "its last line.")
        if found.value != sum(numbers):
            raise Mismatch(f"Wrong for {n} numbers: {found.value:,.0f}, not {sum(numbers):,.0f}.",
                           "the last few, where four do not divide the length.")
        if found.depth > n / CHAINS + SLACK:
            raise Wasteful(f"{found.depth} of {n} additions are one chain.",
                           "which variable each addition continues: four of them, in turn.")
        longest[n] = found.depth
    try:
        njit(attempt)(np.ones(9, np.float32))
    except Exception as failed:
        raise Wasteful(f"Numba cannot compile it: {str(failed).splitlines()[0]}",
                       "loops over indices and plain variables: what Numba knows.") from failed
    return f"Of 400 additions {longest[400]} are in the longest chain, adding up included."


exercise = Exercise(__name__, text, judge=judge)
