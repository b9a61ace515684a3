"""Take the input products out of the chain: one large product before the steps begin."""

import numpy as np

from gpulessons import checking
from gpulessons.backends import host
from gpulessons.diagnosis import Trouble
from gpulessons.ops.lstm_sequence import lstm_sequence as op

stub = '''\
import numpy as np
from gpulessons.ops.lstm_parts import array_unit

def my_sequence(x, h, c, w, u, b):
    """h after each step, and the last c. x: (steps, batch, inputs)."""
    hs = []
    for x_t in x:  # Your turn: which of the two products waits for nothing?
        sums = x_t @ w.T + h @ u.T + b
        h, c = array_unit(*np.split(sums, 4, axis=1), c)
        hs.append(h)
    return np.stack(hs), c
'''

solution = '''\
import numpy as np
from gpulessons.ops.lstm_parts import array_unit

def my_sequence(x, h, c, w, u, b):
    """h after each step, and the last c. x: (steps, batch, inputs)."""
    hs = []
    rows = x.reshape(-1, x.shape[2]) @ w.T + b
    for known in rows.reshape(len(x), len(h), -1):
        sums = known + h @ u.T
        h, c = array_unit(*np.split(sums, 4, axis=1), c)
        hs.append(h)
    return np.stack(hs), c
'''

wrong = [
    (solution, stub, "10 products"),
    ("@ w.T + b", "@ w.T", "Wrong at size"),
    ("known + h", "known + b + h", "Wrong at size"),
    ("reshape(len(x), len(h), -1)", "reshape(len(h), len(x), -1)", "ValueError"),
    ("return np.stack(hs), c", "return np.stack(hs)", "1 results"),
    ("return np.stack(hs), c", "return h, c", "Wrong shape"),
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "np.stack([x_t @ w.T for x_t in x]) + b",
     "10 products"),
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "x @ w.T + b", "a product for each step"),
]  # fmt: skip


class Counted(np.ndarray):
    """An array that counts the products it takes part in, and those of a stack one by one."""

    products = stacks = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [x.view(np.ndarray) if isinstance(x, Counted) else x for x in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            Counted.products += 1
            Counted.stacks += np.ndim(result) > 2
        return np.asarray(result).view(Counted)


def judge(attempt):
    """Right at every size; then, on arrays that count, one product for each step and one more."""
    said = checking.check_op(op, attempt, host)
    inputs = [each.view(Counted) for each in op.inputs(5)]
    Counted.products = Counted.stacks = 0
    attempt(*inputs)
    steps = len(inputs[0])
    if Counted.stacks:
        raise Trouble(
            "Right, but a stack of matrices is multiplied one by one: a product for each step.",
            "how to make all steps rows of one matrix.",
        )
    if Counted.products > steps + 1:
        raise Trouble(
            f"Right, but in {Counted.products} products for {steps} steps; {steps + 1} will do.",
            "which product needs nothing of the step before.",
        )
    return f"{said} {Counted.products} products for {steps} steps: only h uᵀ is left in the chain."
