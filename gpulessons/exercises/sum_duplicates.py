"""Update the rows of an embedding: an id may come twice, and the table is too large to look at."""

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful, check_unchanged
from gpulessons.grader.waste import check_steps, memory_of, steps_of

RATE, WIDTH, LARGE = 0.5, 4, 200_000

text = '''\
def my_update(table, ids, gradient, rate):
    """A step of SGD, in place. table: (rows, width); row ids[i] is to move by gradient[i]."""
    ### BEGIN SOLUTION
    np.subtract.at(table, ids, rate * gradient)  # one after the other, duplicates too
    ### STUB
    table[ids] -= rate * gradient  # Your turn: what if an id comes twice?
    ### END SOLUTION
'''


def batch(rows, count):
    """table: (rows, 4), ids: (count,), gradient: (count, 4) float32; an id comes three times."""
    rng = np.random.default_rng(rows)
    ids = rng.integers(0, rows, count)
    ids[[count // 2, -1]] = ids[0]
    numbers = (rng.integers(1, 9, (n, WIDTH)).astype(np.float32) for n in (rows, count))
    return next(numbers), ids, next(numbers)


def judge(attempt):
    """Right with many duplicates and few, at a cost that does not know the table's size."""
    for rows, count in ((40, 64), (1, 5), (7, 9), (1_000, 300)):
        table, ids, gradient = batch(rows, count)
        before, given = table.copy(), (ids.copy(), gradient.copy())
        run(attempt, (table, *given, RATE), {})
        check_unchanged((ids, gradient), given, "ids and gradient")
        check_table(before, table, ids, gradient)
    hint = "the rows in ids, and those alone: a table may have a hundred million."
    _, *few_ids = batch(50, 20)
    few, many = (steps_of(attempt, np.zeros((rows, WIDTH), np.float32), *few_ids, RATE)
                 for rows in (50, 5_000))  # fmt: skip
    check_steps(few, many, "tables of 50 and 5,000 rows and the same ids", hint)
    if (taken := memory_of(attempt, *batch(LARGE, 20), RATE)) > LARGE:  # a byte for each row
        raise Wasteful(f"for 20 ids it takes {taken:,} bytes on the way: something as long as the "
                       f"table, which has {LARGE:,} rows.", hint)  # fmt: skip
    return "Duplicates are summed, and 20 ids cost the same in a table of any size."


def check_table(before, after, ids, gradient):
    """Mismatch by the name of a mistake that makes such a table, or by the first wrong row."""
    sums, last, row = np.zeros(before.shape), before.copy(), ids[0]
    np.add.at(sums, ids, RATE * gradient)
    last[ids] -= RATE * gradient
    if np.allclose(after, before - sums, atol=1e-4):
        return
    mistakes = (
        (before, "The table is as it was.", "in place: table[…] = …, not a name of your own."),
        (last, f"Row {row} comes {np.sum(ids == row)} times in ids, and only its last gradient "
               "moved it.", "what table[ids] -= … does: it reads all, subtracts, then writes all."),
        (before + sums, "The rows move uphill.", "the sign: a step goes against the gradient."),
    )  # fmt: skip
    for table, sentence, hint in mistakes:
        if np.allclose(after, table, atol=1e-4):
            raise Mismatch(sentence, hint)
    row = np.flatnonzero(~np.isclose(after, before - sums, atol=1e-4).all(1))[0]
    raise Mismatch(f"Row {row} became {after[row]}, where {(before - sums)[row]} is expected.",
                   f"its gradients, which stand at {np.flatnonzero(ids == row)[:5]}.")  # fmt: skip


hints = (
    "table[ids] reads all rows, then subtracts, then writes all: a row that comes twice is "
    "written twice from the same old values. NumPy's ufuncs have a method for this.",
    "np.subtract.at(table, ids, rate * gradient)",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
