"""All that follows an LSTM's products, in one kernel: preactivations in, a new h and c out."""

from gpulessons.exercises.asking import a_kernel, few_loads, normal, problem
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.ops.lstm_cell import array_unit

pointwise = problem(normal(lambda n: 5 * [n]), array_unit, rtol=2e-5, edge_cases=(31, 257, 1025, 1))

text = '''\
import math
from gpulessons.ops.lstm_cell import device_sigmoid as sigmoid

@cuda.jit
def my_kernel(i, f, g, o, c, new_h, new_c):
    k = cuda.grid(1)
    if k < c.size:
        ### BEGIN SOLUTION
        memory = sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k])
        new_c[k] = memory
        new_h[k] = sigmoid(o[k]) * math.tanh(memory)
        ### STUB
        new_c[k] = sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k])
        ...  # Your turn: new_h, too; and nothing is read twice.
        ### END SOLUTION

def my_unit(i, f, g, o, c, out):
    my_kernel[-(-c.size // 128), 128](i, f, g, o, c, out[0], out[1])
'''


def inspect(launches):
    """Right is not enough: one launch, and five loads for each unit, which writes two numbers."""
    if len(launches) > 1:
        raise Wasteful(f"in {len(launches)} launches, where one will do.",
                       "what the second kernel needs of the first.")  # fmt: skip
    few_loads(launches, 5 / 2, "what is read again, though it is in a register already.")


mistakes = (
    ("out[0] holds the new c and out[1] the new h.", "out[0], out[1]", "out[1], out[0]"),
    ("the new h is made of the old c.", "math.tanh(memory)", "math.tanh(c[k])"),
    ("the new c does not go through tanh on its way to h.", "math.tanh(memory)", "memory"),
)

hints = (
    "What you have just computed is still in a register: give it a name of its own, and write the "
    "array from it.",
    "memory = sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k])",
)

exercise = a_kernel(
    __name__, text, pointwise,
    "c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c'); out is h', c'.",
    mistakes, hints, inspect,
)
