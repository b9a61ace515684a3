"""One number out of many samples: which one does a hiccup not move?"""

import random
from statistics import median

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, number, returned

text = '''\
### BEGIN SOLUTION
from statistics import median

def my_typical(samples):
    """One number for many times in seconds, which a single hiccup must not move."""
    return median(samples)
### STUB
def my_typical(samples):
    """One number for many times in seconds, which a single hiccup must not move."""
    ...  # Your turn.
### END SOLUTION
'''


def judge(typical):
    """Quiet samples, then a hiccup among them, then the same ones in another order.

    Seconds of another length each time: nobody can know the number beforehand.
    """
    second = random.choice([0.625, 0.75, 1.25, 1.5])

    def answer(*samples):
        result = returned(run(typical, ([round(second * each, 4) for each in samples],), {}))
        return number(result, "its return: one number of seconds.") / second

    quiet = answer(1.00, 1.01, 1.02, 1.03, 1.04)
    if abs(answer(1.00, 1.01, 1.02, 1.03, 9.00) - quiet) > 0.02:
        raise Mismatch("One hiccup moved it.", "what the mean, or the largest, does to it.")
    if answer(1.04, 1.03, 1.00, 1.02, 1.01) != quiet:
        raise Mismatch("It depends on the order of the samples.", "whether it sorts.")
    if round(quiet, 3) == 1:
        raise Mismatch("That is the best, not the typical time.", "which sample half lie below.")
    skewed = 2.00, 2.01, 2.02, 2.30, 2.60
    other = answer(*skewed)
    if not min(skewed) <= other <= max(skewed):
        raise Mismatch(f"For {skewed} it says {other:.3g}.", "what it makes of the samples given.")
    if abs(other - median(skewed)) > 1e-3:
        return f"No hiccup moves it. It is not the median: of {skewed} yours is {other:.4g}."
    return "The median: half of the samples lie below it, wherever the hiccup is."


exercise = Exercise(__name__, text, judge=judge)
