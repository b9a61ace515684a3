"""Bias and GELU in one kernel: the bias has its own, shorter index."""

from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.ops.bias_activation import bias_gelu as op  # noqa: F401

stub = '''\
from gpulessons.ops.bias_activation import device_gelu

@cuda.jit
def my_fused_kernel(x, b, out):
    column, row = cuda.grid(2)
    # Your turn: out[row, column] is device_gelu of x plus the bias of its column.

def my_bias_gelu(x, b):
    out = cuda.device_array_like(x)
    blocks = ((x.shape[1] + 31) // 32, (x.shape[0] + 7) // 8)
    my_fused_kernel[blocks, (32, 8)](x, b, out)
    return out
'''

solution = '''\
from gpulessons.ops.bias_activation import device_gelu

@cuda.jit
def my_fused_kernel(x, b, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = device_gelu(x[row, column] + b[column])

def my_bias_gelu(x, b):
    out = cuda.device_array_like(x)
    blocks = ((x.shape[1] + 31) // 32, (x.shape[0] + 7) // 8)
    my_fused_kernel[blocks, (32, 8)](x, b, out)
    return out
'''

wrong = [
    ("if row < x.shape[0] and column < x.shape[1]:", "if row < x.shape[0]:", "outside"),
    ("b[column]", "b[row]", "Wrong at size"),
    (" + b[column]", "", "Wrong at size"),
    ("device_gelu(x[row, column] + b[column])", "device_gelu(x[row, column]) + b[column]",
     "Wrong at size"),
    ("(x.shape[1] + 31) // 32", "max(1, x.shape[1] // 32)", "never written"),
]  # fmt: skip
