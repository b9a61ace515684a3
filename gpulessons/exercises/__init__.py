"""Exercises: a file each, which reads as one lesson and ends in one value of `Exercise`.

    exercises.guard    the value `exercise` of guard.py, loaded on first use

A file holds one text, of which the stub is a notebook's cell word for word and the rest is the
solution, then inputs, and the mistakes that learners make most: edits of the solution. asking.py
has what most files ask for. Other answers belong to the tests, which prove that each stub is "not
yet", each solution passes, however it is written, and each wrong answer is refused for its reason.
"""

import importlib
import pkgutil

NAMES = sorted({module.name for module in pkgutil.iter_modules(__path__)} - {"asking"})


def __getattr__(name):
    if name not in NAMES:
        raise AttributeError(f"There is no exercise {name!r}; there are {', '.join(NAMES)}.")
    exercise = importlib.import_module(f"{__name__}.{name}").exercise
    globals()[name] = exercise  # where importing has just put the module
    return exercise


def __dir__():
    return NAMES
