"""Leaky ReLU as a kernel, a thread per element: two minutes."""

from gpulessons.exercises.asking import a_kernel
from gpulessons.ops.activations_more import leaky_relu

text = '''\
import numpy as np
from numba import cuda

@cuda.jit
def my_kernel(x, out):
    i = cuda.grid(1)
    ### BEGIN SOLUTION
    if i < x.size:
        out[i] = x[i] if x[i] > 0 else np.float32(0.01) * x[i]
    ### STUB
    # Your turn: out[i] is x[i], or 0.01 times x[i] where that is negative. Mind the guard.
    ### END SOLUTION

def my_leaky_relu(x):
    out = cuda.device_array_like(x)
    blocks = (x.size + 255) // 256
    my_kernel[blocks, 256](x, out)
    return out
'''

mistakes = (
    ("the two sides are exchanged: positive numbers are multiplied.",
     "x[i] if x[i] > 0", "x[i] if x[i] < 0"),
    ("negative numbers become 0: that is ReLU, which does not leak.",
     "if x[i] > 0 else np.float32(0.01) * x[i]", "if x[i] > 0 else 0"),
    ("the slope is 0.1, where 0.01 is expected.", "np.float32(0.01) *", "np.float32(0.1) *"),
)  # fmt: skip

hints = (
    "The guard first: is there an x[i]? Then two cases, as in ReLU; only the negative one is new.",
    "out[i] = x[i] if x[i] > 0 else np.float32(0.01) * x[i]",
)

exercise = a_kernel(
    __name__, text, leaky_relu, "which numbers are multiplied by 0.01: the negative ones.",
    mistakes, hints,
)
