"""All that follows an LSTM's products, in one kernel: four sums in, a new h and a new c out."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import Trouble
from gpulessons.ops.lstm_parts import array_unit


def sums_of(size, rng):
    """i, f, g, o: the sums of each unit, and c: (size,) float32."""
    return tuple(rng.standard_normal((5, size), np.float32))


@operation.op(inputs=sums_of, flops=lambda i, *_: 18 * i.size, sizes=(1000,), rtol=2e-5,
              unit="units", awkward=(31, 257, 1025, 1))  # fmt: skip
def op(i, f, g, o, c):
    """The new h and the new c."""
    return array_unit(i, f, g, o, c)


stub = """\
import math
from gpulessons.ops.lstm_kernels import sigmoid

@cuda.jit
def my_memory(i, f, g, c, new_c):
    k = cuda.grid(1)
    if k < c.size:
        new_c[k] = sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k])

@cuda.jit
def my_output(o, new_c, new_h):  # Your turn: one kernel, in which c' stays in a register.
    k = cuda.grid(1)
    if k < o.size:
        new_h[k] = sigmoid(o[k]) * math.tanh(new_c[k])

def my_unit(i, f, g, o, c, out):
    my_memory[-(-c.size // 128), 128](i, f, g, c, out[1])
    my_output[-(-c.size // 128), 128](o, out[1], out[0])
"""

solution = """\
import math
from gpulessons.ops.lstm_kernels import sigmoid

@cuda.jit
def my_kernel(i, f, g, o, c, new_h, new_c):
    k = cuda.grid(1)
    if k < c.size:
        memory = sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k])
        new_c[k] = memory
        new_h[k] = sigmoid(o[k]) * math.tanh(memory)

def my_unit(i, f, g, o, c, out):
    my_kernel[-(-c.size // 128), 128](i, f, g, o, c, out[0], out[1])
"""

wrong = [
    (solution, stub, "in 2 launches"),
    ("math.tanh(memory)", "math.tanh(new_c[k])", "6 loads"),
    ("    if k < c.size:\n        memory", "    if True:\n        memory", "outside its shape"),
    ("sigmoid(f[k]) * c[k]", "f[k] * c[k]", "Wrong at size"),
    ("-(-c.size // 128), 128", "c.size // 128, 128", "grid"),
    ("out[0], out[1]", "out[1], out[0]", "Wrong at size"),
    ("        new_c[k] = memory\n", "", "never written"),
    ("-(-c.size // 128), 128", "1, c.size", "at most 1,024"),
    ("k < c.size", "k < c.size - 1", "never written"),
    ("    new_c[k]", "    c[k] = memory\n        new_c[k]", "changed its input"),
]
right = [
    (solution, solution.replace("new_c)", "new_c, n)").replace("out[1])", "out[1], c.size)")),
    (solution[solution.index("def my_unit") :],
     "def my_unit(i, f, g, o, c):\n    out = [cuda.device_array_like(c) for _ in 'hc']\n"
     "    my_kernel[8, 256](i, f, g, o, c, *out)\n    return out\n"),
    ("if k < c.size:", "for k in range(k, c.size, cuda.gridsize(1)):"),
    ("-(-c.size // 128), 128", "(c.size + 31) // 32, 32"),
]  # fmt: skip


def inspect(launches):
    """Right is not enough: one launch, and five loads for each unit."""
    if len(launches) > 1:
        raise Trouble(f"Right, but in {len(launches)} launches, where one will do.",
                      "what the second kernel needs of the first.")  # fmt: skip
    reads = sum(site.accesses for site in launches[0].coalescing(access="read").sites)
    units = min(a.size for a in launches[0].launch.arguments if hasattr(a, "size"))
    if reads > 5 * units:
        raise Trouble(f"Right, but {reads / units:.3g} loads for each unit, where 5 will do: "
                      "something is read again.",
                      "what the kernel already has in a register.")  # fmt: skip
