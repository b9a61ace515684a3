"""Sums of rows, ten times faster on a GPU that is not here: the model says what it waits for."""

import numpy as np

from gpulessons import units
from gpulessons.backends import gpu
from gpulessons.exercises.asking import named_kernels, problem
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.grader.waste import check_sectors
from gpulessons.operation import Case
from warplens.model.devices import named
from warplens.model.modelling import modelled_call

A100 = named("A100")
# Few rows, and long ones: a thread has far to walk alone, and few walk at a time. So smaller blocks
# do not reach a tenth, and what shares rows takes a fortieth: with and without machine code.
ROWS, COLUMNS = 512, 32_768
ENOUGH = 0.61e-3  # seconds: a tenth of what the stub needs


def some_rows(rows, rng, columns=88):
    """x: (rows, columns) float32: whole sectors, but no whole warp."""
    return (rng.standard_normal((rows, columns), np.float32) / np.float32(columns**0.5),)


# As many rows as at full size, too: a grid may not stop before them.
EDGES = 40, 33, Case(3, columns=1104), Case(1, columns=1104), Case(ROWS, columns=8)

row_sums = problem(some_rows, lambda x: x.sum(axis=1), rtol=1e-5, edge_cases=EDGES)

text = '''\
### BEGIN SOLUTION
from gpulessons.ops.reduce import block_reduce_sum  # adds up the 256 numbers of a block

@cuda.jit
def my_row_sums_kernel(x, out):
    i, total = cuda.blockIdx.x, np.float32(0)
    for k in range(cuda.threadIdx.x, x.shape[1], 256):
        total += x[i, k]
    total = block_reduce_sum(total)
    if cuda.threadIdx.x == 0:
        out[i] = total
### STUB
# On paper an A100 needs 6.1 ms for 512 rows of 32,768 columns. Make it a tenth.
@cuda.jit
def my_row_sums_kernel(x, out):
    i = cuda.grid(1)  # Your turn: a thread walks each row. What would it wait for?
    if i < x.shape[0]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[i, k]
        out[i] = total
### END SOLUTION

def my_row_sums(x):
    out = cuda.device_array(x.shape[0], x.dtype)
    ### BEGIN SOLUTION
    my_row_sums_kernel[x.shape[0], 256](x, out)
    ### STUB
    my_row_sums_kernel[(x.shape[0] + 255) // 256, 256](x, out)
    ### END SOLUTION
    return out
'''

mistakes = (
    ("only thread 0's own sum is in it.", "    total = block_reduce_sum(total)\n", ""),
    ("only the first 32 columns are in it.", "x.shape[1], 256)", "min(x.shape[1], 32), 256)"),
    ("only the first 256 columns are in it.", "x.shape[1], 256)", "min(x.shape[1], 256), 256)"),
)
WAITS = {
    "load/store path": "which numbers the 32 lanes of a warp read in the same iteration.",
    "latency": "how many iterations a thread makes, and how many threads there are.",
    "DRAM": "how often each number is loaded.",
}


def judge(attempt):
    """Right at small sizes, number by number; then quick by the model, at a size nobody runs."""
    launches = []
    hint = "how the lanes' sums come together, and where the loop over a row ends."
    known = named_kernels(text, row_sums, hint, mistakes)
    ran = check_op(row_sums, attempt, gpu, launches.extend, known)
    after = at_full_size(attempt)
    took = f"by the model an A100 takes {units.seconds(after.seconds)}"
    if after.seconds > ENOUGH:
        idle = f" {after.idle}." * bool(after.idle)
        hint = WAITS.get(after.limiter, "what each number costs beside its load.")
        raise Wasteful(f"{took}, where a tenth of the stub's 6.1 ms is expected: it is bound by "
                       f"{after.limiter}.{idle}", hint)  # fmt: skip
    # The model knows no limit to what an L1 cache holds, and a GPU does.
    check_sectors(launches, WAITS["load/store path"], "read")
    return (f"{ran} Now {took}; it is bound by {after.limiter}, then by {after.runner_up}. DRAM "
            f"alone would need {units.seconds(after.bounds['DRAM'])}.")


def at_full_size(attempt):
    """One call at the large size, Modelled; Mismatch where that cannot be."""
    x = np.zeros((ROWS, COLUMNS), np.float32)
    (after,) = modelled_call(lambda: attempt(gpu.put(x)), "my_row_sums", A100)
    if after.at_least:
        hint = "whether threads queue at one atomic, and where neighbors write."
        raise Wasteful(f"its time cannot be modelled. {after.why_at_least}", hint)
    return after


hints = (
    "Two things hold it up. The 32 lanes of a warp read from 32 rows: let them read 32 neighbors "
    "of one row, then add their sums. And how many of the 108 multiprocessors have a block? A "
    "block for each row gives work to all.",
    "for k in range(cuda.threadIdx.x, x.shape[1], 256):",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
