"""Bias and GELU in one kernel: the bias has its own, shorter index."""

from gpulessons.exercises.asking import a_kernel, normal
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

mistakes = (
    ("the bias is forgotten.", " + b[column]", ""),
    ("the bias is added after GELU.",
     "device_gelu(x[row, column] + b[column])", "device_gelu(x[row, column]) + b[column]"),
    ("it takes the bias of the row.", "b[column]", "b[row]"),
)  # fmt: skip

hints = (
    "A guard for each axis. Then, which of the two indices does the bias need?",
    "out[row, column] = device_gelu(x[row, column] + b[column])",
)

exercise = a_kernel(
    __name__, text, bias_gelu.like(normal(lambda n: [(n // 37 + 1, 37), 37])),
    "what device_gelu is given, and which index belongs to a column.", mistakes, hints,
)
