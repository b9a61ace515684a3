"""Exercises: a file each, which reads as one lesson and ends in one value of `Exercise`.

    exercises.leaky_relu_kernel    the value `exercise` of leaky_relu_kernel.py, loaded on first use

A file holds the stub, word for word as a notebook has it, its solution, and what judges an attempt.
Right and wrong answers belong to the tests, which prove that each stub is "not yet", each solution
passes, however it is written, and each wrong answer is refused for its own reason.
"""

import importlib
import pkgutil

NAMES = sorted(module.name for module in pkgutil.iter_modules(__path__))


def __getattr__(name):
    if name not in NAMES:
        raise AttributeError(f"There is no exercise {name!r}; there are {', '.join(NAMES)}.")
    exercise = importlib.import_module(f"{__name__}.{name}").exercise
    globals()[name] = exercise  # where importing has just put the module
    return exercise


def __dir__():
    return NAMES
