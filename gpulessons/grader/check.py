"""check(): run an attempt on inputs that can break it, and say in words what is wrong first.

A CUDA attempt is always run thread by thread in the microscope: it needs no GPU, and it sees what a
GPU keeps to itself (a GPU lets a thread write past the end and says nothing). Where there is a GPU,
an attempt that passes is run on it too.
"""

import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from types import ModuleType
from typing import Any

import numpy as np

import warplens
from gpulessons.backends import NotHere, any_gpu, gpu, host
from gpulessons.operation import Op, Version, as_tuple, writes_out
from warplens import Race, Trace
from warplens.faults import LaunchError, OutOfBounds, PartialBarrier, PartialWarp

from . import SAVED
from .diagnosis import Mismatch, NotTried, Wasteful, check_unchanged, check_written, diagnose
from .diagnosis import returned as something
from .ownership import is_untouched, own_work, require_own_kernels
from .waste import remark_doubles, total

# What stands in an exercise's text for the solution alone, and for the stub in its place.
MARKED = re.compile(
    r"^ *### BEGIN SOLUTION\n(.*?)(?:^ *### STUB\n(.*?))?^ *### END SOLUTION\n", re.M | re.S
)
STUB = "The stub is as it was."


@dataclass(frozen=True, eq=False, repr=False)
class Exercise:
    """A task of a notebook: where a learner starts, where they may arrive, and what judges them.

    Either the attempt computes `op` on the backend `on`, and inspect(launches), where there is one,
    raises Mismatch about how a right kernel did it; or judge(attempt) does it all: it raises
    Mismatch, or returns a word of praise.
    """

    module: str  # __name__ of its file
    text: str  # the solution, and, between ### STUB and ### END SOLUTION, what a learner sees
    on: Any = None  # a backend
    op: Any = None  # an Op
    inspect: Callable[[Sequence[Trace]], None] | None = None
    judge: Callable[[Any], str | None] | None = None
    mistakes: tuple = ()  # (sentence, hint, what an attempt computes that makes this mistake)
    forbidden: tuple = ()  # functions of the course that are the answer, beside ops
    hints: tuple = ()  # a nudge, a line

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]

    @property
    def lesson(self) -> ModuleType:
        """Its file, whose docstring is the task."""
        return sys.modules[self.module]

    @property
    def task(self) -> str:
        return self.lesson.__doc__ or ""

    @cached_property
    def stub(self) -> str:
        return MARKED.sub(r"\2", self.text)

    @cached_property
    def solution(self) -> str:
        return MARKED.sub(r"\1", self.text)

    def __repr__(self) -> str:
        return f"{self.name}: {self.task}"


@dataclass(frozen=True, repr=False)
class Verdict:
    """What check() found: passed, or the first trouble and a hint at where to look."""

    subject: str
    passed: bool
    trouble: str = ""
    hint: str = ""
    ran: str = ""  # what was tried, when it passed
    untouched: bool = False  # nothing was tried yet

    def __repr__(self) -> str:
        if self.passed:
            return f"✓ {self.subject}: right. {self.ran}"
        return f"✗ {self.subject}: not yet. {self.trouble}\n  Look at: {self.hint}"

    def _repr_html_(self) -> str:
        head, _, hint = repr(self).partition("\n")
        return f"<p><strong>{escape(head)}</strong><br>{escape(hint.strip())}</p>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """What is shown, and the verdict as data: a saved notebook says what became of it."""
        return {"text/plain": repr(self), "text/html": self._repr_html_(), SAVED: asdict(self)}


def check(subject: Op | Exercise, attempt: Any, *, on: Any = None) -> Verdict:
    """Is this attempt right? subject: an op or an exercise; attempt: a function (or a number).

    on: the backend whose arrays the attempt takes; known for exercises and registered versions,
    otherwise gpu when the attempt mentions cuda, and host when it does not. Returns a Verdict.
    """
    if not isinstance(subject, Op | Exercise):
        raise TypeError(f"check() takes an op or an exercise first, not {subject!r}.")
    try:
        if isinstance(subject, Exercise):
            ran = check_exercise(subject, attempt)
        else:
            ran = check_op(subject, attempt, on or backend_of(attempt))
    except Mismatch as found:
        untouched = isinstance(found, NotTried)
        return Verdict(subject.name, False, found.sentence, found.hint, untouched=untouched)
    return Verdict(subject.name, True, ran=ran)


def check_exercise(exercise: Exercise, attempt: Any) -> str:
    """What was tried, in words; Mismatch, which says so first where the stub is as it was."""
    on_gpu = "@cuda.jit" in exercise.stub  # there launches tell whose kernels they are
    try:
        with own_work(attempt, exercise.forbidden, watch=not on_gpu):
            if exercise.judge is None:
                op, on = exercise.op, exercise.on
                return check_op(op, attempt, on, exercise.inspect, exercise.mistakes)
            if "def " in exercise.stub:
                require_function(attempt)
            return run(exercise.judge, (attempt,), {}, attempt) or ""
    except NotTried:
        raise
    except Mismatch as found:
        if not is_untouched(exercise.stub, attempt):
            raise
        asks = "Your turn" in exercise.stub and not isinstance(found, Wasteful)
        hint = 'what it says at "Your turn".' if asks else found.hint
        raise NotTried(f"{STUB} {found.sentence}", hint) from found


def check_op(
    op: Op, attempt: Any, backend: Any, inspect_launches: Callable | None = None,
    mistakes: Sequence[tuple] = (),
) -> str:  # fmt: skip
    """Try every size; returns what was tried in words, or raises Mismatch."""
    version = attempt if isinstance(attempt, Version) else None
    function, rtol = (version.function, version.rtol) if version else (attempt, op.rtol)
    require_function(function)
    if hasattr(function, "py_func") and is_cuda(function):  # a function of njit's can be called
        hint = "its launcher: pass the function that allocates, launches and returns."
        raise Mismatch("This is the kernel alone.", hint)
    doubles = ""
    with backend.computing(version.arithmetic if version else ""):
        for size in op.edge_cases:
            launches = try_once(op, function, backend, size, rtol, mistakes)
            if not version:
                require_own_kernels(launches)
            if inspect_launches:
                inspect_launches(launches)
            doubles = remark_doubles(launches) or doubles
    tried = "thread by thread" if backend is gpu else f"on {backend.label}"
    if backend is gpu and gpu.answers():
        tried += on_the_gpu(op, function, rtol)
    ran = f"Tried {tried} at sizes {', '.join(map(str, op.edge_cases))}."
    return f"{ran} {doubles}".strip()


def on_the_gpu(op: Op, function: Callable, rtol: float) -> str:
    """The same again for real; returns what was tried in words."""
    try:
        with gpu.answering():
            for size in op.edge_cases:
                inputs = op.inputs(size, seed=size)
                compare_results(op, inputs, call(op, function, inputs, gpu), size, rtol)
    except NotHere as why:
        return f" (not on the GPU: {why})"
    except Mismatch as found:
        if type(found.__cause__).__name__ not in ("Refused", "Found"):  # it was right before:
            raise  # what WebGPU does not do is no mistake
        return f" (not on the GPU: {found.__cause__})"
    return f" and on {there.name}, by WebGPU" if (there := any_gpu()) else " and on the GPU"


def try_once(
    op: Op, function: Callable, backend: Any, size: int, rtol: float, mistakes: Sequence[tuple]
) -> Sequence[Trace]:
    """One problem, in the microscope when it is for a GPU. Returns the launches it traced."""
    inputs = op.inputs(size, seed=size)
    with warplens.tracing() if backend is gpu else nullcontext([]) as launches:
        results = call(op, function, inputs, backend)
    if backend is gpu and not launches:
        raise Mismatch("It launched no kernel.",
                       "kernel[blocks, threads](…): the brackets choose the grid.")  # fmt: skip
    for race in (race for launch in launches for race in launch.races(limit=1)):
        raise Mismatch(f"A race: {race}", hint_for_race(race))
    try:
        compare_results(op, inputs, results, size, rtol, mistakes)
    except Mismatch as found:  # what a GPU would not tell: where a value came from nowhere
        warnings = [w for launch in launches for w in launch.warnings]
        told = [f"{w}." for w in warnings if w.kind in ("uninitialized", "shuffle")]
        raise Mismatch(found.sentence, told[0] if told else found.hint) from None
    written = sum(total(launches, access, "bytes_asked") for access in ("write", "atomic"))
    if backend is gpu and written < sum(np.asarray(each).nbytes for each in results):
        raise Mismatch("The result is right, but no kernel computed it.",
                       "what the launcher returns: what the kernel wrote.")  # fmt: skip
    return launches


def call(op: Op, function: Callable, inputs: tuple, backend: Any) -> tuple:
    """Run the attempt on copies of the inputs. Returns its results, as NumPy sees them."""
    placed = tuple(map(backend.put, inputs))
    options = {"out": op.poisoned(backend, *inputs)} if writes_out(function) else {}
    result = run(function, placed, options)
    check_unchanged(inputs, tuple(map(backend.get, placed)))
    result = something(options.get("out") if result is None else result)
    if isinstance(result, list) and len(op.outputs(*inputs)) > 1:
        result = tuple(result)
    return tuple(map(backend.get, as_tuple(result)))


def run(function: Callable, arguments: tuple, options: dict, attempt: Any = None) -> Any:
    """Call it; whatever it raises becomes Mismatch, at a line of the attempt."""
    try:
        return function(*arguments, **options)
    except (Mismatch, NotHere):
        raise
    except (warplens.KernelFault, warplens.Unsupported) as fault:
        raise Mismatch(f"{fault}", HINTS.get(type(fault), "the line it names.")) from fault
    except NotImplementedError:
        raise NotTried(STUB, "the comment that says what to write.") from None
    except Exception as error:
        sentence = f"It raised {type(error).__name__}: {error}"
        raise Mismatch(sentence, line_in(attempt or function, error)) from error


def compare_results(
    op: Op, inputs: tuple, results: tuple, size: int, rtol: float, mistakes: Sequence[tuple] = ()
) -> None:
    """Mismatch, unless the results are the specification's: count, shape, dtype, every element."""
    wants = as_tuple(op.reference(*inputs))
    if len(results) != len(wants):
        raise Mismatch(f"It returned {len(results)} results, where {len(wants)} are expected.",
                       "its return.")  # fmt: skip
    expected = zip(results, wants, op.outputs(*inputs), strict=True)
    for n, (got, want, (shape, dtype)) in enumerate(expected):
        place = f"{size}, result [{n}]" if len(wants) > 1 else f"{size}"
        got = check_form(got, shape, dtype, place)
        check_written(got, place)
        if op.error(got, want) <= rtol:
            continue
        for sentence, hint, mistaken in mistakes:  # a mistake rounds in its own way
            if op.error(results, mistaken(*inputs)) <= 10 * rtol:
                raise Mismatch(f"Wrong at size {size}: {sentence}", hint)
        raise Mismatch(*diagnose(inputs, got, want, place, rtol))


def check_form(got: Any, shape: tuple, dtype: Any, place: str) -> np.ndarray:
    """The result as an array; Mismatch where it has another shape or dtype."""
    if not isinstance(got, np.ndarray) and shape != ():
        raise Mismatch(f"It returned a {type(got).__name__}, not an array.", "its return.")
    got = np.asarray(got)
    if got.shape != shape:
        swapped = " Rows and columns are swapped." * (got.shape == shape[::-1])
        raise Mismatch(
            f"Wrong shape at size {place}: {got.shape}, where {shape} is expected.{swapped}",
            "what gives it its shape: how it is allocated, transposed or summed.",
        )
    if got.dtype != dtype:
        hint = "constants and new arrays: float64, unless given as in np.float32(1)."
        raise Mismatch(f"Wrong dtype: {got.dtype}, where {dtype} is expected.", hint)
    return got


# -- Hints, and small parts.

HINTS = {
    LaunchError: "the brackets: kernel[blocks, threads](…).",
    OutOfBounds: "the guard: every index must be less than its axis, as in i < x.shape[0].",
    PartialBarrier: "the branch around syncthreads(): every thread must reach it.",
    PartialWarp: "the branch around mma(): all 32 lanes of a warp must reach it.",
}


def hint_for_race(race: Race) -> str:
    first, second = race.first, race.second
    if (first.line, first.access) != (second.line, second.access):
        return "a barrier between the two, one writer, or an atomic."
    if first.block != second.block:
        return "its index: every block repeats these; cuda.grid(1) counts on from block to block."
    return "its index: each thread should write to elements of its own."


def line_in(function: Any, error: Exception) -> str:
    """The line of the attempt where an error arose, as far down as its own file goes."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{frame.lineno}: {frame.line}" for frame in frames if frame.filename == file]
    return f"line {own[-1]}." if own else "its parameters, and what it returns."


def require_function(function: Any) -> None:
    if not callable(function):
        raise Mismatch(f"{function!r} is not a function.", "what you passed: the name, uncalled.")


def backend_of(attempt: Any) -> Any:
    """A version's own backend; else gpu for functions that mention cuda or a kernel."""
    if isinstance(attempt, Version):
        return attempt.backend
    known = getattr(attempt, "__globals__", {})
    code = getattr(attempt, "__code__", None)
    return gpu if code and any(is_cuda(known.get(name)) for name in code.co_names) else host


def is_cuda(value: Any) -> bool:
    """The cuda module, or a kernel: something that `[grid, block]` can be said of."""
    name = getattr(value, "__name__", "")
    return name.endswith("cuda") or (hasattr(value, "py_func") and hasattr(value, "forall"))
