"""One number out of many samples: which one does a hiccup not move?"""

import random
from statistics import median

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, returned

stub = '''\
def my_typical(samples):
    """One number for many times in seconds, which a single hiccup must not move."""
    ...  # Your turn.
'''

solution = '''\
from statistics import median

def my_typical(samples):
    """One number for many times in seconds, which a single hiccup must not move."""
    return median(samples)
'''


def judge(typical):
    """Quiet samples, then a hiccup among them, then the same ones in another order.

    Seconds of another length each time: nobody can know the number beforehand.
    """
    second = random.choice([0.625, 0.75, 1.25, 1.5])

    def times(*samples):
        return [round(second * sample, 4) for sample in samples]

    quiet = times(1.00, 1.01, 1.02, 1.03, 1.04)
    found = returned(typical(list(quiet)))
    if found == min(quiet):
        raise Trouble("That is the best, not the typical time.", "which sample half lie below.")
    if found == max(quiet):
        raise Trouble("That is the worst time.", "which sample half lie below.")
    hiccup = times(1.00, 1.01, 1.02, 1.03, 9.00)
    if abs(typical(list(hiccup)) - found) > 0.02 * second:
        raise Trouble(f"One hiccup moved it from {found:.3g} to {typical(hiccup):.3g}.",
                      "what the mean does to it.")  # fmt: skip
    if typical(times(1.04, 1.03, 1.00, 1.02, 1.01)) != typical(sorted(quiet)):
        raise Trouble("It depends on the order of the samples.", "whether it sorts.")
    skewed = times(2.00, 2.01, 2.02, 2.30, 2.60)
    other = typical(list(skewed))
    if not min(skewed) <= other <= max(skewed):
        raise Trouble(f"For {skewed} it says {other}.", "what it makes of the samples given.")
    if other != median(skewed):
        return (f"No hiccup moves it. It is not the median: of {skewed} that is {median(skewed)}, "
                f"and yours {other:.4g}.")  # fmt: skip
    return "The median: half of the samples lie below it, wherever the hiccup is."


exercise = Exercise(__name__, stub, solution, judge=judge)
