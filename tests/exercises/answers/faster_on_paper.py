"""Answers to `faster_on_paper`: its solution with one edit each."""

from gpulessons.exercises import faster_on_paper

solution, stub = faster_on_paper.solution, faster_on_paper.stub
LAUNCH = "[(x.shape[0] + 7) // 8, 256]"

A_BLOCK_A_ROW = """\
@cuda.jit
def my_row_sums_kernel(x, out):
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(t, x.shape[1], 256):
        total += x[cuda.blockIdx.x, k]
    part[t] = total
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]

def my_row_sums(x):
    out = cuda.device_array(x.shape[0], x.dtype)
    my_row_sums_kernel[x.shape[0], 256](x, out)
    return out
"""

# Each lane takes a part of the row in one piece.
PIECES = solution.replace(
    "for k in range(lane, x.shape[1], 32):",
    "size = (x.shape[1] + 31) // 32\n"
    "        for k in range(lane * size, min(lane * size + size, x.shape[1])):",
)

# All 32 lanes of a warp add to one number.
ATOMIC = (
    solution.replace("        total = warp_reduce_sum(total)\n        if lane == 0:\n    ", "")
    .replace("out[i] = total", "cuda.atomic.add(out, i, total)")
    .replace("device_array(x.shape[0], x.dtype)", "to_device(np.zeros(x.shape[0], x.dtype))")
)

BORROWED = """\
from gpulessons.exercises import faster_on_paper as theirs

def my_row_sums(x):
    out = cuda.device_array(x.shape[0], x.dtype)
    theirs.lesson.a_thread_a_row[(x.shape[0] + 31) // 32, 32](x, out)
    return out
"""

IDLE = """\
@cuda.jit
def my_row_sums_kernel(out):
    pass

def my_row_sums(x):
    out = cuda.to_device(x.copy_to_host().sum(axis=1))
    my_row_sums_kernel[1, 32](out)
    return out
"""

wrong = [
    (solution, stub, "38 of 40 multiprocessors have no block"),
    (solution, stub.replace("255) // 256, 256", "31) // 32, 32"), "it waits for latency"),
    (solution, stub.replace("255) // 256, 256", "1023) // 1024, 1024"), "a tenth of the stub's"),
    (solution, PIECES, "it knows no limit to L1"),
    (
        "i, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32\n    if i < x.shape[0]:",
        "lane = cuda.threadIdx.x\n    for i in range(x.shape[0]):",
        "A race",
    ),
    (
        solution,
        solution.replace("cuda.grid(1) // 32,", "0,")
        .replace(LAUNCH, "[1, 32]")
        .replace("if i < x.shape[0]:", "for i in range(x.shape[0]):"),
        "it waits for latency",
    ),
    ("        if lane == 0:\n            out[i] = total", "        out[i] = total", "A race"),
    ("        total = warp_reduce_sum(total)\n", "", "only lane 0's own sum"),
    ("    if i < x.shape[0]:\n", "    if i <= x.shape[0]:\n", "outside"),
    ("(x.shape[0] + 7) // 8", "max(1, x.shape[0] // 8)", "never written"),
    (
        "for k in range(lane, x.shape[1], 32):\n            total += x[i, k]",
        "if lane < x.shape[1]:\n            total = x[i, lane]",
        "the first 32 columns",
    ),
    (
        solution,
        A_BLOCK_A_ROW.replace("for k in range(t, x.shape[1], 256):", "if t < x.shape[1]:").replace(
            "Idx.x, k]", "Idx.x, t]"
        ),
        "the first 256 columns",
    ),
    (solution, A_BLOCK_A_ROW.replace("        cuda.syncthreads()\n", ""), "A race"),
    (LAUNCH, "[(x.shape[0] + 7) // 8 if x.shape[0] < 99 else 9, 256]", "does not read all of x"),
    ("x.shape[1], 32)", "x.shape[1] if x.shape[1] < 9999 else 9999, 32)", "does not read all of x"),
    (LAUNCH, "[(x.shape[0] + 7) // 8 if x.shape[0] < 99 else 999, 256]", "does not read all of x"),
    (
        "    my_row_sums_kernel",
        "    if x.shape[0] > 99:\n        return out\n    my_row_sums_kernel",
        "launches no kernel",
    ),
    (solution, IDLE, "no kernel computed it"),
    (solution, BORROWED, "the course's own"),
    ("x.dtype)", "np.float64)", "Wrong dtype"),
    ("return out", "return out[:1]", "Wrong shape"),
    (
        "def my_row_sums(x):\n",
        "def my_row_sums(x):\n    return np.zeros(x.shape[0])\n",
        "launched no kernel",
    ),
    (solution, ATOMIC, "threads wait for each other at the atomic in line"),
]

right = [
    (solution, A_BLOCK_A_ROW, "it waits for DRAM"),
    (LAUNCH, "[x.shape[0], 32]", "times less"),
    ("total = warp_reduce_sum(total)",
     "for s in (16, 8, 4, 2, 1):\n            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, s)"),
    (solution, solution.replace("i, lane = cuda.grid(1) // 32,", "i, lane = cuda.blockIdx.x,")
     .replace("threadIdx.x % 32", "threadIdx.x").replace("lane, x.shape[1], 32", "lane, "
     "x.shape[1], 64")
     .replace("if lane == 0:", "if lane % 32 == 0:").replace("out[i] = total",
     "cuda.atomic.add(out, i, total)").replace(LAUNCH, "[x.shape[0], 64]")
     .replace("device_array(x.shape[0], x.dtype)", "to_device(np.zeros(x.shape[0], x.dtype))")),
]  # fmt: skip
