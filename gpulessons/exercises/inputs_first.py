"""Take the input products out of the chain: one large product before the steps begin."""

from typing import ClassVar

import numpy as np

from gpulessons.backends import host
from gpulessons.exercises.asking import named
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.ops.lstm_sequence import lstm_sequence

text = '''\
import numpy as np
from gpulessons.ops.lstm_cell import array_unit

def my_sequence(x, h, c, w, u, b):
    """h after each step, and the last c. x: (steps, batch, inputs)."""
    hs = []
    ### BEGIN SOLUTION
    rows = x.reshape(-1, x.shape[2]) @ w.T + b
    for known in rows.reshape(len(x), len(h), -1):
        preactivations = known + h @ u.T
        h, c = array_unit(*np.split(preactivations, 4, axis=1), c)
        hs.append(h)
    ### STUB
    for x_t in x:  # Your turn: which of the two products waits for nothing?
        preactivations = x_t @ w.T + h @ u.T + b
        h, c = array_unit(*np.split(preactivations, 4, axis=1), c)
        hs.append(h)
    ### END SOLUTION
    return np.stack(hs), c
'''

mistakes = (
    ("the bias is forgotten.", "@ w.T + b", "@ w.T"),
    ("the bias is added twice.", "known + h", "known + b + h"),
)


class Counted(np.ndarray):
    """What is made of one is one too; `shapes` are those of the factors of each matrix product."""

    __array_priority__ = 1  # so that np.concatenate keeps the class
    shapes: ClassVar[list] = []

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if ufunc in (np.matmul, np.multiply):  # a product may be written as one, and added up
            Counted.shapes.append([np.shape(each) for each in inputs])
        arrays = [np.asarray(each) for each in inputs]
        result = getattr(ufunc, method)(*arrays, out=tuple(map(np.asarray, out)) or None, **options)
        return out[0] if out else np.asarray(result).view(Counted)

    def __array_function__(self, function, types, inputs, options):
        if function is np.dot:
            return inputs[0] @ inputs[1]
        if function in (np.einsum, np.tensordot, np.inner):
            plain = [each if isinstance(each, str | int) else np.asarray(each) for each in inputs]
            Counted.shapes.append([each.shape for each in plain if isinstance(each, np.ndarray)])
            return np.asarray(function(*plain, **options)).view(Counted)
        return super().__array_function__(function, types, inputs, options)

    def dot(self, other):
        return self @ other


def judge(attempt):
    """Right at every size; then, on arrays that tell, one product with the inputs in it."""
    known = named(text, "how often b is added in each step: once.", mistakes)
    ran = check_op(lstm_sequence, attempt, host, mistakes=known)
    inputs = lstm_sequence.inputs(lstm_sequence.edge_cases[0])
    (steps, _, fan_in), hidden, Counted.shapes = inputs[0].shape, inputs[1].shape[1], []
    attempt(*(np.array(each).view(Counted) for each in inputs))
    fed = sum(any({fan_in, fan_in + hidden} & {*factor} for factor in factors)
              for factors in Counted.shapes)
    if fed != 1:
        raise Wasteful(f"{fed} products have the inputs in them; one will do.",
                       "which product needs nothing of the step before.")  # fmt: skip
    return f"{ran} {steps + 1} products for {steps} steps: only h uᵀ is left in the chain."


exercise = Exercise(__name__, text, judge=judge)
