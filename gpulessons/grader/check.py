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
from html import escape
from types import ModuleType
from typing import Any

import numpy as np

import warplens
from gpulessons.backends import NotHere, gpu, host, is_array
from gpulessons.operation import Op, Version, as_tuple, writes_out
from warplens import Race, Trace

from . import SAVED
from .diagnosis import (
    Trouble,
    Untouched,
    diagnose,
    refuse_changes,
    refuse_uncomputed,
    refuse_unwritten,
    remark_doubles,
    returned,
)
from .ownership import (
    PACKAGE,
    behind,
    is_untouched,
    mentioned,
    refuse_borrowed,
    refuse_borrowed_kernels,
    refuse_called,
    watched,
)


@dataclass(frozen=True, eq=False, repr=False)
class Exercise:
    """A task of a notebook: where a learner starts, where they may arrive, and what judges them.

    Either the attempt computes `op` on the backend `on`, and inspect(launches), where there is one,
    raises Trouble about how a right kernel did it, or returns a remark; or judge(attempt) does it
    all: it raises Trouble, or returns a word of praise.
    """

    module: str  # __name__ of its file
    stub: str
    solution: str
    on: Any = None  # a backend
    op: Any = None  # an Op
    inspect: Callable[[Sequence[Trace]], str | None] | None = None
    judge: Callable[[Any], str | None] | None = None
    mistakes: tuple = ()  # (sentence, hint, *what attempts compute that make this mistake)
    forbidden: tuple = ()  # what it judges by, beside ops: no attempt may call that
    hints: tuple = ()  # a nudge, often the name of a picture in illustrations/puzzles.py, a line

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

    def __repr__(self) -> str:
        return f"{self.name}: {self.task}"


STUB = "The stub is as it was."


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
            ran = check_op(subject, attempt, on or backend_of(subject, attempt))
    except Trouble as trouble:
        untouched = isinstance(trouble, Untouched)
        return Verdict(subject.name, False, trouble.sentence, trouble.hint, untouched=untouched)
    return Verdict(subject.name, True, ran=ran)


def check_exercise(exercise: Exercise, attempt: Any) -> str:
    """What was tried, in words; Trouble, which says so first where the stub is as it was."""
    own = behind(attempt)
    for each in (attempt, own):
        refuse_borrowed(each, exercise.forbidden)
    on_gpu = "@cuda.jit" in exercise.stub  # there launches tell whose kernels they are
    judges = (exercise.lesson, exercise.forbidden)
    called: list[str] = []
    try:
        with nullcontext() if on_gpu else watched(own, *judges, called):
            said = judged(exercise, attempt)
    except Trouble as trouble:
        refuse_called(called)
        refuse_untouched(exercise, attempt, trouble)
        raise
    refuse_called(called)
    return said


def judged(exercise: Exercise, attempt: Any) -> str:
    if exercise.judge is None:
        return check_op(exercise.op, attempt, exercise.on, exercise.inspect, exercise.mistakes)
    if "def " in exercise.stub:
        refuse_non_functions(attempt)
    return run(exercise.judge, (attempt,), {}, attempt) or ""


def check_op(
    op: Op,
    attempt: Any,
    backend: Any,
    inspect_launches: Callable | None = None,
    mistakes: Sequence[tuple] = (),
) -> str:
    """Try every size; returns what was tried in words, or raises Trouble."""
    version = isinstance(attempt, Version)
    function, rtol = (attempt.function, attempt.rtol) if version else (attempt, op.rtol)
    refuse_non_functions(function)
    refuse_bare_kernels(function)
    remark = doubles = ""
    with backend.computing(attempt.arithmetic if version else ""):
        for size in op.edge_cases:
            launches = try_once(op, function, backend, size, rtol, mistakes)
            if inspect_launches:
                remark = inspect_launches(launches) or remark
            doubles = remark_doubles(launches) or doubles
    tried = "thread by thread" if backend is gpu else f"on {backend.label}"
    if backend is gpu and not gpu.why_not():
        tried += on_the_gpu(op, function, rtol)
    said = f"Tried {tried} at sizes {', '.join(map(str, op.edge_cases))}."
    return " ".join(filter(None, (said, remark, doubles)))


def on_the_gpu(op: Op, function: Callable, rtol: float) -> str:
    """The same again for real; returns what was tried in words."""
    try:
        for size in op.edge_cases:
            inputs = op.inputs(size, seed=size)
            compare_results(op, inputs, call(op, function, inputs, gpu), size, rtol)
    except NotHere as why:
        return f" (not on the GPU: {why})"
    return " and on the GPU"


def try_once(
    op: Op, function: Callable, backend: Any, size: int, rtol: float, mistakes: Sequence[tuple]
) -> Sequence[Trace]:
    """One problem, in the microscope when it is for a GPU. Returns the launches it traced."""
    inputs = op.inputs(size, seed=size)
    if backend is not gpu:
        results, launches = call(op, function, inputs, backend), []
    else:
        with warplens.tracing() as launches:
            results = call(op, function, inputs, backend)
        if not launches:
            hint = "kernel[blocks, threads](…): the brackets choose the grid."
            raise Trouble("It launched no kernel.", hint)
        refuse_races(launches)
    compare_results(op, inputs, results, size, rtol, launches, mistakes)
    if launches and not registered(op, function):
        refuse_results_of_the_host(launches, results)
    return launches


def call(op: Op, function: Callable, inputs: tuple, backend: Any) -> tuple:
    """Run the attempt on copies of the inputs. Returns its results, as NumPy sees them."""
    placed = tuple(map(backend.put, inputs))
    options = {"out": op.poisoned(backend, *inputs)} if writes_out(function) else {}
    result = run(function, placed, options)
    refuse_changes(inputs, tuple(map(backend.get, placed)))
    result = returned(options.get("out") if result is None else result)
    if isinstance(result, list) and len(op.outputs(*inputs)) > 1:
        result = tuple(result)
    return tuple(map(backend.get, as_tuple(result)))


def run(function: Callable, arguments: tuple, options: dict, attempt: Any = None) -> Any:
    """Call it; whatever it raises becomes Trouble, at a line of the attempt: its own by default."""
    try:
        return function(*arguments, **options)
    except (Trouble, NotHere):
        raise
    except (warplens.KernelFault, warplens.Unsupported) as fault:
        raise Trouble(f"{fault}", hint_for(fault, options)) from fault
    except NotImplementedError:
        raise Untouched(STUB, "the comment that says what to write.") from None
    except Exception as error:
        sentence = f"It raised {type(error).__name__}: {error}"
        hint = line_in(function if attempt is None else attempt, error)
        raise Trouble(sentence, hint_for(error, options, hint)) from error


def compare_results(
    op: Op,
    inputs: tuple,
    results: tuple,
    size: int,
    rtol: float,
    launches: Sequence[Trace] = (),
    mistakes: Sequence[tuple] = (),
) -> None:
    """Trouble, unless the results are the specification's: count, shape, dtype, every element."""
    wants = as_tuple(op.reference(*inputs))
    if len(results) != len(wants):
        raise Trouble(f"It returned {len(results)} results; {len(wants)} are due.", "its return.")
    due = zip(results, wants, op.outputs(*inputs), strict=True)
    for n, (got, want, (shape, dtype)) in enumerate(due):
        place = f"{size}, result [{n}]" if len(wants) > 1 else f"{size}"
        if not isinstance(got, np.ndarray) and shape != ():
            raise Trouble(f"It returned a {type(got).__name__}, not an array.", "its return.")
        got = np.asarray(got)
        if got.ndim == 2 and got.shape == shape[::-1] != shape and op.error(got.T, want) <= rtol:
            raise Trouble(f"Wrong shape at size {place}: {got.shape}, where {shape} is due. Rows "
                          "and columns are swapped.", "which factor is transposed.")  # fmt: skip
        if got.shape != shape:
            raise Trouble(f"Wrong shape at size {place}: {got.shape}, where {shape} is due.",
                          "what gives it its shape: how it is allocated, transposed or summed.")
        if got.dtype != dtype:
            raise Trouble(f"Wrong dtype: {got.dtype}, where {dtype} is due.",
                          "constants and new arrays: float64, unless told as in np.float32(1).")
        refuse_unwritten(got, place)
        if not op.error(got, want) <= rtol:
            refuse_known(op, inputs, results, size, rtol, mistakes)
            sentence, hint = diagnose(inputs, got, want, place, rtol)
            raise Trouble(sentence, caution_of(launches) or hint)


def caution_of(launches: Sequence[Trace]) -> str:
    """What the microscope saw and a GPU would not tell, where a value came from nowhere."""
    cautions = (caution for launch in launches for caution in launch.warnings)
    return next((f"{c}." for c in cautions if c.kind in ("uninitialized", "shuffle")), "")


# -- Refusals.


def refuse_results_of_the_host(launches: Sequence[Trace], results: tuple) -> None:
    """Trouble where a kernel ran, and NumPy did its work, or a kernel of the course."""
    refuse_borrowed_kernels(launches)
    given = (a for launch in launches if launch.launch for argument in launch.launch.arguments
             for a in as_tuple(argument) if is_array(a))  # fmt: skip
    accesses = (launch.coalescing(access=how) for launch in launches for how in ("write", "atomic"))
    written = sum(report.total("accesses") for report in accesses)
    refuse_uncomputed(results, list(map(gpu.get, given)), written)


def refuse_known(
    op: Op, inputs: tuple, results: tuple, size: int, rtol: float, mistakes: Sequence[tuple]
) -> None:
    """Trouble by name where a mistake gives just these results."""
    for sentence, hint, *ways in mistakes:
        errors = (op.error(results, mistaken(*inputs)) for mistaken in ways)
        if any(error <= 10 * rtol for error in errors):  # a mistake rounds in its own way
            raise Trouble(f"Wrong at size {size}: {sentence}", hint)


def refuse_races(launches: Sequence[Trace]) -> None:
    for launch in launches:
        for race in launch.races(limit=1):
            raise Trouble(f"A race: {race}", hint_for_race(race))


def hint_for_race(race: Race) -> str:
    first, second = race.first, race.second
    if (first.line, first.access) != (second.line, second.access):
        return "a barrier between the two, one writer, or an atomic."
    if first.block != second.block:
        return "its index: every block repeats these; cuda.grid(1) counts on from block to block."
    return "its index: each thread should write to elements of its own."


def refuse_bare_kernels(function: Callable) -> None:
    if hasattr(function, "py_func") and is_cuda(function):  # a function of njit's can be called
        raise Trouble(
            "This is the kernel alone.",
            "its launcher: pass the function that allocates, launches and returns.",
        )


def refuse_non_functions(function: Any) -> None:
    if not callable(function):
        raise Trouble(f"{function!r} is not a function.", "what you passed: the name, uncalled.")


def refuse_untouched(exercise: Exercise, attempt: Any, trouble: Trouble) -> None:
    """Trouble that begins with it where the stub is as it was."""
    if is_untouched(exercise.stub, attempt) and trouble.sentence != STUB:
        told = re.search(r"Your turn[.:] \w", exercise.stub)
        asked = told and not trouble.sentence.startswith("Right")
        hint = 'what it says at "Your turn".' if asked else trouble.hint
        raise Untouched(f"{STUB} {trouble.sentence}", hint) from trouble


def hint_for(fault: Exception, options: dict, otherwise: str = "the line it names.") -> str:
    outs = options.get("out")
    if isinstance(outs, tuple) and "tuple" in str(fault):
        return f"out, which is {len(outs)} arrays: write to out[0], out[1] … each by its own index."
    return {
        "LaunchError": "the brackets: kernel[blocks, threads](…).",
        "OutOfBounds": "the guard: every index must be less than its axis, as in i < x.shape[0].",
        "PartialBarrier": "the branch around syncthreads(): every thread must reach it.",
        "PartialWarp": "the branch around mma(): all 32 lanes of a warp must reach it.",
    }.get(type(fault).__name__, otherwise)


# -- Small parts.


def registered(op: Op, function: Callable) -> bool:
    return any(version.function is function for version in op.versions.values())


def backend_of(op: Op, attempt: Any) -> Any:
    """The backend of a registered version; else gpu for functions that mention cuda or a kernel."""
    if isinstance(attempt, Version):
        return attempt.backend
    for version in op.versions.values():
        if version.function is attempt:
            return version.backend
    return gpu if any(map(is_cuda, mentioned(attempt).values())) else host


def is_cuda(value: Any) -> bool:
    """The cuda module, or a kernel: something that `[grid, block]` can be said of."""
    name = getattr(value, "__name__", "")
    return name.endswith("cuda") or (hasattr(value, "py_func") and hasattr(value, "forall"))


def line_in(function: Any, error: Exception) -> str:
    """The line of the attempt where an error arose, as far down as its own file goes: not ours."""
    file = getattr(getattr(function, "__code__", None), "co_filename", PACKAGE)
    frames = [] if file.startswith(PACKAGE) else traceback.extract_tb(error.__traceback__)
    own = [f"{frame.lineno}: {frame.line}" for frame in frames if frame.filename == file]
    return f"line {own[-1]}." if own else "its parameters, and what it returns."
