"""What is wrong with a wrong answer, in words: the pattern of the wrong elements names the bug."""

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpulessons.backends import is_array


class Mismatch(Exception):
    """The first thing wrong with an attempt: a sentence, and a hint at where to look."""

    def __init__(self, sentence: str, hint: str):
        super().__init__(sentence)
        self.sentence, self.hint = sentence, hint


class NotTried(Mismatch):
    """Nothing was tried yet: the stub, or its answer, is as it was."""


class Wasteful(Mismatch):
    """A right answer that costs more than it has to: the sentence goes on after "Right, but"."""

    def __init__(self, sentence: str, hint: str):
        super().__init__(f"Right, but {sentence}", hint)


# -- What an answer is.


def number(answer: Any, hint: str) -> Any:
    """The answer to a question that asks for a number; Mismatch while it is none."""
    if answer is ...:
        raise NotTried("The answer is still '...'.", hint)
    if getattr(answer, "shape", None) == ():  # a lone number of NumPy's or PyTorch's
        answer = answer.item()
    if not isinstance(answer, numbers.Real) or not math.isfinite(answer):
        raise Mismatch(f"{answer!r} is not a number.", hint)
    return answer


def returned(result: Any) -> Any:
    """What an attempt returned; Mismatch where that is nothing."""
    if result is None:
        raise Mismatch("It returned nothing.", "its last line: return the result.")
    return result


def check_unchanged(before: Sequence, after: Sequence, what: str = "its input") -> None:
    """Mismatch where an attempt wrote to the arrays that it was given, or to their list."""
    if len(before) != len(after) or not all(map(np.array_equal, before, after)):
        raise Mismatch(f"It changed {what} in place.", "what it writes to.")


# -- What is wrong with an array.


def diagnose(
    inputs: Sequence, got: np.ndarray, want: np.ndarray, place: str, rtol: float
) -> tuple[str, str]:
    """(what is wrong, a hint), the most telling pattern first. place: the size; which result."""
    wrong = wrong_elements(got, want, rtol)
    where = np.flatnonzero(wrong)
    first, head = where[0], f"Wrong at size {place}"
    if np.isnan(got.ravel()[where]).any():
        return f"{head}: NaN at element {first}.", "0/0, inf − inf, or memory nobody wrote."
    if got.ndim == 2 and got.shape[0] == got.shape[1] and close(got.T, want, rtol):
        return f"{head}: rows and columns are swapped.", "the order of the two indices."
    flat, right = got.ravel(), want.ravel()
    for mine, theirs, which in ((flat[1:], right[:-1], "far"), (flat[:-1], right[1:], "early")):
        if want.size > 2 and close(mine, theirs, rtol):
            return (f"{head}: every element is one place too {which}.",
                    "the first index: it starts at 0.")  # fmt: skip
    if first and first % 32 == 0 and where.size == wrong.size - first:
        return (f"{head}: everything from element {first} on is wrong.",
                "the number of blocks: round up, or the last block is lost.")  # fmt: skip
    x = inputs[0]
    same_shape = is_array(x) and x.shape == want.shape
    if same_shape and (which := by_input(x.ravel()[where], x.ravel()[~wrong])):
        return f"{head}: right elsewhere, wrong {which}", "what happens to such values."
    return (
        f"{head}: {where.size} of {want.size} elements, first element {first}: "
        f"{flat[first]:.6g}, where {right[first]:.6g} is expected.",
        "that element, by hand.",
    )


def by_input(wrong: np.ndarray, right: np.ndarray) -> str:
    """When the inputs that go wrong differ from the others by their value alone."""
    if right.size < wrong.size / 20:  # a few that happen to be right tell nothing
        return ""
    for sign, name in ((-1, "negative"), (1, "positive")):
        if (sign * wrong > 0).all() and not (sign * right > 0).any():
            return f"for every {name} input."
    if np.abs(wrong).min() > np.abs(right).max():
        return f"for large inputs: from |x| = {np.abs(wrong).min():.4g} on."
    return ""


def check_written(got: np.ndarray, place: str) -> None:
    """Mismatch where elements still hold the poison: they were written by nobody.

    Integers may rightly be −1: only floats are judged.
    """
    if not np.issubdtype(got.dtype, np.floating):
        return
    raw = np.ascontiguousarray(got).view(np.uint8).reshape(got.size, -1)
    where = np.flatnonzero((raw == 0xFF).all(axis=1))
    if not where.size:
        return
    found = "out was never written, or only added to."
    if where.size < got.size:
        first, last = (np.unravel_index(each, got.shape) for each in (where[0], where[-1]))
        found = (f"{where.size} of the {got.size} elements of out were never written, or only "
                 f"added to; the first is {element(first)}, the last {element(last)}.")
    raise Mismatch(f"At size {place}, {found}",
                   "which threads exist, and which elements they take.")  # fmt: skip


def element(index: Sequence) -> str:
    """"element 7", or "element 3, 0" of an array with several axes."""
    return f"element {', '.join(map(str, index))}"


# -- Small parts.


def wrong_elements(got: np.ndarray, want: np.ndarray, rtol: float) -> np.ndarray:
    """Which elements are, counted through all axes."""
    with np.errstate(invalid="ignore"):
        fine = np.abs(got - want) <= rtol * np.maximum(1, np.abs(want))
    return ~(fine | (got == want)).ravel()


def close(got: np.ndarray, want: np.ndarray, rtol: float) -> bool:
    return not wrong_elements(got, want, rtol).any()
