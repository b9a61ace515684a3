"""Four examples through a layer: a warp fetches each weight of its row once, for all of them."""

from numba import cuda

from gpulessons.exercises.asking import a_kernel, few_loads, normal, problem
from gpulessons.grader.waste import check_sectors

EXAMPLES, INPUTS = 4, 88  # whole sectors, but no whole warps

product = problem(normal(lambda n: [(EXAMPLES, INPUTS), (n, INPUTS)]), lambda x, w: x @ w.T,
                  rtol=1e-5, edge_cases=(40, 33, 9))  # fmt: skip

text = '''\
from gpulessons.ops.reduce import warp_reduce_sum  # adds up the 32 numbers of a warp

@cuda.jit
def my_layer_kernel(x, w, out):  # x: (4, inputs), w: (outputs, inputs), out: (4, outputs)
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    ### BEGIN SOLUTION
    totals = cuda.local.array(4, np.float32)
    for i in range(4):
        totals[i] = 0
    for k in range(lane, w.shape[1], 32):
        weight = w[row, k]
        for i in range(4):
            totals[i] += x[i, k] * weight
    for i in range(4):
        total = warp_reduce_sum(totals[i])
        if lane == 0:
            out[i, row] = total
    ### STUB
    for i in range(4):  # Your turn: every example fetches the whole row of weights again.
        total = np.float32(0)
        for k in range(lane, w.shape[1], 32):
            total += x[i, k] * w[row, k]
        total = warp_reduce_sum(total)
        if lane == 0:
            out[i, row] = total
    ### END SOLUTION
'''


def launcher(kernel):
    def my_layer(x, w):
        out = cuda.device_array((EXAMPLES, w.shape[0]), w.dtype)
        kernel[w.shape[0], 32](x, w, out)
        return out
    return my_layer


mistakes = (
    ("only lane 0's own sum is in it.", "warp_reduce_sum(totals[i])", "totals[i]"),
    ("the first example is missing: its sum never grows.",
     "        for i in range(4):\n            totals[i] +=",
     "        for i in range(1, 4):\n            totals[i] +="),
    ("the last columns are left out, those that fill no whole warp.",
     "w.shape[1], 32):", "w.shape[1] // 32 * 32, 32):"),
)  # fmt: skip

hints = (
    "Which of the two loops must be the outer one, so that a weight, once fetched, meets every "
    "example? Then each example needs a sum of its own.",
    "totals = cuda.local.array(4, np.float32)\n"
    "weight = w[row, k]",
)

ORDER = "the order of the loops: what stays in a register while the other moves on."


def inspect(launches):
    """Neighbors read neighbors, and each weight is loaded for four examples at once."""
    check_sectors(launches, "which k each lane of a warp reads in the same turn.")
    few_loads(launches, (1 + 1 / EXAMPLES) * INPUTS, ORDER)


exercise = a_kernel(__name__, text, product, ORDER, mistakes, hints, inspect, launcher)
