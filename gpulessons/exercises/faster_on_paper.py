"""Sums of rows, ten times faster on a GPU that is not here: the model says what it waits for."""

from functools import cache

import numpy as np
from numba import cuda

from gpulessons import units
from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.diagnosis import Trouble, refuse_idle
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


stub = """\
# On paper a T4 needs 5.3 ms for 512 rows of 32,768 columns. Make it a tenth.
@cuda.jit
def my_row_sums_kernel(x, out):
    i = cuda.grid(1)  # Your turn: a thread walks each row. What would it wait for?
    if i < x.shape[0]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[i, k]
        out[i] = total

def my_row_sums(x):
    out = cuda.device_array(x.shape[0], x.dtype)
    my_row_sums_kernel[(x.shape[0] + 255) // 256, 256](x, out)
    return out
"""

solution = """\
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

def my_row_sums(x):
    out = cuda.device_array(x.shape[0], x.dtype)
    my_row_sums_kernel[(x.shape[0] + 7) // 8, 256](x, out)
    return out
"""


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


def judge(attempt):
    """Right at small sizes, number by number; then quick on paper, at a size that nobody runs."""
    launches = []
    said = check_op(row_sums, attempt, gpu, launches.extend, mistakes)
    refuse_idle(launches)
    after = on_paper(attempt)
    refuse_unread(after)
    refuse_slow(after)
    refuse_lines_of_their_own(launches)
    times = before().seconds / after.seconds
    told = f"{units.seconds(after.seconds)} instead of {units.seconds(before().seconds)}"
    source = " (counted from the source alone)" * (after.counted_from == "source")
    return (f"{said} On paper a T4 takes {told}{source}, {times:.0f} times less; it waits for "
            f"{after.limiter}, then for {after.runner_up}.")  # fmt: skip


def on_paper(attempt):
    """One call at the large size, Modelled; Trouble where that cannot be."""
    x, name = np.zeros((ROWS, COLUMNS), np.float32), getattr(attempt, "__name__", "It")
    try:
        (after,) = modelled_call(lambda: attempt(gpu.put(x)), name, T4)
    except CannotModel as trouble:
        raise Trouble(f"Right, but it cannot be modelled at {ROWS:,} × {COLUMNS:,}: {trouble}",
                      "what it launches there.") from trouble  # fmt: skip
    if after.at_least:
        raise Trouble(f"Right, but its time cannot be modelled. {after.why_at_least}",
                      hint_of(after))  # fmt: skip
    return after


def hint_of(after):
    """What to do instead of what the model has no upper end for."""
    if "atomic" in after.why_at_least:
        return ("threads that queue at one atomic: the model cannot time them. Add up in shared "
                "memory first, with a tree; lane 0 alone writes.")  # fmt: skip
    return "where neighboring threads write: neighboring elements need fewer sectors."


def refuse_unread(after):
    """Trouble where it is quick because it does less: three blocks are traced, no sum compared."""
    whole = 4 * ROWS * COLUMNS / (T4.dram_rate * T4.dram_share)
    if after.bounds["DRAM"] < 0.9 * whole:
        raise Trouble(
            f"Right at small sizes; but of {ROWS:,} × {COLUMNS:,} the grid, judged by the blocks "
            f"in its middle, does not read all of x: that takes DRAM {units.seconds(whole)}, and "
            f"here it is busy for {units.seconds(after.bounds['DRAM'])}.",
            "how many blocks there are, and which rows they take.",
        )


WAITS = {
    "load/store path": "which numbers the 32 lanes of a warp read in the same turn.",
    "latency": "how many turns a thread waits one after the other, and how many threads there are.",
    "DRAM": "how often each number is fetched.",
}


def refuse_slow(after):
    """Trouble, with what it waits for, unless it takes at most a tenth of the stub's time."""
    if after.seconds * TIMES_LESS <= before().seconds:
        return
    first, then = (f"{part} ({units.seconds(after.bounds[part])})" for part in after.ranked[:2])
    raise Trouble(
        f"Right, but on paper a T4 takes {units.seconds(after.seconds)}, where a tenth of the "
        f"stub's {units.seconds(before().seconds)} is due: it waits for {first}, then for {then}."
        + f" {after.idle}." * bool(after.idle),
        WAITS.get(after.limiter, "what each number costs beside its load and its addition."),
    )


def refuse_lines_of_their_own(launches):
    """Trouble where the model is too kind: it knows no limit to what an L1 cache keeps."""
    for launch in launches:
        for site in launch.coalescing(access="read").sites:
            if site.sectors > 4 * site.requests:
                raise Trouble(
                    f"Right, and quick on paper; but a read of {site.array} touches "
                    f"{site.sectors / site.requests:.3g} sectors, where 4 would do. The model "
                    "trusts L1 to keep the rest of each until it is read: it knows no limit to "
                    "L1, and a GPU does.",
                    "which numbers the 32 lanes of a warp read in the same turn.",
                )


hints = (
    "Two things hold it up. The 32 lanes of a warp read from 32 rows: let them read 32 neighbors "
    "of one row, then add the lanes' sums. And how many of the 40 multiprocessors have a block? A "
    "warp for each row needs 32 times as many threads.",
    "i, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
