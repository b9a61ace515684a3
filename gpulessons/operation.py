"""An op is a specification and its versions.

The specification is one NumPy function; a version is one way to compute the same thing. Everything
else is read off the arrays: bytes moved are the arrays' own, the true answer is the same
specification run in float64.

    @op(inputs=normal, flops=lambda x: x.size, sizes=(1_000, 1_000_000))
    def relu(x):
        return np.maximum(x, 0)

    @relu.version("mine", on=gpu)
    def mine(x): ...
"""

import inspect
import math
import numbers
import re
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpulessons.backends import BACKENDS, host, is_array

# Under a warp, one over a block, a prime over what one block can be; alone last: it tells least.
AWKWARD = (31, 257, 1201, 1)


@dataclass(frozen=True)
class Version:
    """One way to compute an op. Call it with arrays of its own backend.

    A function with a parameter named `out` writes its result there, so that the harness can
    allocate once and time only the work; any other function returns its result.
    """

    op: "Op"
    name: str
    backend: object
    function: object
    rtol: float  # the op's, unless this version rounds more by design

    @cached_property  # inspecting takes 20 µs, and a network calls a version eight times a step
    def writes_out(self):
        return "out" in inspect.signature(self.function).parameters

    def __call__(self, *inputs, out=None):
        if out is None:
            self.op.refuse_misfits([tuple(x.shape) for x in inputs if is_array(x)])
        if not self.writes_out:
            return self.function(*inputs)
        if out is None:  # only shapes matter, and the host's arrays have them already
            out = self.empty(*(inputs if self.backend is host else map(self.backend.get, inputs)))
        result = self.function(*inputs, out=out)
        return out if result is None else result

    def empty(self, *inputs):
        """Room for the result of these (NumPy) inputs, on the version's own backend."""
        made = [self.backend.empty(shape, dtype) for shape, dtype in self.op.outputs(*inputs)]
        return made[0] if len(made) == 1 else tuple(made)

    def __repr__(self):
        return f"{self.op.name}: {self.name!r} on {self.backend.name}"


class Op:
    """A specification, what it costs, and the dict of its versions."""

    def __init__(self, function, inputs, flops, sizes, rtol, unit, awkward, takes):
        self.function, self.make_inputs, self.flops = function, inputs, flops
        self.name, self.__doc__ = function.__name__, function.__doc__
        self.sizes, self.rtol = tuple(sizes), rtol
        self.unit, self.awkward, self.takes = unit, tuple(awkward), takes
        self.axes = [re.findall(r"\w+", axes) for axes in re.findall(r"\(.*?\)", takes)]
        self.versions = {}
        self._outputs = {}

    def __call__(self, *inputs, **options):
        return self.function(*inputs, **options)

    def inputs(self, size, seed=0):
        """The arrays of one problem of this size: the same for the same seed."""
        return tuple(self.make_inputs(whole(size), np.random.default_rng(seed)))

    def outputs(self, *inputs):
        """Shape and dtype of each result: the specification run once per kind of input."""
        kind = tuple((x.shape, x.dtype) if is_array(x) else x for x in inputs)
        if kind not in self._outputs:
            results = as_tuple(self.function(*inputs))
            self._outputs[kind] = [(np.shape(y), np.asarray(y).dtype) for y in results]
        return self._outputs[kind]

    def bytes(self, *inputs):
        """Bytes that must move at least: each input read once, each output written once."""
        read = sum(x.nbytes for x in inputs if is_array(x))
        written = sum(int(np.prod(s)) * dtype.itemsize for s, dtype in self.outputs(*inputs))
        return read + written

    def reference(self, *inputs):
        """The true answer: the specification in float64."""
        return self.function(*map(widened, inputs))

    def error(self, result, reference):
        """The largest error: relative above one, absolute below; NaN where a NaN is wrong."""
        gots, wants = as_tuple(result), as_tuple(reference)
        if len(gots) != len(wants):
            return math.nan
        return max(map(largest_error, gots, wants), key=nan_last)

    def refuse_misfits(self, shapes):
        """ValueError unless shapes have the axes of `takes`, and axes of one name one length."""
        lengths = {}
        fits = [*map(len, self.axes)] == [*map(len, shapes)] and all(
            lengths.setdefault(axis, length) == length
            for axes, shape in zip(self.axes, shapes, strict=True)
            for axis, length in zip(axes, shape, strict=True)
        )
        if self.axes and not fits:
            given = ", ".join(map(str, shapes))
            raise ValueError(f"{self.name} takes arrays of shapes {self.takes}, not {given}.")

    def version(self, name, *, on, rtol=None):
        """Register a version: `@relu.version("mine", on=gpu)`. Returns the function unchanged.

        rtol: for a version that rounds more than float32 does, and says so in its name.
        """
        if on not in BACKENDS.values():
            raise ValueError(f"on= takes one of the backends {', '.join(BACKENDS)}, not {on!r}.")

        def register(function):
            allowed = self.rtol if rtol is None else rtol
            self.versions[name] = Version(self, name, on, function, allowed)
            return function

        return register

    def like(self, inputs, sizes=None):
        """The same op with the versions it has now, on other inputs: another width, another shape.

        inputs(size, rng) as for `@op`; sizes: those worth comparing, if they differ.
        """
        twin = Op(self.function, inputs, self.flops, sizes or self.sizes, self.rtol, self.unit,
                  self.awkward, self.takes)  # fmt: skip
        twin.versions = {name: replace(v, op=twin) for name, v in self.versions.items()}
        return twin

    def __repr__(self):
        return f"op {self.name}: " + ", ".join(self.versions)


def op(*, inputs, flops, sizes, rtol=2e-6, unit="elements", awkward=AWKWARD, takes=""):
    """Make an op from its NumPy specification, which becomes its first version too.

    inputs(size, rng) -> the arrays of one problem; flops(*arrays) -> operations; sizes: those worth
    comparing, smallest first; rtol: the error allowed against float64 (relative above one, absolute
    below); unit: what a size counts; awkward: the sizes at which a version is checked; takes: the
    axes of each array, "(m, k), (k, n)", for an op whose NumPy function would stretch what does not
    fit: a compiled version reads past its end instead.
    """

    def make(function):
        made = Op(function, inputs, flops, sizes, rtol, unit, awkward, takes)
        made.version("NumPy", on=host)(function)
        return made

    return make


def find(op, version):
    """The version of this name, or a KeyError that lists those there are."""
    if isinstance(version, Version):
        return version
    if version not in op.versions:
        names = ", ".join(map(repr, op.versions))  # a name may contain commas
        raise KeyError(f"{op.name} has no version {version!r}. It has {names}.")
    return op.versions[version]


def whole(size):
    """A problem size as an int, or a sentence about what is wrong with it."""
    fits = isinstance(size, numbers.Real) and not isinstance(size, bool) and 1 <= size < 2**63
    if not fits or int(size) != size:
        raise ValueError(f"A size is a whole number of at least 1 (and below 2^63), not {size!r}.")
    return int(size)


def several(value):
    """A lone size or name stands for a list of one."""
    alone = isinstance(value, (str, Version)) or not hasattr(value, "__iter__")
    return [value] if alone else list(value)


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def widened(value):
    """float32 becomes float64; integers and plain numbers stay."""
    floating = is_array(value) and np.issubdtype(value.dtype, np.floating)
    return value.astype(np.float64) if floating else value


def largest_error(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if got.shape != want.shape:
        return np.nan
    if got.size == 0:
        return 0.0
    same = (got == want) | (np.isnan(got) & np.isnan(want))  # equal infinities differ by NaN
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got - want) / np.maximum(1.0, np.abs(want)))
    return float(error.max())


def nan_last(error):
    """Sorts NaN above every number: a NaN is the largest error of all."""
    return np.inf if np.isnan(error) else error
