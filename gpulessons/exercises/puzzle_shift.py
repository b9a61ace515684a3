"""Puzzle: everything moves one place. You read where your neighbor is, and write where you are."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, normal, problem

shift = problem(normal(lambda n: [n]), lambda x: np.append(x[1:], x.dtype.type(0)), rtol=0)

text = '''\
@cuda.jit
def my_shift_kernel(x, out):
    i = cuda.grid(1)
    ### BEGIN SOLUTION
    if i < x.size:
        out[i] = x[i + 1] if i + 1 < x.size else 0
    ### STUB
    # Your turn: out[i] is x[i + 1]. The last element has nobody after it: there, out is 0.
    ### END SOLUTION

def my_shift(x):
    out = cuda.device_array_like(x)
    my_shift_kernel[(x.size + 63) // 64, 64](x, out)
    return out
'''

hints = (
    "The guard asks which i you write to. What you read is one further: it needs a guard too.",
    "shift",
    "out[i] = x[i + 1] if i + 1 < x.size else 0",
)
mistakes = (
    ("the last element is the first one's.",
     "x[i + 1] if i + 1 < x.size else 0", "x[(i + 1) % x.size]"),
    ("the last element kept its own number.",
     "x[i + 1] if i + 1 < x.size else 0", "x[i + 1] if i + 1 < x.size else x[i]"),
    ("everything moved the other way.",
     "x[i + 1] if i + 1 < x.size else 0", "x[i - 1] if i > 0 else 0"),
)  # fmt: skip

exercise = a_kernel(
    __name__, text, shift, "out[0] is x[1], and the last one has nobody after it, so 0.",
    mistakes, hints,
)
