"""Puzzle: a table from its two margins. Each input has fewer axes than the result."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, normal, problem

table = problem(normal(lambda n: [n // 37 + 1, 37]), np.multiply.outer)

text = '''\
@cuda.jit
def my_table_kernel(down, across, out):
    column, row = cuda.grid(2)
    ### BEGIN SOLUTION
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = down[row] * across[column]
    ### STUB
    # Your turn: a multiplication table. out is the row's number times the column's.
    ### END SOLUTION

def my_table(down, across):
    out = cuda.device_array((down.size, across.size), down.dtype)
    grid = (across.size + 15) // 16, (down.size + 7) // 8
    my_table_kernel[grid, (16, 8)](down, across, out)
    return out
'''

hints = (
    "down has one number for each row, so one index is enough for it. Which one? And for across?",
    "broadcast",
    "out[row, column] = down[row] * across[column]",
)
mistakes = (
    ("the two are added, not multiplied.",
     "down[row] * across[column]", "down[row] + across[column]"),
    ("only the row's number is in it.", "down[row] * across[column]", "down[row]"),
    ("only the column's number is in it.", "down[row] * across[column]", "across[column]"),
)  # fmt: skip

exercise = a_kernel(__name__, text, table, "the row's number times the column's.", mistakes, hints)
