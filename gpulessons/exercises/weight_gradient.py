"""The gradients of the weights and biases: the loop over the examples is a product."""

from gpulessons.backends import host
from gpulessons.exercises.asking import named, normal, problem, solved
from gpulessons.grader.check import Exercise, call, check_op
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.grader.waste import check_steps, memory_of, steps_of
from gpulessons.ops.dense import gradients

text = '''\
def my_gradients(x, dz):
    """dw and db. x: (examples, inputs), dz: (examples, outputs); dw: (outputs, inputs)."""
    ### BEGIN SOLUTION
    return dz.T @ x, dz.sum(axis=0)
    ### STUB
    dw, db = 0, 0
    for example in range(len(x)):  # Your turn: no loop. One product, and one sum.
        dw = dw + dz[example][:, None] * x[example]
        db = db + dz[example]
    return dw, db
    ### END SOLUTION
'''

summed = problem(normal(lambda n: [(n, n + 5), (n, n // 2 + 2)]), solved(text),
                 rtol=1e-5, edge_cases=(31, 7, 1))  # fmt: skip

mistakes = (
    ("The signs are wrong: dz is the slope already.",
     "dz.T @ x, dz.sum(axis=0)", "-dz.T @ x, -dz.sum(axis=0)"),
    ("dw is a mean over the examples, where their sum is expected.",
     "dz.T @ x", "dz.T @ x / len(x)"),
    ("db is a mean over the examples, where their sum is expected.", "dz.sum", "dz.mean"),
)  # fmt: skip


def judge(attempt):
    """Right at every size; then, by one product: as few steps and as little room for many."""
    known = named(text, "the sum over the examples: no minus, and no division.", mistakes)
    ran = check_op(summed, attempt, host, mistakes=known)
    few, many = (steps_of(call, summed, attempt, summed.inputs(n), host) for n in (7, 31))
    check_steps(few, many, "7 and 31 examples", "which sum a matrix product does.")
    x, dz = inputs = summed.inputs(99)
    if (taken := memory_of(call, summed, attempt, inputs, host)) > x.nbytes * dz.shape[1] / 2:
        raise Wasteful(f"it takes {taken:,} bytes on the way: an outer product for every example.",
                       "a product, which adds as it goes.")  # fmt: skip
    return f"{ran} One product, and the sum over the examples is inside it."


hints = (
    "dw[o, i] is a sum over the examples of dz[n, o] times x[n, i]. Which product of two "
    "matrices sums over its inner axis?",
    "return dz.T @ x, dz.sum(axis=0)",
)

exercise = Exercise(__name__, text, judge=judge, forbidden=(gradients,), hints=hints)
