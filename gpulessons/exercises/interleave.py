"""Two workers take turns at reading, adding and writing: what does the cell hold?"""

from gpulessons.diagnosis import Trouble

ORDERS = ("ABAABB", "AAABBB", "BBABAA")

stub = '''\
my_cells = {"ABAABB": ..., "AAABBB": ..., "BBABAA": ...}  # what the cell holds in the end
'''

solution = '''\
my_cells = {"ABAABB": 1, "AAABBB": 2, "BBABAA": 1}  # what the cell holds in the end
'''

wrong = [
    ('"ABAABB": 1', '"ABAABB": 2', "ABAABB: both read"),
    ('"BBABAA": 1', '"BBABAA": 2', "BBABAA: both read"),
    ('"AAABBB": 2', '"AAABBB": 1', "nobody is in between"),
    ('"AAABBB": 2', '"AAABBB": 6', "counts turns"),
    ('"ABAABB": 1', '"ABAABB": 0', "never nothing"),
    ('"ABAABB": 1, ', "", "has no answer"),
]


def judge(answers):
    """Each must be what a replay of the turns gives."""
    look = "who has read before the other's third turn."
    if not isinstance(answers, dict):
        raise Trouble(f"{answers!r} is not a dict of orders and cells.", look)
    for order in ORDERS:
        if order not in answers:
            raise Trouble(f"{order} has no answer.", look)
        answer, due = answers[order], replay(order)
        if answer is ...:
            raise Trouble(f"The answer to {order} is still '...'.", look)
        if answer != due:
            raise Trouble(f"{order}: {reason(answer, due)}", look)
    return "Two of the three orders lose an addition, and nobody is told."


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


def reason(answer, due):
    if answer == 0:
        return "never nothing: the last to write leaves at least its own one."
    if answer not in (1, 2):
        return f"{answer} counts turns. Three turns make one addition."
    if due == 1:
        return "both read 0 before either has written, so both write 1."
    return "nobody is in between: the second reads what the first has written."
