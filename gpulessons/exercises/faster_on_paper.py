"""Sums of rows, ten times faster on a GPU that is not here: the model says what it waits for."""

from functools import cache

import numpy as np
from numba import cuda

from gpulessons import units
from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.diagnosis import Mismatch, Wasteful
from gpulessons.grader.waste import check_sectors
from gpulessons.operation import Case, op
from warplens.model.devices import named
from warplens.model.modelling import CannotModel, modelled, modelled_call

T4 = named("T4")
# Few rows, and long ones: a thread has far to walk alone, and few walk at a time. So smaller blocks
# do not reach a tenth, and what shares rows takes a sixteenth: with and without machine code.
ROWS, COLUMNS = 512, 32_768
TIMES_LESS = 10


def some_rows(rows, rng, columns=88):
    """x: (rows, columns) float32: whole sectors, but no whole warp."""
    return (rng.standard_normal((rows, columns), np.float32) / np.float32(columns**0.5),)


@op(inputs=some_rows, flops=lambda x: x.size, sizes=(512,), rtol=1e-5, unit="rows",
    edge_cases=(40, 33, Case(3, columns=1104), Case(1, columns=1104)))  # fmt: skip
def row_sums(x):
    """The sum of each row of x: (rows, columns). Returns (rows,)."""
    return x.sum(axis=1)


text = '''\
### BEGIN SOLUTION
from gpulessons.ops.reduce import warp_reduce_sum  # adds up the 32 numbers of a warp

@cuda.jit
def my_row_sums_kernel(x, out):
    i, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    if i < x.shape[0]:
        total = np.float32(0)
        for k in range(lane, x.shape[1], 32):
            total += x[i, k]
        total = warp_reduce_sum(total)
        if lane == 0:
            out[i] = total
### STUB
# On paper a T4 needs 5.3 ms for 512 rows of 32,768 columns. Make it a tenth.
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
    my_row_sums_kernel[(x.shape[0] + 7) // 8, 256](x, out)
    ### STUB
    my_row_sums_kernel[(x.shape[0] + 255) // 256, 256](x, out)
    ### END SOLUTION
    return out
'''


@cuda.jit
def a_thread_a_row(x, out):
    """The stub's kernel, to be compared with."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[i, k]
        out[i] = total


@cache
def before():
    x, out = np.zeros((ROWS, COLUMNS), np.float32), np.zeros(ROWS, np.float32)
    return modelled(a_thread_a_row, on=T4)[(ROWS + 255) // 256, 256](x, out)


mistakes = (
    ("only lane 0's own sum is in it.", "how the lanes' sums come together.",
     lambda x: x[:, ::32].sum(axis=1)),
    ("only the first 32 columns are in it.", "the loop: a row may be longer than a warp.",
     lambda x: x[:, :32].sum(axis=1)),
    ("only the first 256 columns are in it.", "the loop: a row may be longer than a block.",
     lambda x: x[:, :256].sum(axis=1)),
)  # fmt: skip
WAITS = {
    "load/store path": "which numbers the 32 lanes of a warp read in the same iteration.",
    "latency": "how many iterations a thread makes, and how many threads there are.",
    "DRAM": "how often each number is loaded.",
}


def judge(attempt):
    """Right at small sizes, number by number; then quick by the model, at a size nobody runs."""
    launches = []
    ran = check_op(row_sums, attempt, gpu, launches.extend, mistakes)
    after, stub = at_full_size(attempt), before()
    took = f"by the model a T4 takes {units.seconds(after.seconds)}"
    if after.bounds["DRAM"] < 0.9 * 4 * ROWS * COLUMNS / (T4.dram_rate * T4.dram_share):
        hint = "how many blocks there are, and which rows they take."
        raise Mismatch("Right at small sizes; but here the grid does not read all of x.", hint)
    if after.seconds * TIMES_LESS > stub.seconds:
        idle = f" {after.idle}." * bool(after.idle)
        raise Wasteful(
            f"{took}, where a tenth of the stub's {units.seconds(stub.seconds)} is expected: it "
            f"is bound by {after.limiter}.{idle}",
            WAITS.get(after.limiter, "what each number costs beside its load."),
        )
    # The model knows no limit to what an L1 cache holds, and a GPU does.
    check_sectors(launches, WAITS["load/store path"], "read")
    source = " (counted from the source alone)" * (after.counted_from == "source")
    return (f"{ran} Now {took}{source}, {stub.seconds / after.seconds:.0f} times less; it is bound "
            f"by {after.limiter}, then by {after.runner_up}.")  # fmt: skip


def at_full_size(attempt):
    """One call at the large size, Modelled; Mismatch where that cannot be."""
    x, name = np.zeros((ROWS, COLUMNS), np.float32), getattr(attempt, "__name__", "It")
    try:
        (after,) = modelled_call(lambda: attempt(gpu.put(x)), name, T4)
    except CannotModel as why:
        raise Mismatch(f"Right, but it cannot be modelled at {ROWS:,} × {COLUMNS:,}: {why}",
                       "what it launches there.") from why  # fmt: skip
    if after.at_least:
        hint = "whether threads queue at one atomic, and where neighbors write."
        raise Wasteful(f"its time cannot be modelled. {after.why_at_least}", hint)
    return after


hints = (
    "Two things hold it up. The 32 lanes of a warp read from 32 rows: let them read 32 neighbors "
    "of one row, then add the lanes' sums. And how many of the 40 multiprocessors have a block? A "
    "warp for each row needs 32 times as many threads.",
    "i, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
