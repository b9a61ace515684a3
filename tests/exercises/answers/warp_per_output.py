"""Answers to `warp_per_output`: its solution with one edit each."""

from answers.coalesce_product import IDLE
from gpulessons.exercises import warp_per_output

solution, stub = warp_per_output.solution, warp_per_output.stub
LOOP = "while k < w.shape[1]:"

wrong = [
    (solution, stub, "sectors"),
    ("        total = warp_reduce_sum(total)\n", "", "only lane 0's own sum"),
    ("        if lane == 0:\n            out[row] = total", "        out[row] = total", "A race"),
    ("    if row < w.shape[0]:\n", "    if row <= w.shape[0]:\n", "outside"),
    ("(w.shape[0] + 7) // 8", "max(1, w.shape[0] // 8)", "never written"),
    (LOOP, "for k in range(w.shape[1]):", "every lane adds up the whole row"),
    (LOOP, "for k in range(3 * lane, min(3 * lane + 3, w.shape[1])):", "sectors"),
    (LOOP, "for k in range(lane * w.shape[1], w.shape[1]):", "sectors"),  # lane 0
    (LOOP, "while k < w.shape[1] // 32 * 32:", "the last columns are left out"),
    ("            out[row] = total", "            out[row] += total", "only added to"),
    ("= warp_reduce_sum(total)", "= warp_reduce_sum(total) if lane == 0 else total", "NaN"),
    (solution, IDLE.replace("(x, y)", "(y, x)"), "no kernel"),
    ("            total += w[row, k] * x[k]\n            k += 32",
     "            k += 32\n        total += w[row, k - 32] * x[k - 32]",
     "only the last product of each lane"),
]  # fmt: skip

right = [
    (LOOP, "for k in range(lane, w.shape[1], 32):"),
    ("w, out):", "weights, out):\n    w = weights"),
    ("cuda.grid(1) // 32, cuda.threadIdx.x & 31", "cuda.grid(1) >> 5, cuda.laneid"),
    ("total = warp_reduce_sum(total)",
     "for s in (16, 8, 4, 2, 1):\n            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, s)"),
    (solution, solution
     .replace("        total = warp_reduce_sum(total)\n        if lane == 0:\n    ", "")
     .replace("out[row] = total", "cuda.atomic.add(out, row, total)")
     .replace("device_array(w.shape[0], w.dtype)", "to_device(np.zeros(w.shape[0], w.dtype))")),
]  # fmt: skip
