"""Two workers take turns at reading, adding and writing: in which orders is nothing lost?"""

from collections.abc import Collection
from itertools import permutations

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, Untouched

ORDERS = sorted({"".join(order) for order in permutations("AAABBB")})  # 20

stub = '''\
my_orders = {...}  # of the 20 orders of AAA and BBB, those in which the cell holds 2 in the end
'''

solution = '''\
my_orders = {"AAABBB", "BBBAAA"}  # in the 18 others both read 0 before either has written
'''


def judge(orders):
    """All of those, and only those, whose replay ends with 2."""
    hint = "who has read before the other's third turn."
    if isinstance(orders, str) or not isinstance(orders, Collection):
        raise Trouble(f'{orders!r} is no set of orders such as {{"ABABAB"}}.', hint)
    orders = list(orders)
    if not orders or ... in orders:
        raise Untouched("There is nothing in it yet.", hint)
    for order in orders:
        if order not in ORDERS:
            raise Trouble(f"{order!r} is none of the 20: A and B have three turns each.", hint)
        if replay(order) != 2:
            raise Trouble(f"{order}: both read 0 before either has written, so both write 1.", hint)
    if len(set(orders)) < 2:
        raise Trouble("One is missing: what if the other goes first?", hint)
    return "In 18 of 20 orders an addition is lost, and nobody is told."


def replay(order):
    """What the cell holds when A and B take these turns: read, add, write."""
    cell, seen, taken = 0, {}, {"A": 0, "B": 0}
    for who in order:
        taken[who] += 1
        if taken[who] == 1:
            seen[who] = cell
        elif taken[who] == 3:
            cell = seen[who] + 1
    return cell


exercise = Exercise(__name__, stub, solution, judge=judge)
