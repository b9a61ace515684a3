"""Update the rows of an embedding: an id may come twice, and the table is too large to look at."""

import tracemalloc

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, refuse_changes, refuse_loop, steps_of

RATE, WIDTH, LARGE = 0.5, 4, 200_000

stub = '''\
def my_update(table, ids, gradient, rate):
    """A step of SGD, in place. table: (rows, width); row ids[i] is to move by gradient[i]."""
    table[ids] -= rate * gradient  # Your turn: what if an id comes twice?
'''

solution = stub.replace(
    "table[ids] -= rate * gradient  # Your turn: what if an id comes twice?",
    "np.subtract.at(table, ids, rate * gradient)  # one after the other, duplicates too",
)


def batch(rows, count):
    """table: (rows, 4), ids: (count,), gradient: (count, 4) float32; an id comes three times."""
    rng = np.random.default_rng(rows)
    ids = rng.integers(0, rows, count)
    ids[[count // 2, -1]] = ids[0]
    numbers = (rng.integers(1, 9, (n, WIDTH)).astype(np.float32) for n in (rows, count))
    return next(numbers), ids, next(numbers)


def summed(ids, gradient, rows):
    """(rows, width): the sum for each row, and how often it comes: (rows, 1)."""
    sums, times = np.zeros((rows, gradient.shape[1])), np.zeros((rows, 1))
    np.add.at(sums, ids, gradient)
    np.add.at(times, ids, 1)
    return sums, times


def refuse_known(before, after, ids, gradient):
    """Trouble by name, where the table is what a known mistake makes of it."""
    sums, times = summed(ids, gradient, len(before))
    last, first = before.copy(), before.copy()
    last[ids] -= RATE * gradient
    first[ids[::-1]] -= RATE * gradient[::-1]
    row = ids[0]
    mistakes = (
        (before, "The table is as it was.", "in place: table[…] = …, not a name of your own."),
        (last, f"Row {row} comes {times[row, 0]:.0f} times in ids, and only its last gradient "
               "moved it.", "what table[ids] -= … does: it reads all, subtracts, then writes all."),
        (first, f"Row {row} comes {times[row, 0]:.0f} times in ids, and only its first gradient "
                "moved it.", "all the places where the id stands."),
        (before - RATE * sums / np.maximum(times, 1),
         "That is the mean of a row's gradients, where their sum is due.",
         "what divides by how often an id comes."),
        (before + RATE * sums, "The rows move uphill.", "the sign: a step goes against it."),
        (before - sums, "The rate is missing.", "rate * gradient."),
    )  # fmt: skip
    for table, sentence, hint in mistakes:
        if np.allclose(after, table, atol=1e-4):
            raise Trouble(sentence, hint)


def refuse_wrong(before, after, ids, gradient):
    """Trouble that names the first row that is not what it should be."""
    due = before - RATE * summed(ids, gradient, len(before))[0]
    wrong = np.flatnonzero(~np.isclose(after, due, atol=1e-4).all(1))
    if wrong.size:
        row = wrong[0]
        where = np.flatnonzero(ids == row)[:5].tolist()
        why = f"its gradients stand at {where}" if where else "it is in no id, and stays as it was"
        raise Trouble(
            f"Row {row} became {after[row].tolist()}, where {due[row].tolist()} is due.", f"{why}."
        )


def refuse_whole_table(attempt):
    """Trouble where a few ids cost as much as the whole table."""
    hint = "the rows in ids, and those alone: a table may have a hundred million."
    _, *few_ids = batch(50, 20)
    few, many = (steps_of(attempt, np.zeros((rows, WIDTH), np.float32), *few_ids, RATE)
                 for rows in (50, 5_000))  # fmt: skip
    refuse_loop(few, many, "tables of 50 and 5,000 rows and the same ids", hint)
    inputs, already = batch(LARGE, 20), tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        attempt(*inputs, RATE)
        taken = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not already:
            tracemalloc.stop()
    if taken > LARGE:  # a byte for each row
        raise Trouble(f"Right, but for 20 ids it takes {taken:,} bytes on the way: something as "
                      f"long as the table, which has {LARGE:,} rows.", hint)  # fmt: skip


def judge(attempt):
    """Right with many duplicates and few, at a cost that does not know the table's size."""
    for rows, count in ((40, 64), (1, 5), (7, 9), (1_000, 300)):
        table, ids, gradient = batch(rows, count)
        before, given = table.copy(), (ids.copy(), gradient.copy())
        attempt(table, *given, RATE)
        refuse_changes((ids, gradient), given, "ids and gradient")
        refuse_known(before, table, ids, gradient)
        refuse_wrong(before, table, ids, gradient)
    refuse_whole_table(attempt)
    return "Duplicates are summed, and 20 ids cost the same in a table of any size."


hints = (
    "table[ids] reads all rows, then subtracts, then writes all: a row that comes twice is "
    "written twice from the same old values. NumPy's ufuncs have a method for this.",
    "np.subtract.at(table, ids, rate * gradient)",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
