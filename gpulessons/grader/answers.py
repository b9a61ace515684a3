"""Exercises whose answer is a plain function: all cases right, or what explains the others."""

import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

from .check import run
from .diagnosis import Mismatch


def check_answers(
    attempt: Callable, expected: Callable, cases: Sequence[tuple], hint: str,
    mistakes: Sequence[tuple] = (),
) -> None:  # fmt: skip
    """Mismatch unless attempt(*case) is expected(*case), in every case.

    mistakes: (sentence, hint, function): named where the function gives all the wrong answers.
    """
    answers = [plain(run(attempt, case, {})) for case in cases]
    wants = [expected(*case) for case in cases]
    if all(map(alike, answers, wants)):
        return
    for sentence, where, mistaken in mistakes:
        made = [mistaken(*case) for case in cases]
        if all(alike(a, m) or alike(a, w) for a, m, w in zip(answers, made, wants, strict=True)):
            raise Mismatch(sentence, where)
    n = next(n for n, want in enumerate(wants) if not alike(answers[n], want))
    names = inspect.signature(expected).parameters
    given = ", ".join(
        f"{name} = {getattr(value, 'name', value)}"
        for name, value in zip(names, cases[n], strict=False)
    )
    wrong = f"it was {brief(answers[n])}, where {brief(wants[n])} is expected."
    raise Mismatch(f"For {given}: {wrong}", hint)


def alike(answer: Any, want: Any) -> bool:
    """The same, or close: float32 will do; infinity may stand for None, a list for a tuple."""
    if isinstance(want, tuple):
        pair = isinstance(answer, tuple | list) and len(answer) == len(want)
        return pair and all(map(alike, answer, want))
    if isinstance(want, float):
        return isinstance(answer, numbers.Real) and math.isclose(answer, want, rel_tol=1e-6)
    return bool(answer is None or answer == math.inf if want is None else answer == want)


def plain(answer: Any) -> Any:
    """NumPy's numbers and arrays, and PyTorch's, as Python's."""
    return answer.tolist() if hasattr(answer, "tolist") else answer


def brief(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else f"{value!r}"
