"""The gradients of the weights and biases: the loop over the examples is a product."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import host
from gpulessons.grader import check as checking
from gpulessons.grader.diagnosis import Trouble, steps
from gpulessons.measure.peak_memory import peak_memory
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

wrong = [
    (solution, stub, "one after the other"),
    ("dz.T @ x", "x.T @ dz", "Wrong shape"),
    ("axis=0", "axis=1", "Wrong shape"),
    ("dz.T @ x", "dz.T @ x / len(x)", "a mean"),
    ("dz.sum(axis=0)", "dz.mean(axis=0)", "a mean"),
    ("dz.T @ x, dz.sum(axis=0)", "dz.T @ x", "1 results"),
    ("dz.T @ x", "(dz[:, :, None] * x[:, None, :]).sum(0)", "for every example"),
    ("dz.T @ x", "np.einsum('no,ni->noi', dz, x).sum(0)", "for every example"),
    ("dz.T @ x", "sum(np.outer(*each) for each in zip(dz, x))", "one after the other"),
    ("dz.T @ x", "np.array([each @ x for each in dz.T])", "one after the other"),
    ("dz.T @ x", "np.float32([[sum(a * b for a, b in zip(p, q)) for q in x.T.tolist()]"
     " for p in dz.T.tolist()])", "one after the other"),
    ("dz.T @ x, dz.sum(axis=0)", "dz.sum(axis=0), dz.T @ x", "Wrong shape"),
    ("dz.T @ x", "dz.T.astype(float) @ x", "Wrong dtype"),
    ("return", "dz *= 1.5\n    return", "changed its input"),
]

right = [
    ("dz.T @ x, dz.sum(axis=0)", "np.einsum('no,ni->oi', dz, x, optimize=True), np.sum(dz, 0)"),
    ("dz.T @ x, dz.sum(axis=0)", "(x.T @ dz).T, np.ones(len(dz), np.float32) @ dz"),
    ("return dz.T @ x, dz.sum(axis=0)",
     "both = dz.T @ np.hstack([x, np.ones((len(x), 1), np.float32)])\n"
     "    return both[:, :-1], both[:, -1]"),
    ("dz.T @ x", "(dz.T.astype(float) @ x).astype(x.dtype)"),
]


def layer(examples, rng):
    """x: (examples, inputs) and dz: (examples, outputs), float32."""
    inputs, outputs = examples + 5, examples // 2 + 2
    x = rng.standard_normal((examples, inputs), np.float32)
    return x, rng.standard_normal((examples, outputs), np.float32) / np.float32(examples)


@operation.op(inputs=layer, flops=lambda x, dz: 2 * x.size * dz.shape[1], sizes=(32,), rtol=1e-5,
              unit="examples", awkward=(31, 7, 1))  # fmt: skip
def op(x, dz):
    """dw and db of a dense layer."""
    return gradients(x, np.zeros((dz.shape[1], x.shape[1]), x.dtype), dz)[1:]


def judge(attempt):
    """Right at every size; then, by one product: as few steps and as little room for many."""
    refuse_means(attempt)
    said = checking.check_op(op, attempt, host)
    few, many = (steps(checking.call, op, attempt, op.inputs(n), host) for n in (7, 31))
    if many > few + 10:
        raise Trouble(f"Right, but {many - few:,} steps of Python more for 31 examples than for 7: "
                      "one after the other.", "which sum a matrix product does.")  # fmt: skip
    x, dz = op.inputs(99)
    taken = peak_memory(operation.Version(op, "this", host, attempt, op.rtol), x, dz)
    if taken > x.nbytes * dz.shape[1] / 2:
        raise Trouble(f"Right, but it takes {taken:,} bytes on the way: an outer product for "
                      "every example.", "a product, which adds as it goes.")  # fmt: skip
    return f"{said} One product, and the sum over the examples is inside it."


def refuse_means(attempt):
    """The gradient of a sum is a sum; who divides by the examples has another loss in mind."""
    inputs, got = checking.call(op, attempt, op.inputs(31), host)
    for mine, right in zip(got, op(*inputs), strict=False):
        if np.shape(mine) == right.shape and np.allclose(np.multiply(mine, 31), right, atol=1e-5):
            raise Trouble("That is a mean over the examples, where their sum is due.",
                          "what divides by the number of examples.")  # fmt: skip
