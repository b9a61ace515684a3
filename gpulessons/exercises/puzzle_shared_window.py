"""Puzzle: three neighbors each, fetched once. A block shares its numbers, and two from outside."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, few_loads, normal, problem
from gpulessons.grader.waste import check_shared


def window_sum(x):
    """Each number and its two neighbors; beyond the ends there are zeros. (n,) to (n,)."""
    zero = np.zeros(1, x.dtype)
    return np.concatenate([zero, x[:-1]]) + x + np.concatenate([x[1:], zero])


text = '''\
@cuda.jit
def my_window_kernel(x, out):
    part = cuda.shared.array(66, np.float32)  # 64 for the block's own, and one on either side
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t + 1] = x[i] if i < x.size else np.float32(0)
    ### BEGIN SOLUTION
    if t == 0:
        part[0] = x[i - 1] if i > 0 else np.float32(0)
    if t == 63:
        part[65] = x[i + 1] if i + 1 < x.size else np.float32(0)
    cuda.syncthreads()
    ### STUB
    # Your turn: who fetches part[0] and part[65]? And who must wait before the next line?
    ### END SOLUTION
    if i < x.size:
        out[i] = part[t] + part[t + 1] + part[t + 2]

def my_window_sum(x):
    out = cuda.device_array_like(x)
    my_window_kernel[(x.size + 63) // 64, 64](x, out)
    return out
'''

hints = (
    "Thread 0 has no thread before it in its block, and thread 63 none after it: two more loads, "
    "with a guard each. Then a barrier.",
    "shared_window",
    "if t == 0:\n    part[0] = x[i - 1] if i > 0 else np.float32(0)",
)


def inspect(launches):
    """Right is not enough: 66 loads for 64 results, through shared memory."""
    check_shared(launches)
    few_loads(launches, 66 / 64, "the last line: what it adds lies in part.")


mistakes = (
    ("the first of each block lacks the neighbor before it.",
     "x[i - 1] if i > 0 else np.float32(0)", "np.float32(0)"),
    ("the neighbor after it is missing.",
     "part[t] + part[t + 1] + part[t + 2]", "part[t] + part[t + 1]"),
    ("the first takes the last for its neighbor: x[-1] is the end of x.",
     "x[i - 1] if i > 0 else np.float32(0)", "x[i - 1]"),
)  # fmt: skip

exercise = a_kernel(
    __name__, text, problem(normal(lambda n: [n]), window_sum),
    "the sum of three numbers of part, and who fills part[0] and part[65].",
    mistakes, hints, inspect,
)
