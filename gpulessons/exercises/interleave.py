"""Two workers take turns at reading, adding and writing: in which orders is nothing lost?"""

from collections.abc import Collection

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, NotTried

text = '''\
### BEGIN SOLUTION
my_orders = {"AAABBB", "BBBAAA"}  # in the 18 others both read 0 before either has written
### STUB
my_orders = {...}  # of the 20 orders of AAA and BBB, those in which the cell holds 2 in the end
### END SOLUTION
'''

RIGHT = {"AAABBB", "BBBAAA"}


def judge(orders):
    """Both of those, and only those, in which one has written before the other reads."""
    hint = "who has read before the other's third turn."
    if isinstance(orders, str) or not isinstance(orders, Collection):
        raise Mismatch(f'{orders!r} is no set of orders such as {{"ABABAB"}}.', hint)
    orders = list(orders)
    if not orders or ... in orders:
        raise NotTried("There is nothing in it yet.", hint)
    for order in orders:
        if sorted(order) != [*"AAABBB"]:
            raise Mismatch(f"{order!r} is none of the 20: A and B have three turns each.", hint)
        if order not in RIGHT:
            raise Mismatch(f"{order}: both read 0 before either has written, so each writes 1.",
                           hint)  # fmt: skip
    if {*orders} != RIGHT:
        raise Mismatch("One is missing: what if the other goes first?", hint)
    return "In 18 of 20 orders an addition is lost, and nobody is told."


exercise = Exercise(__name__, text, judge=judge)
