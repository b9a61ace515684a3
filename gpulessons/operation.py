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
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from typing import Any

import numpy as np

from gpulessons.backends import BACKENDS, Backend, host, is_array

# Under a warp, one over a block, a prime over what one block can be; alone last: it tells least.
EDGES = (31, 257, 1201, 1)
PIECE = 2**16  # elements compared at a time: whole arrays in float64 would fill a small memory


class Case(int):
    """A size, and other axes than the usual: Case(33, k=16) stands for op.inputs(33, k=16)."""

    axes: dict[str, Any]

    def __new__(cls, size: int, **axes: Any) -> "Case":
        case = super().__new__(cls, size)
        case.axes = axes
        return case

    def __repr__(self) -> str:
        axes = ", ".join(f"{axis}={length!r}" for axis, length in self.axes.items())
        return f"{int(self)} ({axes})"


@dataclass(frozen=True)
class Version:
    """One way to compute an op. Call it with arrays of its own backend.

    A function with a parameter named `out` writes its result there, so that the harness can
    allocate once and time only the work; any other function returns its result.
    """

    op: "Op"
    name: str
    backend: Backend
    function: Callable[..., Any]
    rtol: float  # the op's, unless this version rounds more by design
    prepare: Callable[..., Callable[[], Any]] | None = None  # the call that is timed, from arrays
    arithmetic: str = ""  # "TF32", "fp16" …, where it is another than the op's own

    @cached_property  # inspecting takes 20 µs, and a network calls a version eight times a step
    def writes_out(self) -> bool:
        return writes_out(self.function)

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        if out is None:
            self.op.check_shapes([tuple(x.shape) for x in inputs if is_array(x)])
            out = self.empty(*inputs) if self.writes_out else None
        with self.computing():
            result = self.bound(inputs, out)()
        return out if result is None and self.writes_out else result

    def bound(self, inputs: Iterable[Any], out: Any) -> Callable[[], Any]:
        """The call on these arrays, `out` only where it takes it: nothing else is timed.

        To be made and called while `computing`.
        """
        make = self.prepare or partial(partial, self.function)
        return make(*inputs, **({"out": out} if self.writes_out else {}))

    def computing(self) -> AbstractContextManager[None]:
        """Meanwhile the backend's library computes in the version's arithmetic, and in no other."""
        return self.backend.computing(self.arithmetic)

    def empty(self, *inputs: Any) -> Any:
        """Room for the result of these inputs, NumPy's or on its backend, on its own backend."""
        kinds = self.op.outputs(*inputs, get=self.backend.get)
        return one_or_all(self.backend.empty(*kind) for kind in kinds)

    def __repr__(self) -> str:
        return f"{self.op.name}: {self.name!r} on {self.backend.name}"


@dataclass(eq=False, repr=False)
class Op:
    """A specification, what it costs, and the dict of its versions."""

    function: Callable[..., Any]  # the specification
    make_inputs: Callable[..., Iterable[Any]]  # (size, rng): more of one thing at a larger size
    flops: Callable[..., Any]  # of these arrays
    sizes: Sequence[int]  # those worth comparing, smallest first
    rtol: float = 2e-6  # allowed against float64: relative above one, absolute below
    unit: str = "elements"  # what a size counts
    edge_cases: Sequence[int] = EDGES  # where a version is checked: sizes, or Case(33, k=16)
    # The axes of each array, "(m, k), (k, n)", for an op whose NumPy function would stretch what
    # does not fit: a compiled version reads past its end instead.
    signature: str = ""
    # Bytes that must move at least, of these arrays, for an op that looks at a few rows of a large
    # one; else all of its arrays, once.
    moved: Callable[..., Any] | None = None
    # The arrays that the results are shaped like, in their order, for an op with a whole number
    # that changes from call to call and that no shape depends on; else the specification tells.
    alike: Callable[..., Iterable[Any]] | None = None

    def __post_init__(self) -> None:
        self.name, self.__doc__ = self.function.__name__, self.function.__doc__
        self.sizes, self.edge_cases = tuple(self.sizes), tuple(self.edge_cases)
        self.axes = [re.findall(r"\w+", axes) for axes in re.findall(r"\(.*?\)", self.signature)]
        self.versions: dict[str, Version] = {}
        self.known_outputs: dict[tuple, list] = {}

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        return self.function(*inputs, **options)

    def inputs(self, size: int, seed: int = 0, **axes: Any) -> tuple:
        """The arrays of one problem of this size, or Case: the same for the same seed."""
        axes = {**getattr(size, "axes", {}), **axes}
        return tuple(self.make_inputs(whole(size), np.random.default_rng(seed), **axes))

    def outputs(
        self, *inputs: Any, get: Callable[[Any], Any] = host.get
    ) -> list[tuple[tuple[int, ...], np.dtype]]:
        """Shape and dtype of each result: those that the op says, or those that its specification
        gives, run once per kind of input.

        A kind is the arrays' shapes and dtypes, wherever they are, and the plain numbers beside
        them: of a float only that it is one, since no shape depends on it. get(array): NumPy's
        array of one of a backend's, which only a kind that is not known yet needs.
        """
        if self.alike:
            return [(tuple(y.shape), np.dtype(dtype_name(y))) for y in self.alike(*inputs)]
        kind = tuple(map(kind_of, inputs))
        if kind not in self.known_outputs:
            results = as_tuple(self.function(*map(get, inputs)))
            self.known_outputs[kind] = [(np.shape(y), np.asarray(y).dtype) for y in results]
        return self.known_outputs[kind]

    def poisoned(self, backend: Backend, *inputs: Any) -> Any:
        """Room on a backend for the result of these (NumPy) inputs, full of poison.

        A version must overwrite every element: what it leaves is not taken for a result.
        """
        return one_or_all(backend.put(poison(*kind)) for kind in self.outputs(*inputs))

    def bytes(self, *inputs: Any) -> int:
        """Bytes that must move at least: as the op says, or all of its arrays, once."""
        return int(self.moved(*inputs)) if self.moved else self.footprint(*inputs)

    def footprint(self, *inputs: Any) -> int:
        """Bytes of all inputs and outputs together."""
        read = sum(x.nbytes for x in inputs if is_array(x))
        written = sum(int(np.prod(s)) * dtype.itemsize for s, dtype in self.outputs(*inputs))
        return read + written

    def reference(self, *inputs: Any) -> Any:
        """The true answer: the specification in float64."""
        return self.function(*map(widened, inputs))

    def error(self, result: Any, reference: Any) -> float:
        """The largest error: relative above one, absolute below; NaN where a NaN is wrong."""
        gots, wants = as_tuple(result), as_tuple(reference)
        if len(gots) != len(wants):
            return math.nan
        return float(np.max([*map(largest_error, gots, wants)]))  # of which a NaN is the largest

    def check_shapes(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """ValueError unless shapes have the signature's axes, and axes of one name one length."""
        lengths: dict[str, int] = {}
        fits = [*map(len, self.axes)] == [*map(len, shapes)] and all(
            lengths.setdefault(axis, length) == length
            for axes, shape in zip(self.axes, shapes, strict=True)
            for axis, length in zip(axes, shape, strict=True)
        )
        if self.axes and not fits:
            given = ", ".join(map(str, shapes))
            raise ValueError(f"{self.name} takes arrays of shapes {self.signature}, not {given}.")

    def version(
        self, name: str, *, on: Backend, rtol: float | None = None, arithmetic: str = "",
        prepares: bool = False,
    ) -> Callable:  # fmt: skip
        """Register a version: `@relu.version("mine", on=gpu)`. Returns the function unchanged.

        rtol: for a version that rounds more than float32 does. arithmetic: what it then computes
        in, such as "TF32"; where that is another than the op's own, no ranking has both. On
        PyTorch "TF32" allows it, and else float32 is float32. prepares: the function makes ready
        what every call needs, views and room for parts, and returns the call, which takes no
        arguments and alone is timed.
        """
        if on not in BACKENDS.values():
            raise ValueError(f"on= takes one of the backends {', '.join(BACKENDS)}, not {on!r}.")

        def register(function: Callable) -> Callable:
            allowed = self.rtol if rtol is None else rtol
            named = arithmetic or "less exact arithmetic" * (allowed > self.rtol)
            runs, prepare = (at_once(function), function) if prepares else (function, None)
            self.versions[name] = Version(self, name, on, runs, allowed, prepare, named)
            return function

        return register

    def like(
        self, inputs: Callable[..., Iterable[Any]] | None = None, sizes: Sequence[int] | None = None
    ) -> "Op":
        """The same op with the versions it has now, and room for others that the first never sees.

        inputs(size, rng) as for `@op`, if they differ: another width, another shape; edge cases
        are then these at the same sizes. sizes: those worth comparing, if they differ.
        """
        edges = tuple(map(int, self.edge_cases)) if inputs else self.edge_cases
        twin = replace(self, make_inputs=inputs or self.make_inputs, sizes=sizes or self.sizes,
                       edge_cases=edges)  # fmt: skip
        twin.versions = {name: replace(v, op=twin) for name, v in self.versions.items()}
        return twin

    def __repr__(self) -> str:
        return f"op {self.name}: " + ", ".join(self.versions)


def op(*, inputs: Callable[..., Iterable[Any]], **parts: Any) -> Callable[[Callable], Op]:
    """Make an op from its NumPy specification, which becomes its first version too.

    inputs(size, rng) -> the arrays of one problem, of one kind at every size; parts: `flops=`,
    `sizes=` and what else an Op has.
    """

    def make(function: Callable) -> Op:
        made = Op(function, inputs, **parts)
        made.version("NumPy", on=host)(function)
        return made

    return make


def find(op: Op, version: str | Version) -> Version:
    """The version of this name, or a KeyError that lists those there are."""
    if isinstance(version, Version):
        return version
    if version not in op.versions:
        names = ", ".join(map(repr, op.versions))  # a name may contain commas
        raise KeyError(f"{op.name} has no version {version!r}. It has {names}.")
    return op.versions[version]


def whole(size: Any) -> int:
    """A problem size as an int, or a sentence about what is wrong with it."""
    number = isinstance(size, numbers.Real) and not isinstance(size, bool)
    if not (number and 1 <= size < 2**63 and int(size) == size):
        raise ValueError(f"A size is a whole number of at least 1 (and below 2^63), not {size!r}.")
    return int(size)


def several(value: Any) -> list:
    """A lone size or name stands for a list of one."""
    alone = isinstance(value, (str, Version)) or not hasattr(value, "__iter__")
    return [value] if alone else list(value)


def at_once(prepare: Callable) -> Callable:
    """A function that prepares and calls: what a version is where it is not timed."""

    @wraps(prepare)
    def call(*inputs: Any, **out: Any) -> Any:
        return prepare(*inputs, **out)()

    return call


def kind_of(value: Any) -> Any:
    """An array's shape and dtype; the type of a float; any other number itself."""
    if is_array(value):
        return tuple(value.shape), dtype_name(value)
    return float if isinstance(value, float | np.floating) else value


def dtype_name(array: Any) -> str:
    """ "float32", of NumPy's arrays, Numba's and PyTorch's."""
    return str(array.dtype).removeprefix("torch.")


def writes_out(function: Callable) -> bool:
    """Does it write its result into a parameter named `out`?"""
    return "out" in inspect.signature(function).parameters


def as_tuple(result: Any) -> tuple:
    return result if isinstance(result, tuple) else (result,)


def one_or_all(results: Iterable[Any]) -> Any:
    """A lone result as itself, several as a tuple: what as_tuple undoes."""
    results = tuple(results)
    return results[0] if len(results) == 1 else results


def fetched(backend: Backend, result: Any) -> Any:
    """A result, or each of several, as NumPy arrays."""
    return one_or_all(map(backend.get, as_tuple(result)))


def poison(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array whose every byte is 0xFF, a NaN in floats and −1 in integers: no right answer."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8).fill(0xFF)
    return array


def widened(value: Any) -> Any:
    """float32 becomes float64; integers and plain numbers stay."""
    floating = is_array(value) and np.issubdtype(value.dtype, np.floating)
    return value.astype(np.float64) if floating else value


def largest_error(got: Any, want: Any) -> float:
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return math.nan
    got, want = got.reshape(-1), want.reshape(-1)
    pieces = (slice(start, start + PIECE) for start in range(0, got.size, PIECE))
    return float(np.max([error_of_piece(got[p], want[p]) for p in pieces], initial=0.0))


def error_of_piece(got: np.ndarray, want: np.ndarray) -> float:
    got, want = got.astype(np.float64), want.astype(np.float64)
    same = (got == want) | (np.isnan(got) & np.isnan(want))  # equal infinities differ by NaN
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got - want) / np.maximum(1.0, np.abs(want)))
    return float(error.max())
