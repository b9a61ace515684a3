"""Guesses that nobody made: what a calibration looks like, for a page on which there are none."""

import random
from dataclasses import replace

from ..controls.showing import Scale
from .history import Entry, History
from .scores import Calibration, calibrated


def example(guesses: int = 14) -> Calibration:
    """The Calibration of invented guesses, too high more often than not. Its title says so."""
    draw = random.Random(16)
    entries = []
    for number in range(1, guesses + 1):
        answer = 10 ** draw.uniform(0, 3)
        guess = answer * 10 ** draw.gauss(0.25, 0.4)
        entries.append(Entry(number, f"invented question {number}", Scale(0.01, 1e6, "×"), guess,
                             "", (answer, answer, answer), "live"))  # fmt: skip
    return replace(calibrated(History(tuple(entries))), whose="Invented")
