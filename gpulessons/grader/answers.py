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
    mistakes: Sequence[tuple] = (),
) -> None:  # fmt: skip
    """Mismatch unless attempt(*case) is expected(*case), in every case.

    mistakes: (sentence, hint, function): named where the function gives all the wrong answers.
    """
    answers, wants = (answers_of(function, cases) for function in (attempt, expected))
    if all(map(alike, answers, wants)):
        return
    for sentence, where, mistaken in mistakes:
        made = answers_of(mistaken, cases)
        if all(alike(a, m) or alike(a, w) for a, m, w in zip(answers, made, wants, strict=True)):
            raise Mismatch(sentence, where)
    n = next(n for n, want in enumerate(wants) if not alike(answers[n], want))
    names = inspect.signature(expected).parameters
    named = zip(names, map(name_of, cases[n]), strict=False)
    given = ", ".join(f"{name} = {value}" for name, value in named)
    place, answer, want = first_wrong(answers[n], wants[n])
    raise Mismatch(f"For {given}: {place} was {answer}, where {want} is expected.", hint)


def answers_of(function: Callable, cases: Sequence[tuple]) -> list:
    """What it says to a copy of each case."""
    with np.errstate(all="ignore"):
        return [plain(run(function, deepcopy(case), {})) for case in cases]


def alike(answer: Any, want: Any) -> bool:
    """The same, or close: float32 will do; infinity may stand for None, a list for a tuple."""
    if isinstance(want, list | tuple):
        several = isinstance(answer, list | tuple) and len(answer) == len(want)
        return several and all(map(alike, answer, want))
    if isinstance(want, float) and isinstance(answer, numbers.Real):
        both_nan = math.isnan(answer) and math.isnan(want)
        return both_nan or math.isclose(answer, want, rel_tol=1e-5, abs_tol=1e-6)
    return bool(answer is None or answer == math.inf if want is None else answer == want)


def plain(answer: Any) -> Any:
    """NumPy's numbers and arrays, PyTorch's, and what only iterates, as Python's own."""
    if hasattr(answer, "tolist"):
        return answer.tolist()
    if isinstance(answer, list | range | Iterator):
        return [plain(each) for each in answer]
    return tuple(map(plain, answer)) if isinstance(answer, tuple) else answer


def first_wrong(answer: Any, want: Any) -> tuple[str, str, str]:
    """Which part of an answer is wrong, that part, and what is expected there; short ones whole."""
    place = "it"
    while max(map(len, map(brief, (answer, want)))) == LONG and has_parts_of(answer, want):
        n = next(n for n in range(len(want)) if not alike(answer[n], want[n]))
        place, answer, want = f"{place}[{n}]", answer[n], want[n]
    return place, brief(answer), brief(want)


def name_of(value: Any) -> str:
    """A device's name or a function's, and else the value."""
    name = getattr(value, "name", getattr(value, "__name__", ""))
    return name or brief(plain(value))


def has_parts_of(answer: Any, want: Any) -> bool:
    several = isinstance(want, list | tuple) and isinstance(answer, list | tuple)
    return several and len(answer) == len(want)


def brief(value: Any) -> str:
    """As Python writes it, with seven digits; cut where it is long."""
    if isinstance(value, float):
        return f"{value:.7g}"
    text = repr(value)
    if isinstance(value, list | tuple):
        text = f"{text[0]}{', '.join(map(brief, value))}{text[-1]}"
    return text if len(text) < LONG else f"{text[: LONG - 1]}…"
