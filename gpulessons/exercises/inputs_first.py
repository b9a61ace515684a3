"""Take the input products out of the chain: one large product before the steps begin."""

import numpy as np

from gpulessons.backends import host
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.counted_products import count_products
from gpulessons.grader.diagnosis import Trouble
from gpulessons.ops.lstm_sequence import lstm_sequence

stub = '''\
import numpy as np
from gpulessons.ops.lstm_cell import array_unit

def my_sequence(x, h, c, w, u, b):
    """h after each step, and the last c. x: (steps, batch, inputs)."""
    hs = []
    for x_t in x:  # Your turn: which of the two products waits for nothing?
        preactivations = x_t @ w.T + h @ u.T + b
        h, c = array_unit(*np.split(preactivations, 4, axis=1), c)
        hs.append(h)
    return np.stack(hs), c
'''

solution = '''\
import numpy as np
from gpulessons.ops.lstm_cell import array_unit

def my_sequence(x, h, c, w, u, b):
    """h after each step, and the last c. x: (steps, batch, inputs)."""
    hs = []
    rows = x.reshape(-1, x.shape[2]) @ w.T + b
    for known in rows.reshape(len(x), len(h), -1):
        preactivations = known + h @ u.T
        h, c = array_unit(*np.split(preactivations, 4, axis=1), c)
        hs.append(h)
    return np.stack(hs), c
'''

MISTAKES = tuple(
    (sentence, "how often b is added in each step: once.",
     lambda x, h, c, w, u, b, times=times: lstm_sequence(x, h, c, w, u, times * b))
    for sentence, times in (("the bias is forgotten.", 0), ("the bias is added twice.", 2))
)  # fmt: skip


def judge(attempt):
    """Right at every size; then, on arrays that tell, one product for each step and one more."""
    said = check_op(lstm_sequence, attempt, host, mistakes=MISTAKES)
    inputs, products = count_products(lstm_sequence.inputs(lstm_sequence.edge_cases[0]))
    attempt(*inputs)
    steps, hidden = len(inputs[0]), inputs[1].shape[1]
    if not products:
        raise Trouble("Right, but nobody can count its products.",
                      "np.asarray and the like: take the arrays as they are.")  # fmt: skip
    if any(made is np.matmul and max(map(len, shapes)) > 2 for made, shapes in products):
        raise Trouble(
            "Right, but a stack of matrices is multiplied one by one: a product for each step.",
            "how to make all steps rows of one matrix.",
        )
    hint = "which product needs nothing of the step before."
    if len(products) > steps + 1:
        raise Trouble(
            f"Right, but in {len(products)} products for {steps} steps; {steps + 1} will do.", hint
        )
    fed = sum(any(hidden not in shape for shape in shapes) for _, shapes in products)
    if fed > 1:
        raise Trouble(f"Right, but {fed} products have the inputs in them; one will do.", hint)
    return f"{said} {len(products)} products for {steps} steps: only h uᵀ is left in the chain."


exercise = Exercise(__name__, stub, solution, judge=judge)
