"""All that follows an LSTM's products, in one kernel: preactivations in, a new h and c out."""

import numpy as np

from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble
from gpulessons.operation import op
from gpulessons.ops.lstm_cell import array_unit


def layer(size, rng):
    """i, f, g, o: the preactivations of each unit, and c: (size,) float32."""
    return tuple(rng.standard_normal((5, size), np.float32))


@op(inputs=layer, flops=lambda i, *_: 18 * i.size, sizes=(1000,), rtol=2e-5, unit="units",
    edge_cases=(31, 257, 1025, 1))  # fmt: skip
def pointwise(i, f, g, o, c):
    """The new h and the new c."""
    return array_unit(i, f, g, o, c)


stub = """\
import math
from gpulessons.ops.lstm_cell import device_sigmoid as sigmoid

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
from gpulessons.ops.lstm_cell import device_sigmoid as sigmoid

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


def logistic(x):
    return 1 / (1 + np.exp(-x))


def same(x):
    return x


def mistaken(i=logistic, f=logistic, g=np.tanh, o=logistic, last=np.tanh):
    """The unit with another function at one place."""

    def unit(i_gate, f_gate, g_gate, o_gate, c):
        memory = f(f_gate) * c + i(i_gate) * g(g_gate)
        return o(o_gate) * last(memory), memory

    return unit


GATES = "c' = sigmoid(f) c + sigmoid(i) tanh(g), and h' = sigmoid(o) tanh(c')."
mistakes = (
    ("out[0] holds the new c and out[1] the new h.", "the order: h first, then c.",
     lambda *inputs: pointwise(*inputs)[::-1]),
    *((f"{name} does not go through sigmoid.", GATES, mistaken(**{name: same})) for name in "ifo"),
    ("g does not go through tanh.", GATES, mistaken(g=same)),
    ("g goes through sigmoid, where tanh is due.", GATES, mistaken(g=logistic)),
    ("o goes through tanh, where sigmoid is due.", GATES, mistaken(o=np.tanh)),
    ("the new c does not go through tanh on its way to h.", GATES, mistaken(last=same)),
    ("the new h is made of the old c.", GATES,
     lambda i, f, g, o, c: (logistic(o) * np.tanh(c), pointwise(i, f, g, o, c)[1])),
    ("the old c is forgotten.", GATES, lambda i, f, g, o, c: pointwise(i, f, g, o, 0 * c)),
    ("the gates f and i are exchanged.", GATES, lambda i, f, g, o, c: pointwise(f, i, g, o, c)),
)  # fmt: skip

hints = (
    "Both kernels have the same index and the same guard. What one writes and the other reads "
    "is a name of its own, no array.",
    "memory = sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k])",
)

exercise = Exercise(
    __name__, stub, solution, on=gpu, op=pointwise, inspect=inspect, mistakes=mistakes, hints=hints
)
