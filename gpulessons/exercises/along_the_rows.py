"""Copy a matrix: neighboring threads must take neighbors in memory, and those lie along a row."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, coalesced, normal, problem

COLUMNS = 40  # whole sectors, but no whole blocks of 32


# 2,560: 64 rows, so that down a column a whole warp has a sector to each lane.
matrix_copy = problem(normal(lambda n: [(-(-n // COLUMNS), COLUMNS)]), np.copy,
                      rtol=0, edge_cases=(31, 2560, 257, 1))  # fmt: skip

text = '''\
@cuda.jit
def my_matrix_kernel(x, out):
    ### BEGIN SOLUTION
    j, i = cuda.grid(2)
    ### STUB
    i, j = cuda.grid(2)  # Your turn: neighbors take rows. Let them take columns.
    ### END SOLUTION
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j]

def my_matrix_copy(x):
    out = cuda.device_array_like(x)
    ### BEGIN SOLUTION
    grid = (x.shape[1] + 31) // 32, (x.shape[0] + 7) // 8
    ### STUB
    grid = (x.shape[0] + 31) // 32, (x.shape[1] + 7) // 8
    ### END SOLUTION
    my_matrix_kernel[grid, (32, 8)](x, out)
    return out
'''

mistakes = (
    ("every column is the first one.", "= x[i, j]", "= x[i, 0]"),
    ("every row is the first one.", "= x[i, j]", "= x[0, j]"),
)

hints = (
    "A row lies in one piece, so threads 0, 1, 2 … want its columns 0, 1, 2 … . Then the grid "
    "must count columns along x, too.",
    "j, i = cuda.grid(2)",
)

exercise = a_kernel(
    __name__, text, matrix_copy, "which of the two indices change from thread to thread: both.",
    mistakes, hints,
    coalesced("which of i and j changes from a thread to its neighbor."),
)
