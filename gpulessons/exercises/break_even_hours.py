"""After how many hours of use is buying cheaper than renting? Sometimes never."""

import math
import numbers

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble
from gpulessons.money.renting import Plan

# A price, the rent of an hour, watts, the price of a kWh: numbers that stand for no device.
CASES = ((1000, 3, 500, 2), (900, 2, 250, 4), (70, 5, 1000, 0.25), (500, 2, 300, 0))
NEVER = ((1000, 1, 500, 2), (1000, 1, 500, 4))  # equal costs of an hour; owning is dearer

CLOSE = 1e-6  # relative: float32 is close enough

stub = '''\
def my_break_even(price, rent_per_hour, watts, price_per_kwh):
    """Hours of use from which buying is cheaper than renting, not rounded; None if there are none.

    The owner pays the price once, and the energy of every hour; a rent includes its energy.
    """
    return price / rent_per_hour  # Your turn: what does an hour of owning cost?
'''

solution = '''\
def my_break_even(price, rent_per_hour, watts, price_per_kwh):
    """Hours of use from which buying is cheaper than renting, not rounded; None if there are none.

    The owner pays the price once, and the energy of every hour; a rent includes its energy.
    """
    energy = watts / 1000 * price_per_kwh
    if energy >= rent_per_hour:
        return None
    return price / (rent_per_hour - energy)
'''


def judge(attempt):
    """price + h × energy = h × rent, solved for h."""
    rng = np.random.default_rng()
    drawn = [(int(rng.integers(100, 999)), 7, int(rng.integers(1, 9)) * 100, 3) for _ in range(4)]
    for case in (*CASES, *drawn):
        refuse_other(run(attempt, case, {}), case)
    for case in NEVER:
        refuse_hope(attempt, case)
    free = (0, *CASES[0][1:])
    if run(attempt, free, {}) not in (0, 0.0):
        raise Trouble(f"{in_words(free)}: it is cheaper from the first hour, 0.", "a price of 0.")
    return f"{in_words(CASES[0])}: {due(*CASES[0]):g} hours."


def due(price, rent, watts, kwh):
    return price / (rent - watts / 1000 * kwh)


def in_words(case):
    price, rent, watts, kwh = case
    return f"A price of {price}, a rent of {rent} an hour, {watts} W at {kwh} a kWh"


def refuse_other(answer, case):
    price, rent, watts, kwh = case
    hint = "price + hours × energy = hours × rent, solved for the hours."
    if answer is None:
        raise Trouble(
            f"{in_words(case)}: buying pays, and the answer was None.", "when it never does."
        )
    if not isinstance(answer, numbers.Real):
        raise Trouble(f"{answer!r} is not a number of hours.", "its return.")
    right, energy = due(*case), watts / 1000 * kwh
    if math.isclose(answer, right, rel_tol=CLOSE):
        return
    reasons = {
        price / rent: "That forgets the energy, which the owner pays in every hour.",
        price / (rent + energy): "That adds the energy to the rent, which includes it: the owner "
        "pays it, so an hour saves less than the rent.",
        (price + energy) / rent: "That pays the energy of one hour only.",
        math.ceil(right): "That is rounded: an hour can be used in part.",
        math.floor(right): "That is rounded: an hour can be used in part.",
        -right: "No time runs backwards: look at the sign.",
    }
    if rent != watts * kwh:
        reasons[price / (rent - watts * kwh)] = "That takes a watt for a kilowatt."
    told = f"it was {answer:.9g}, where {right:.9g} is due."
    raise Trouble(f"{in_words(case)}: {near(reasons, answer) or told}", hint)


def near(reasons, answer):
    """The reason whose number the answer is, or None."""
    found = (why for number, why in reasons.items() if math.isclose(number, answer, rel_tol=CLOSE))
    return next(found, None)


def refuse_hope(attempt, case):
    hint = "an hour whose energy costs the owner the whole rent or more: None."
    try:
        answer = run(attempt, case, {})
    except Trouble as trouble:
        if not isinstance(trouble.__cause__, ZeroDivisionError):
            raise
        raise Trouble(f"{in_words(case)}: an hour saves nothing, so renting is always cheaper; "
                      "yours divides by zero.", hint) from None  # fmt: skip
    if answer is None or answer == math.inf:
        return
    said = f"renting is always cheaper, and the answer was {answer!r}."
    raise Trouble(f"{in_words(case)}: {said}", hint)


exercise = Exercise(__name__, stub, solution, judge=judge, forbidden=(Plan,))
