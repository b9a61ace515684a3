"""A pixel shader in two minutes: brighter, but never above white."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, normal, problem

text = '''\
@cuda.jit
def my_shader(picture, out):
    column, row = cuda.grid(2)
    ### BEGIN SOLUTION
    if row < picture.shape[0] and column < picture.shape[1]:
        out[row, column] = min(np.float32(1.5) * picture[row, column], np.float32(1))
    ### STUB
    # Your turn: out[row, column] is 1.5 times the pixel, and 1 at most. Mind both guards.
    ### END SOLUTION

def my_brighten(picture):
    out = cuda.device_array_like(picture)
    rows, columns = picture.shape
    my_shader[((columns + 31) // 32, (rows + 7) // 8), (32, 8)](picture, out)
    return out
'''

brighter = problem(
    normal(lambda n: [(n // 37 + 1, 37)]),
    lambda picture: np.minimum(np.float32(1.5) * picture, np.float32(1)),
)

mistakes = (
    ("it is max, where min is expected: nothing is below 1.", "min(", "max("),
    ("it is not brighter.", "np.float32(1.5) * picture[row", "picture[row"),
    ("1.5 is added; it is a factor.",
     "np.float32(1.5) * picture[row", "np.float32(1.5) + picture[row"),
)  # fmt: skip

exercise = a_kernel(__name__, text, brighter, "min(1.5 × the pixel, 1).", mistakes)
