"""check(): run an attempt on inputs that can break it, and say in words what is wrong first.

A CUDA attempt is always run thread by thread in the microscope: it needs no GPU, and it sees what a
GPU keeps to itself (a GPU lets a thread write past the end and says nothing). Where there is a GPU,
an attempt that passes is run on it too.
"""

import dis
import inspect
import traceback
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from gpulessons import microscope
from gpulessons.backends import NotHere, gpu, host, is_array
from gpulessons.grader.diagnosis import Trouble, diagnose, refuse_unwritten
from gpulessons.operation import Op, Version, as_tuple, writes_out

OURS = str(Path(__file__).parent)


@dataclass(frozen=True, repr=False)
class Verdict:
    """What check() found: passed, or the first trouble and where to look."""

    subject: str
    passed: bool
    trouble: str = ""
    look: str = ""
    ran: str = ""  # what was tried, when it passed

    def __repr__(self):
        if self.passed:
            return f"✓ {self.subject}: right. {self.ran}"
        return f"✗ {self.subject}: not yet. {self.trouble}\n  Look at: {self.look}"

    def _repr_html_(self):
        head, _, look = repr(self).partition("\n")
        return f"<p><strong>{escape(head)}</strong><br>{escape(look.strip())}</p>"


def check(subject, attempt, *, on=None):
    """Is this attempt right? subject: an op or an exercise; attempt: a function (or a number).

    on: the backend whose arrays the attempt takes; known for exercises and registered versions,
    otherwise gpu when the attempt mentions cuda, and host when it does not. Returns a Verdict.
    """
    name = title(subject)
    try:
        if hasattr(subject, "stub"):
            refuse_borrowed(subject, attempt)
        if hasattr(subject, "judge"):
            if "def " in subject.stub:
                refuse_non_functions(attempt)
            return Verdict(name, True, ran=run(subject.judge, (attempt,), {}, attempt) or "")
        op = getattr(subject, "op", subject)
        if not isinstance(op, Op):
            raise TypeError(f"check() takes an op or an exercise first, not {subject!r}.")
        backend = on or getattr(subject, "on", None) or backend_of(op, attempt)
        ran = check_op(op, attempt, backend, getattr(subject, "inspect", None))
    except Trouble as trouble:
        return Verdict(name, False, trouble.sentence, trouble.look)
    return Verdict(name, True, ran=ran)


def check_op(op, attempt, backend, look_closer=None):
    """Try every size; returns what was tried in words, or raises Trouble."""
    registered = isinstance(attempt, Version)
    function, rtol = (attempt.function, attempt.rtol) if registered else (attempt, op.rtol)
    refuse_non_functions(function)
    refuse_bare_kernels(function)
    for size in op.awkward:
        inputs = op.inputs(size, seed=size)
        launches = try_once(op, function, inputs, backend, size, rtol)
        if look_closer:
            look_closer(launches)
    where = "thread by thread" if backend is gpu else f"on {backend.label}"
    if backend is gpu and not gpu.why_not():
        where += on_the_gpu(op, function, rtol)
    return f"Tried {where} at sizes {', '.join(map(str, op.awkward))}."


def on_the_gpu(op, function, rtol):
    """The same again for real; returns what was tried in words."""
    try:
        for size in op.awkward:
            compare_results(op, *call(op, function, op.inputs(size, seed=size), gpu), size, rtol)
    except NotHere as why:
        return f" (not on the GPU: {why})"
    return " and on the GPU"


def try_once(op, function, inputs, backend, size, rtol):
    """One problem, in the microscope when it is for a GPU. Returns the launches it traced."""
    if backend is not gpu:
        compare_results(op, *call(op, function, inputs, backend), size, rtol)
        return ()
    with microscope.tracing() as launches:
        outcome = call(op, function, inputs, backend)
    if not launches:
        raise Trouble(
            "It launched no kernel.", "kernel[blocks, threads](…): the brackets choose the grid."
        )
    refuse_races(launches)
    compare_results(op, *outcome, size, rtol, launches)
    return launches


def call(op, function, inputs, backend):
    """Run the attempt on copies of the inputs. Returns (inputs, results) as NumPy sees them."""
    placed = tuple(map(backend.put, inputs))
    options = {"out": op.poisoned(backend, *inputs)} if writes_out(function) else {}
    result = run(function, placed, options)
    for before, after in zip(inputs, placed, strict=True):
        if is_array(before) and not np.array_equal(backend.get(after), before):
            raise Trouble("It changed its input in place.", "which array it writes to.")
    result = options.get("out") if result is None else result
    if result is None:
        raise Trouble("It returned nothing.", "its last line: return the result.")
    if isinstance(result, list) and len(op.outputs(*inputs)) > 1:
        result = tuple(result)
    return inputs, tuple(map(backend.get, as_tuple(result)))


def run(function, arguments, options, attempt=None):
    """Call it; whatever it raises becomes Trouble, at a line of the attempt: its own by default."""
    try:
        return function(*arguments, **options)
    except (Trouble, NotHere):
        raise
    except (microscope.KernelFault, microscope.Unsupported) as fault:
        raise Trouble(f"{fault}", look_for(fault)) from fault
    except NotImplementedError:
        raise Trouble("The stub is as it was.", "the comment that says what to write.") from None
    except Exception as error:
        sentence = f"It raised {type(error).__name__}: {error}"
        raise Trouble(sentence, line_in(function if attempt is None else attempt, error)) from error


def compare_results(op, inputs, results, size, rtol, launches=()):
    """Trouble, unless the results are the specification's: count, shape, dtype, every element."""
    wants = as_tuple(op.reference(*inputs))
    if len(results) != len(wants):
        raise Trouble(f"It returned {len(results)} results; {len(wants)} are due.", "its return.")
    for got, want, (shape, dtype) in zip(results, wants, op.outputs(*inputs), strict=True):
        if not isinstance(got, np.ndarray) and shape != ():
            raise Trouble(f"It returned a {type(got).__name__}, not an array.", "its return.")
        got = np.asarray(got)
        if got.shape != shape:
            raise Trouble(f"Wrong shape at size {size}: {got.shape}, where {shape} is due.",
                          "what gives it its shape: how it is allocated, turned or summed.")
        if got.dtype != dtype:
            raise Trouble(f"Wrong dtype: {got.dtype}, where {dtype} is due.",
                          "constants and new arrays: float64, unless told as in np.float32(1).")
        refuse_unwritten(got, size)
        if not op.error(got, want) <= rtol:
            sentence, look = diagnose(inputs, got, want, size, rtol)
            raise Trouble(sentence, seen(launches) or look)


def seen(launches):
    """What the microscope saw and a GPU would not tell, where a value came from nowhere."""
    cautions = (caution for launch in launches for caution in launch.warnings)
    return next((f"{c}." for c in cautions if c.kind in ("uninitialized", "shuffle")), "")


# -- Refusals.


def refuse_races(launches):
    for launch in launches:
        for race in launch.races(limit=1):
            raise Trouble(f"A race: {race}", "a barrier between the two, one writer, or an atomic.")


def refuse_bare_kernels(function):
    if hasattr(function, "py_func") and is_cuda(function):  # a function of njit's can be called
        raise Trouble(
            "This is the kernel alone.",
            "its launcher: pass the function that allocates, launches and returns.",
        )


def refuse_non_functions(function):
    if not callable(function):
        raise Trouble(f"{function!r} is not a function.", "what you passed: the name, uncalled.")


def refuse_borrowed(subject, attempt):
    """Trouble where it is the course's own code, or calls an op, or what the exercise judges by."""
    for name, value in {"": attempt, **mentioned(attempt)}.items():
        whole = not name or isinstance(value, Op | Version)
        whole = whole or any(value is yardstick for yardstick in vars(subject).values())
        if whole and str(getattr(value, "__module__", "")).startswith("gpulessons"):
            raise Trouble(f"{name or 'This'} is the course's own.", "the stub: write yours.")


def look_for(error):
    return {
        "LaunchError": "the brackets: kernel[blocks, threads](…).",
        "OutOfBounds": "the guard: every index must be less than its axis, as in i < x.shape[0].",
        "PartialBarrier": "the branch around syncthreads(): every thread must reach it.",
        "PartialWarp": "the branch around mma(): all 32 lanes of a warp must reach it.",
    }.get(type(error).__name__, "the line it names.")


# -- Small parts.


def backend_of(op, attempt):
    """The backend of a registered version; else gpu for functions that mention cuda or a kernel."""
    if isinstance(attempt, Version):
        return attempt.backend
    for version in op.versions.values():
        if version.function is attempt:
            return version.backend
    return gpu if any(map(is_cuda, mentioned(attempt).values())) else host


def mentioned(function):
    """{name: value} of the globals that a function's own lines speak of; np.dot is np alone."""
    known = getattr(function, "__globals__", {})
    steps = dis.get_instructions(function) if inspect.isfunction(function) else ()
    names = (step.argval for step in steps if step.opname == "LOAD_GLOBAL")
    return {name: known[name] for name in names if name in known}


def is_cuda(value):
    """The cuda module, or a kernel: something that `[grid, block]` can be said of."""
    name = getattr(value, "__name__", "")
    return name.endswith("cuda") or (hasattr(value, "py_func") and hasattr(value, "forall"))


def title(subject):
    return getattr(subject, "name", None) or subject.__name__.rpartition(".")[2]


def line_in(function, error):
    """The line of the attempt where an error arose, as far down as its own file goes: not ours."""
    file = getattr(getattr(function, "__code__", None), "co_filename", OURS)
    frames = [] if file.startswith(OURS) else traceback.extract_tb(error.__traceback__)
    own = [f"{frame.lineno}: {frame.line}" for frame in frames if frame.filename == file]
    return f"line {own[-1]}." if own else "its parameters, and what it returns."
