"""The gradients of the weights and biases: the loop over the examples is a product."""

import numpy as np

from gpulessons import checking, operation
from gpulessons.backends import host
from gpulessons.diagnosis import Trouble
from gpulessons.ops.dense_backward import gradients

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


class Counted(np.ndarray):
    """An array that counts the operations it takes part in, and the numbers that they make."""

    made = operations = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [x.view(np.ndarray) if isinstance(x, Counted) else x for x in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        Counted.operations += 1
        Counted.made += np.size(result)
        return np.asarray(result).view(Counted)


def judge(attempt):
    """Right at every size; then, on arrays that count, by one product."""
    refuse_means(attempt)
    said = checking.check_op(op, attempt, host)
    x, dz = (each.view(Counted) for each in op.inputs(31))
    Counted.made = Counted.operations = 0
    attempt(x, dz)
    if Counted.operations > 8:
        raise Trouble(f"Right, but in {Counted.operations} operations: 31 examples, one after the "
                      "other.", "which sum over the examples a matrix product does.")  # fmt: skip
    if Counted.made > 4 * dz.shape[1] * (x.shape[1] + 1):
        raise Trouble(f"Right, but it made {Counted.made:,} numbers on the way: an outer product "
                      "for every example.", "a product, which adds as it goes.")  # fmt: skip
    return f"{said} One product, and the sum over the examples is inside it."


def refuse_means(attempt):
    """The gradient of a sum is a sum; who divides by the examples has another loss in mind."""
    x, dz = op.inputs(31)
    got, due = checking.run(attempt, (x.copy(), dz.copy()), {}), op(x, dz)
    for mine, right in zip(got if isinstance(got, tuple) else (), due, strict=False):
        if np.shape(mine) == right.shape and np.allclose(np.multiply(mine, 31), right, atol=1e-5):
            raise Trouble("That is a mean over the examples, where their sum is due.",
                          "what divides by the number of examples.")  # fmt: skip
