"""Leaky ReLU as a kernel, a thread per element: two minutes."""

from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.ops.activations import leaky_relu as op  # noqa: F401

stub = '''\
import numpy as np
from numba import cuda

@cuda.jit
def my_kernel(x, out):
    i = cuda.grid(1)
    # Your turn: out[i] is x[i], or 0.01 times x[i] where that is negative. Mind the guard.

def my_leaky_relu(x):
    out = cuda.device_array_like(x)
    blocks = (x.size + 255) // 256
    my_kernel[blocks, 256](x, out)
    return out
'''

solution = '''\
import numpy as np
from numba import cuda

@cuda.jit
def my_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] if x[i] > 0 else np.float32(0.01) * x[i]

def my_leaky_relu(x):
    out = cuda.device_array_like(x)
    blocks = (x.size + 255) // 256
    my_kernel[blocks, 256](x, out)
    return out
'''

wrong = [
    ("if i < x.size:", "if True:", "outside"),
    ("(x.size + 255) // 256", "max(1, x.size // 256)", "never written"),
    ("if x[i] > 0 else np.float32(0.01) * x[i]", "if x[i] > 0 else 0", "every negative input"),
    ("out[i] = x[i] if", "x[i] = x[i] if", "changed its input in place"),
    ("x[i] if x[i] > 0", "x[i] if x[i] < 0", "Wrong at size"),
    ("    return out\n", "", "returned nothing"),
    ("device_array_like(x)", "device_array(x.shape)", "Wrong dtype"),
]
