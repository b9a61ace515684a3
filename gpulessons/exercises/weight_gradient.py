"""The gradients of the weights and biases: the loop over the examples is a product."""

import numpy as np

from gpulessons.backends import host
from gpulessons.grader.check import Exercise, call, check_op
from gpulessons.grader.diagnosis import Trouble, refuse_loop, steps_of
from gpulessons.measure.peak_memory import peak_memory
from gpulessons.operation import Version, op
from gpulessons.ops.dense import gradients

stub = '''\
def my_gradients(x, dz):
    """dw and db. x: (examples, inputs), dz: (examples, outputs); dw: (outputs, inputs)."""
    dw, db = 0, 0
    for example in range(len(x)):  # Your turn: no loop. One product, and one sum.
        dw = dw + dz[example][:, None] * x[example]
        db = db + dz[example]
    return dw, db
'''

solution = '''\
def my_gradients(x, dz):
    """dw and db. x: (examples, inputs), dz: (examples, outputs); dw: (outputs, inputs)."""
    return dz.T @ x, dz.sum(axis=0)
'''


def layer(examples, rng):
    """x: (examples, inputs) and dz: (examples, outputs), float32."""
    inputs, outputs = examples + 5, examples // 2 + 2
    x = rng.standard_normal((examples, inputs), np.float32)
    return x, rng.standard_normal((examples, outputs), np.float32) / np.float32(examples)


@op(inputs=layer, flops=lambda x, dz: 2 * x.size * dz.shape[1], sizes=(32,), rtol=1e-5,
    unit="examples", edge_cases=(31, 7, 1))  # fmt: skip
def summed(x, dz):
    """dw and db of a dense layer."""
    return gradients(x, np.zeros((dz.shape[1], x.shape[1]), x.dtype), dz)[1:]


def judge(attempt):
    """Right at every size; then, by one product: as few steps and as little room for many."""
    refuse_means(attempt)
    said = check_op(summed, attempt, host)
    few, many = (steps_of(call, summed, attempt, summed.inputs(n), host) for n in (7, 31))
    refuse_loop(few, many, "7 and 31 examples", "which sum a matrix product does.")
    x, dz = summed.inputs(99)
    taken = peak_memory(Version(summed, "this", host, attempt, summed.rtol), x, dz)
    if taken > x.nbytes * dz.shape[1] / 2:
        raise Trouble(f"Right, but it takes {taken:,} bytes on the way: an outer product for "
                      "every example.", "a product, which adds as it goes.")  # fmt: skip
    return f"{said} One product, and the sum over the examples is inside it."


def refuse_means(attempt):
    """The gradient of a sum is a sum; who divides by the examples has another loss in mind."""
    x, dz = inputs = summed.inputs(31)
    got = call(summed, attempt, inputs, host)
    if len(got) == 2 and np.shape(got[1]) == (31,) and np.allclose(got[1], dz.sum(axis=1)):
        raise Trouble("db is summed over the outputs: a number for each example.",
                      "the axis of the examples.")  # fmt: skip
    if len(got) == 2 and np.shape(got[0]) == (17, 36) and np.allclose(got[0], -dz.T @ x, atol=1e-5):
        raise Trouble("The signs are wrong: dz is the slope already.", "the minus.")
    for mine, right in zip(got, summed(*inputs), strict=False):
        if np.shape(mine) == right.shape and np.allclose(np.multiply(mine, 31), right, atol=1e-5):
            raise Trouble("That is a mean over the examples, where their sum is due.",
                          "what divides by the number of examples.")  # fmt: skip


hints = (
    "dw[o, i] is a sum over the examples of dz[n, o] times x[n, i]. Which product of two "
    "matrices sums over its inner axis?",
    "return dz.T @ x, dz.sum(axis=0)",
)

exercise = Exercise(__name__, stub, solution, judge=judge, forbidden=(gradients,), hints=hints)
