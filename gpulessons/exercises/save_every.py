"""How often is a checkpoint worth its price? Young's interval, or what a search finds beside it."""

from gpulessons.exercises.asking import a_function

text = '''\
from math import sqrt

def my_interval(cost, mtbf, machines):
    """Seconds from checkpoint to checkpoint. cost: of one. mtbf: seconds between one machine's
    failures, on average; there are so many `machines`, and the first that fails stops all.
    """
    ### BEGIN SOLUTION
    return sqrt(2 * cost * mtbf / machines)
    ### STUB
    return mtbf / 10  # Your turn: what is lost by saving, and what by not having saved?
    ### END SOLUTION
'''

CASES = [(60, 1.8e8, 16_384), (2, 1e6, 1), (30, 5e7, 400), (0.5, 3e5, 8)]

mistakes = (
    ("Of so many machines one fails that many times as often.", "mtbf / machines", "mtbf"),
    ("A failure loses half of an interval on average: it comes anywhere.", "2 * cost", "cost"),
    ("The time between saves is a root: twice the price is not twice the wait.",
     "sqrt(2 * cost * mtbf / machines)", "2 * cost * mtbf / machines"),
)  # fmt: skip

hints = (
    "Saving takes cost / t of the time. A failure comes every mtbf / machines seconds, and loses "
    "t / 2. Add both shares, and find where more of t saves as much as it loses.",
    "return sqrt(2 * cost * mtbf / machines)",
)

exercise = a_function(
    __name__, text, CASES, "the two losses: one falls with the interval, the other grows with it.",
    "Young's interval: both losses are then equally large.", mistakes, hints, near=0.06,
)  # fmt: skip
