"""Update the rows of an embedding: an id may come twice, and the table is too large to look at."""

import numpy as np

from gpulessons.exercises.asking import check_like, in_place
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.grader.waste import check_steps, memory_of, steps_of

LARGE = 200_000

text = '''\
def my_update(table, ids, gradient, rate):
    """A step of SGD, in place. table: (rows, width); row ids[i] is to move by gradient[i]."""
    ### BEGIN SOLUTION
    np.subtract.at(table, ids, rate * gradient)  # one after the other, duplicates too
    ### STUB
    table[ids] -= rate * gradient  # Your turn: what if an id comes twice?
    ### END SOLUTION
'''

mistakes = (
    ("A row that comes several times in ids was moved by its last gradient alone.",
     "np.subtract.at(table, ids, rate * gradient)", "table[ids] -= rate * gradient"),
    ("The rows move uphill: a step goes against the gradient.", "np.subtract.at", "np.add.at"),
    ("The table is as it was: table[…] = … changes it, a name of your own does not.",
     "np.subtract.at(table", "np.subtract.at(table.copy()"),
)  # fmt: skip


def batch(rows, count):
    """table: (rows, 4), ids: (count,), gradient: (count, 4) and a rate; an id comes three times."""
    rng = np.random.default_rng(rows)
    ids = rng.integers(0, rows, count)
    ids[[count // 2, -1]] = ids[0]
    table, gradient = (rng.integers(1, 9, (n, 4)).astype(np.float32) for n in (rows, count))
    return table, ids, gradient, 0.5


def judge(attempt):
    """Right with many duplicates and few, at a cost that does not know the table's size."""
    sizes = (40, 64), (1, 5), (7, 9), (1_000, 300)
    check_like(text, attempt, [batch(*size) for size in sizes],
               "a row's gradients: all those whose id it is.", mistakes, in_place)  # fmt: skip
    hint = "the rows in ids, and those alone: a table may have a hundred million."
    _, *others = batch(50, 20)
    few, many = (steps_of(attempt, np.zeros((rows, 4), np.float32), *others)
                 for rows in (50, 5_000))  # fmt: skip
    check_steps(few, many, "tables of 50 and 5,000 rows and the same ids", hint)
    if (taken := memory_of(attempt, *batch(LARGE, 20))) > LARGE:  # a byte for each row
        raise Wasteful(f"for 20 ids it takes {taken:,} bytes on the way: something as long as the "
                       f"table, which has {LARGE:,} rows.", hint)  # fmt: skip
    return "Duplicates are summed, and 20 ids cost the same in a table of any size."


hints = (
    "table[ids] reads all rows, then subtracts, then writes all: a row that comes twice is "
    "written twice from the same old values. NumPy's ufuncs have a method for this.",
    "np.subtract.at(table, ids, rate * gradient)",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
