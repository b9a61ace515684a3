"""Answers to `row_softmax`: its solution with one edit each."""

from gpulessons.exercises import row_softmax

solution, stub = row_softmax.solution, row_softmax.stub

WALK = "    for j in range(lane, x.shape[1], 32):\n        "
SUM = solution[solution.index(WALK + "total") : solution.index(WALK + "out")]
wrong = [
    (solution, stub, "sectors"),
    ("        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)", "        pass",
     "each lane divides by a sum of its own"),
    ("        row_max = max(row_max, cuda.shfl_xor_sync(0xFFFFFFFF, row_max, step))",
     "        pass", "each lane subtracts a maximum of its own"),
    ("    for j in range(lane, x.shape[1], 32):\n        out",
     "    for j in range(lane, 32, 32):\n        out",
     "columns 32 to 39 of out (32 × 40) were never written"),
    ("[x.shape[0], 32]", "[1, 32]", "rows 1 to 31 of out (32 × 40) were never"),
    ("[x.shape[0], 32]", "[x.shape[0] + 1, 32]", "outside"),
    ("exp(x[i, j] - row_max)", "exp(x[i, j])", "NaN"),
    ("x[i, lane], np.float32(0)", "np.float32(0), np.float32(0)", "NaN"),
    ("x.shape[1], 32", "40, 32", "At size 5"),
    ("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)", "lanes 1 apart never exchange"),
    ("(16, 8, 4, 2, 1)", "(8, 4, 2, 1)", "lanes 16 apart never exchange"),
    (SUM, SUM.partition("    for step")[0].replace("lane, x.shape[1], 32", "x.shape[1]"),
     "loads for each number"),
]  # fmt: skip
right = [
    ("x[i, lane], np.float32(0)", "-math.inf, 0.0"),
    ("i, lane = cuda.blockIdx.x, cuda.threadIdx.x", "i, lane = cuda.blockIdx.x, cuda.laneid"),
    ("(x):\n    out = cuda.device_array_like(x)", "(x, out):"),
]
