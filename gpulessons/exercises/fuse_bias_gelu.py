"""Bias and GELU in one kernel: the bias has its own, shorter index."""

import numpy as np

from gpulessons.exercises.asking import a_kernel
from gpulessons.ops.bias_activation import bias_gelu

text = '''\
from gpulessons.ops.bias_activation import device_gelu

@cuda.jit
def my_fused_kernel(x, b, out):
    column, row = cuda.grid(2)
    ### BEGIN SOLUTION
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = device_gelu(x[row, column] + b[column])
    ### STUB
    # Your turn: out[row, column] is device_gelu of x plus the bias of its column.
    ### END SOLUTION

def my_bias_gelu(x, b):
    out = cuda.device_array_like(x)
    blocks = ((x.shape[1] + 31) // 32, (x.shape[0] + 7) // 8)
    my_fused_kernel[blocks, (32, 8)](x, b, out)
    return out
'''


def layer(size, rng):
    """x: about `size` numbers, 37 to a row; b: (37,), float32."""
    shapes = (size // 37 + 1, 37), 37
    return tuple(rng.normal(0, 3, shape).astype(np.float32) for shape in shapes)


mistakes = (
    ("the bias is forgotten.", " + b[column]", ""),
    ("the bias is added after GELU.",
     "device_gelu(x[row, column] + b[column])", "device_gelu(x[row, column]) + b[column]"),
    ("it takes the bias of the row.", "b[column]", "b[row]"),
)  # fmt: skip

hints = (
    "A guard for each axis, as for the pixels. Then, which of the two indices does the bias need?",
    "out[row, column] = device_gelu(x[row, column] + b[column])",
)

exercise = a_kernel(
    __name__, text, bias_gelu.like(layer),
    "what device_gelu is given, and which index belongs to a column.", mistakes, hints,
)
