"""Exercises whose answer is a plain function: all cases right, or what explains the others."""

import inspect
import math
import numbers
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from .check import run
from .diagnosis import Mismatch

LONG = 70  # characters of a value that a sentence still shows


def check_answers(
    attempt: Callable, expected: Callable, cases: Sequence[tuple], hint: str,
    mistakes: Sequence[tuple] = (), near: float = 1e-5,
) -> None:  # fmt: skip
    """Mismatch unless attempt(*case) is expected(*case), in every case.

    mistakes: (sentence, hint, function): named where the function gives all the wrong answers.
    """
    answers, wants = (answers_of(function, cases) for function in (attempt, expected))
    if alike(answers, wants, near):
        return
    for sentence, where, mistaken in mistakes:
        both = zip(answers, answers_of(mistaken, cases), wants, strict=True)
        if all(alike(a, m, near) or alike(a, w, near) for a, m, w in both):
            raise Mismatch(sentence, where)
    n = next(n for n, want in enumerate(wants) if not alike(answers[n], want, near))
    named = zip(inspect.signature(expected).parameters, cases[n], strict=False)
    given = ", ".join(f"{name} = {brief(plain(value))}" for name, value in named)
    raise Mismatch(f"For {given}: {first_wrong(answers[n], wants[n])}", hint)


def answers_of(function: Callable, cases: Sequence[tuple]) -> list:
    """What it says to a copy of each case."""
    with np.errstate(all="ignore"):
        return [plain(run(function, deepcopy(case), {})) for case in cases]


def alike(answer: Any, want: Any, near: float = 1e-5) -> bool:
    """The same, or close: float32 will do, and infinity may stand for None."""
    if isinstance(want, list):
        as_many = isinstance(answer, list) and len(answer) == len(want)
        return as_many and all(alike(a, w, near) for a, w in zip(answer, want, strict=True))
    if isinstance(want, float) and isinstance(answer, numbers.Real):
        return bool(np.isclose(float(answer), want, rtol=near, atol=1e-6, equal_nan=True))
    return bool(answer is None or answer == math.inf if want is None else answer == want)


def plain(answer: Any) -> Any:
    """NumPy's numbers, PyTorch's, and lists of whatever has several, as Python's own."""
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    several = isinstance(answer, list | tuple | range | Iterator)
    return [plain(each) for each in answer] if several else answer


def first_wrong(answer: Any, want: Any, place: str = "it") -> str:
    """What an answer was, and what is expected; of a long one, its first part that is wrong."""
    lists = isinstance(want, list) and isinstance(answer, list) and len(answer) == len(want)
    if lists and len(brief(want)) == LONG:
        n = next(n for n in range(len(want)) if not alike(answer[n], want[n]))
        return first_wrong(answer[n], want[n], f"{place}[{n}]")
    return f"{place} was {brief(answer)}, where {brief(want)} is expected."


def brief(value: Any) -> str:
    """A name, or the value with seven digits, cut where it is long."""
    if isinstance(value, float):
        return f"{value:.7g}"
    text = getattr(value, "name", getattr(value, "__name__", repr(value)))
    if isinstance(value, list):
        text = f"[{', '.join(map(brief, value))}]"
    return text if len(text) < LONG else f"{text[: LONG - 1]}…"
