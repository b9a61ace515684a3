"""Puzzle: a thread for each pixel. A block has two axes, and each needs its guard."""

from gpulessons.exercises.asking import a_kernel, normal, problem

difference = problem(normal(lambda n: 2 * [(n // 37 + 1, 37)]), lambda x, y: y - x)

text = '''\
@cuda.jit
def my_difference_kernel(before, after, out):
    x, y = cuda.grid(2)
    ### BEGIN SOLUTION
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = after[y, x] - before[y, x]
    ### STUB
    # Your turn: which of them is the row? Where there is such a pixel, out is after minus before.
    ### END SOLUTION

def my_difference(before, after):
    out = cuda.device_array_like(after)
    rows, columns = out.shape
    grid = (columns + 15) // 16, (rows + 7) // 8  # x counts columns, y counts rows
    my_difference_kernel[grid, (16, 8)](before, after, out)
    return out
'''

hints = (
    "An array's first index is the row. In a grid, x counts first, and it counts columns here.",
    "map_2d",
    "out[y, x] = after[y, x] - before[y, x]",
)
mistakes = (
    ("before and after are the wrong way round.",
     "after[y, x] - before[y, x]", "before[y, x] - after[y, x]"),
    ("nothing is subtracted: that is after.", "after[y, x] - before[y, x]", "after[y, x]"),
)  # fmt: skip

exercise = a_kernel(__name__, text, difference, "after minus before.", mistakes, hints)
