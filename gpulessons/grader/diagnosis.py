"""What is wrong with a wrong answer, in words: the pattern of the wrong elements names the bug."""

import math
import numbers
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpulessons.backends import is_array
from warplens import Trace


class Trouble(Exception):
    """The first thing wrong with an attempt: a sentence, and a hint at where to look."""

    def __init__(self, sentence: str, hint: str):
        super().__init__(sentence)
        self.sentence, self.hint = sentence, hint


class Untouched(Trouble):
    """Nothing was tried yet: the stub, or its answer, is as it was."""


# -- What an answer is.


def number(answer: Any, hint: str) -> Any:
    """The answer to a question that asks for a number; Trouble while it is none."""
    if answer is ...:
        raise Untouched("The answer is still '...'.", hint)
    if getattr(answer, "shape", None) == ():  # a lone number of NumPy's or PyTorch's
        answer = answer.item()
    if not isinstance(answer, numbers.Real) or not math.isfinite(answer):
        raise Trouble(f"{answer!r} is not a number.", hint)
    return answer


def returned(result: Any) -> Any:
    """What an attempt returned; Trouble where that is nothing."""
    if result is None:
        raise Trouble("It returned nothing.", "its last line: return the result.")
    return result


def refuse_changes(before: Sequence, after: Sequence, what: str = "its input") -> None:
    """Trouble where an attempt wrote to the arrays that it was given, or to their list."""
    if len(before) != len(after) or not all(map(np.array_equal, before, after)):
        raise Trouble(f"It changed {what} in place.", "what it writes to.")


# -- How it was found: right is not enough.


def steps_of(function: Callable, *arguments: Any) -> int:
    """How many steps of Python a call takes, those of what it calls included: a loop shows."""
    events = 0

    def watch(frame, event, value):
        nonlocal events
        events += 1
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return events


def refuse_loop(few: int, many: int, sizes: str, hint: str) -> None:
    """Trouble where a larger problem takes more steps of Python; a library's own may differ."""
    if many > few + 10:
        raise Trouble(
            f"Right, but {few:,} and {many:,} steps of Python for {sizes}: one after the other.",
            hint,
        )


def refuse_scattered(
    launches: Sequence[Trace], hint: str, access: str | None = None, most: float = 4
) -> None:
    """Trouble where requests touch more than the four sectors that 32 float32 neighbors fill."""
    for launch in launches:
        for site in launch.coalescing(access=access).sites:
            if site.sectors > most * site.requests:
                raise Trouble(
                    f"Right, but each {site.access} of {site.array} touches "
                    f"{site.sectors / site.requests:.3g} sectors, where at most {most:g} would do.",
                    hint,
                )


def refuse_conflicts(launches: Sequence[Trace], hint: str) -> None:
    """Trouble where lanes of a warp want different words of one bank."""
    worst = max(launch.banks().worst for launch in launches)
    if worst > 1:
        raise Trouble(
            f"Right, but with bank conflicts, up to {worst}-way: a warp waits {worst} times for "
            "one bank of shared memory.",
            hint,
        )


def remark_conflicts(launches: Sequence[Trace]) -> str:
    """The same in a sentence, for those who were not asked to mind it."""
    banks = max((launch.banks() for launch in launches), key=lambda banks: banks.worst)
    if banks.worst <= 1:
        return ""
    return (
        f"Its shared memory has bank conflicts, up to {banks.worst}-way: {banks.requests:,} "
        f"requests wait {banks.conflicts:,} turns more than they need."
    )


def remark_doubles(launches: Sequence[Trace]) -> str:
    """A sentence where a kernel computes in float64 though no array is."""
    cautions = (caution for launch in launches for caution in launch.warnings)
    lines = sorted({c.line for c in cautions if c.kind == "double precision"})
    if not lines:
        return ""
    return (
        f"It computes in float64 (line {', '.join(map(str, lines))}), which most GPUs do more "
        "slowly: an int or a Python float does that; np.float32(…) keeps it single."
    )


def refuse_repeated_loads(launches: Sequence[Trace]) -> None:
    """Trouble where a product's inner loop reads global memory: a tile serves all its threads."""
    reads = sum(launch.coalescing(access="read").total("accesses") for launch in launches)
    products = sum(launch.flops for launch in launches) / 2
    if products > 1 and reads > products / 2:  # a single one has nobody to share with
        raise Trouble(
            f"Right, but {reads / products:.3g} loads for each multiplication, where 1/8 would do.",
            "what the inner loop reads: two numbers in shared memory, the total in a register.",
        )
    refuse_unshared(launches)


def accesses_of_the_busiest_thread(launch: Trace) -> int:
    """How often the thread that does so most reads or writes, of global or of shared memory."""
    threads = [
        1024 * entry.moment.blocks[entry.lanes // 32] + 32 * entry.moment.warp + entry.lanes % 32
        for entries in (launch.launch.log.sites.values() if launch.launch else ())
        for entry in entries
    ]  # fmt: skip
    return int(np.bincount(np.concatenate(threads)).max())


def refuse_sharing_threads(launches: Sequence[Trace]) -> None:
    """Trouble where a thread does the work of several, or a warp that of one."""
    for launch in launches:
        sites = launch.coalescing(access="write").sites
        written = max((site.accesses for site in sites), default=0)
        if written > launch.threads:
            few = "1 thread writes" if launch.threads == 1 else f"{launch.threads:,} threads write"
            raise Trouble(f"Right, but {few} {written:,} numbers; here each thread has its own.",
                          "the loop, and the brackets: how many threads there are.")  # fmt: skip
        block = launch.threads // launch.blocks
        if block < 32 and launch.blocks > 1:
            raise Trouble(f"Right, but in blocks of {block}: {32 - block} of a warp's 32 lanes do "
                          "nothing.", "the brackets: kernel[blocks, threads].")  # fmt: skip


def refuse_idle(launches: Sequence[Trace]) -> None:
    """Trouble where the right result is no work of the kernels."""
    if not any(launch.flops for launch in launches):
        raise Trouble("Right, but no kernel computed it.", "what your threads do with the inputs.")


def refuse_idle_or_sharing(launches: Sequence[Trace]) -> None:
    """Trouble unless kernels computed it, a thread each."""
    refuse_idle(launches)
    refuse_sharing_threads(launches)


def refuse_uncomputed(results: Sequence, kept: Sequence[np.ndarray], written: int) -> None:
    """Trouble where the host made the results. kept: what kernels' arrays hold; written: how many
    numbers kernels wrote."""
    due = sum(np.size(result) for result in results)
    if written < due:
        raise Trouble(f"Right, but no kernel computed it: {written:,} of {due:,} were written.",
                      "what the launcher returns: what the kernel wrote.")  # fmt: skip
    for result in results:
        if not any(np.isin(result, array).all() for array in kept):
            raise Trouble("Right, but no kernel computed it: no array of theirs holds it.",
                          "what the launcher returns: what the kernel wrote.")  # fmt: skip


def refuse_unshared(launches: Sequence[Trace]) -> None:
    """Trouble where nothing passes through shared memory."""
    if not any(launch.banks().requests for launch in launches):
        raise Trouble("Right, but without shared memory.", "cuda.shared.array: who fills it?")


# -- What is wrong with it.


def diagnose(
    inputs: Sequence, got: np.ndarray, want: np.ndarray, place: str, rtol: float
) -> tuple[str, str]:
    """(what is wrong, a hint), the most telling pattern first. place: the size; which result."""
    wrong = wrong_elements(got, want, rtol)
    where = np.flatnonzero(wrong.ravel())
    head = f"Wrong at size {place}"
    if np.isnan(got.ravel()[where]).any():
        return f"{head}: NaN at element {where[0]}.", "0/0, inf − inf, or memory nobody wrote."
    if got.ndim == 2 and got.shape[0] > 1 and same_but_ordered(got, want, rtol):
        return f"{head}: the rows are right but in the wrong order.", "which index is the row."
    if got.ndim == 2 and got.shape[0] == got.shape[1] and close(got.T, want, rtol):
        return f"{head}: rows and columns are swapped.", "the order of the two indices."
    if want.size > 2 and close(got.ravel()[1:], want.ravel()[:-1], rtol):
        return f"{head}: every element is one place too far.", "the first index: it starts at 0."
    if want.size > 2 and close(got.ravel()[:-1], want.ravel()[1:], rtol):
        return f"{head}: every element is one place too early.", "the first index: it starts at 0."
    if where[0] and where[0] % 32 == 0 and where.size == wrong.size - where[0]:
        return (f"{head}: everything from element {where[0]} on is wrong.",
                "the number of blocks: round up, or the last block is lost.")  # fmt: skip
    x = inputs[0]
    same_shape = is_array(x) and x.shape == want.shape
    if same_shape and (which := by_input(x.ravel()[where], x.ravel()[~wrong.ravel()])):
        return f"{head}: right elsewhere, wrong {which}", "what happens to such values."
    i = where[0]
    return (
        f"{head}: {where.size} of {want.size} elements, first element {i}: "
        f"{got.ravel()[i]:.6g}, where {want.ravel()[i]:.6g} is due.",
        "that element, by hand.",
    )


def by_input(wrong: np.ndarray, right: np.ndarray) -> str:
    """When the inputs that go wrong are told apart from the others by their value alone."""
    if right.size < wrong.size / 20:  # a few that happen to be right tell nothing
        return ""
    if (wrong < 0).all() and not (right < 0).any():
        return "for every negative input."
    if (wrong > 0).all() and not (right > 0).any():
        return "for every positive input."
    if np.abs(wrong).min() > np.abs(right).max():
        return f"for large inputs: from |x| = {np.abs(wrong).min():.4g} on."
    return ""


def refuse_unwritten(got: np.ndarray, place: str) -> None:
    """Memory that still holds the poison was written by nobody."""
    untouched = np.flatnonzero(is_poison(got))
    if missing := unwritten_lines(untouched, got.shape):
        were = "were" if " to " in missing else "was"
        shape = " × ".join(map(str, got.shape))
        raise Trouble(
            f"At size {place}, {missing} of out ({shape}) {were} never written.",
            "which threads take them, and how many blocks the grid has in that direction. "
            "cuda.grid(2) gives x first.",
        )
    if untouched.size:
        which = "which threads exist, and which elements they take."
        if untouched.size == got.size:
            raise Trouble(f"At size {place}, out was never written, or only added to.", which)
        raise Trouble(
            f"At size {place}, {untouched.size} of the {got.size} elements of out were never "
            f"written, or only added to; the first is element {untouched[0]}, the last "
            f"{untouched[-1]}.",
            which,
        )


def unwritten_lines(untouched: np.ndarray, shape: tuple) -> str:
    """"columns 8 to 36" where they are missing in every row, or rows in every column; else ""."""
    if len(shape) != 2 or untouched.size == np.prod(shape):
        return ""
    rows, columns = (np.unique(index) for index in np.unravel_index(untouched, shape))
    if rows.size * columns.size != untouched.size:
        return ""
    if columns.size == shape[1]:
        return together("row", rows)
    return together("column", columns) if rows.size == shape[0] else ""


def together(noun: str, lines: np.ndarray) -> str:
    """"rows 4 to 9", "row 4"; "" where some between the first and the last are not among them."""
    first, last = lines[0], lines[-1]
    if first == last:
        return f"{noun} {first}"
    return f"{noun}s {first} to {last}" if last - first + 1 == lines.size else ""


# -- Small parts.


def is_poison(array: np.ndarray) -> np.ndarray:
    """Which elements are 0xFF in every byte. Integers may rightly be −1: only floats are judged."""
    if not np.issubdtype(array.dtype, np.floating):
        return np.zeros(array.size, bool)
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(array.size, -1)
    return (raw == 0xFF).all(axis=1)


def wrong_elements(got: np.ndarray, want: np.ndarray, rtol: float) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        fine = np.abs(got - want) <= rtol * np.maximum(1, np.abs(want))
    return ~(fine | (got == want))


def close(got: np.ndarray, want: np.ndarray, rtol: float) -> bool:
    return not wrong_elements(got, want, rtol).any()


def same_but_ordered(got: np.ndarray, want: np.ndarray, rtol: float) -> bool:
    return close(got[np.lexsort(got.T)], want[np.lexsort(want.T)], rtol)
