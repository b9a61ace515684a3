"""A loop over elements becomes one NumPy expression over arrays."""

from gpulessons.backends import host as on  # noqa: F401
from gpulessons.ops.activations import leaky_relu as op  # noqa: F401

stub = '''\
import numpy as np

def my_leaky_relu(x):
    """x where x > 0, else 0.01 x, for a whole array at once: no loop."""
    raise NotImplementedError  # Your turn.
'''

solution = '''\
import numpy as np

def my_leaky_relu(x):
    """x where x > 0, else 0.01 x, for a whole array at once: no loop."""
    return np.where(x > 0, x, np.float32(0.01) * x)
'''

wrong = [
    ("np.float32(0.01) * x)", "0)", "every negative input"),
    ("np.float32(0.01)", "np.float64(0.01)", "Wrong dtype"),
    ("np.where(x > 0, x, np.float32(0.01) * x)", "[max(v, 0.01 * v) for v in x]", "list"),
    ("return np.where(x > 0, x, np.float32(0.01) * x)",
     "x[x < 0] *= np.float32(0.01)\n    return x", "changed its input in place"),
    ("x > 0, x,", "x > 0, abs(x) + 1,", "every positive input"),
]  # fmt: skip
