"""What is wrong with a wrong answer, in words: the pattern of the wrong elements names the bug."""

import math
import numbers
import sys

import numpy as np

from gpulessons.backends import is_array


class Trouble(Exception):
    """The first thing wrong with an attempt: a sentence, and where to look."""

    def __init__(self, sentence, look):
        super().__init__(sentence)
        self.sentence, self.look = sentence, look


def number(answer, look):
    """The answer to a question that asks for a number; Trouble while it is none."""
    if answer is ...:
        raise Trouble("The answer is still '...'.", look)
    if getattr(answer, "shape", None) == ():  # a lone number of NumPy's or PyTorch's
        answer = answer.item()
    if not isinstance(answer, numbers.Real) or not math.isfinite(answer):
        raise Trouble(f"{answer!r} is not a number.", look)
    return answer


def steps(function, *arguments):
    """How many steps of Python a call takes, those of what it calls included: a loop shows."""
    events = []

    def watch(frame, event, value):
        events.append(event)
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return len(events)


def refuse_scattered(launches, look):
    """Trouble where requests touch more than the four sectors that 32 float32 neighbors fill."""
    for launch in launches:
        for site in launch.coalescing().sites:
            if site.sectors > 4 * site.requests:
                raise Trouble(
                    f"Right, but each {site.access} of {site.array} touches "
                    f"{site.sectors / site.requests:.0f} sectors, where 4 would do.",
                    look,
                )


def refuse_idle(launches):
    """Trouble where the right result is no work of the kernels."""
    if not any(launch.flops for launch in launches):
        raise Trouble("Right, but no kernel computed it.", "what your threads do with the inputs.")


def refuse_unshared(launches):
    """Trouble where nothing passes through shared memory."""
    if not any(launch.banks().requests for launch in launches):
        raise Trouble("Right, but without shared memory.", "cuda.shared.array: who fills it?")


def diagnose(inputs, got, want, size, rtol):
    """(what is wrong, where to look), the most telling pattern first."""
    wrong = wrong_elements(got, want, rtol)
    where = np.flatnonzero(wrong.ravel())
    head = f"Wrong at size {size}"
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


def by_input(wrong, right):
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


def refuse_unwritten(got, size):
    """Memory that still holds the poison was written by nobody."""
    untouched = np.flatnonzero(is_poison(got))
    if untouched.size:
        raise Trouble(
            f"At size {size}, {untouched.size} of {got.size} elements were never written, or only "
            f"added to; the first is element {untouched[0]}, the last {untouched[-1]}.",
            "which threads exist, and which elements they take.",
        )


# -- Small parts.


def is_poison(array):
    """Which elements are 0xFF in every byte. Integers may rightly be −1: only floats are judged."""
    if not np.issubdtype(array.dtype, np.floating):
        return np.zeros(array.size, bool)
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(array.size, -1)
    return (raw == 0xFF).all(axis=1)


def wrong_elements(got, want, rtol):
    with np.errstate(invalid="ignore"):
        fine = np.abs(got - want) <= rtol * np.maximum(1, np.abs(want))
    return ~(fine | (got == want))


def close(got, want, rtol):
    return not wrong_elements(got, want, rtol).any()


def same_but_ordered(got, want, rtol):
    return close(got[np.lexsort(got.T)], want[np.lexsort(want.T)], rtol)
