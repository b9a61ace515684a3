"""Answers to `agree`: its solution with one edit each, and the other forms that waste nothing."""

from gpulessons.exercises import agree

KERNEL = agree.solution[: agree.solution.index("\ndef my_scanlines")]
BODY = KERNEL[KERNEL.index("    t, first") :]

FAR_APART = """\
    k, half = cuda.grid(1), x.size // 2
    if k < half:
        i = 2 * k
        out[i] = x[i] + x[i] - x[i] * x[i]
    else:
        i = 2 * (k - half) + 1
        out[i] = x[i] * x[i]
"""
PAIR = """\
    i = 2 * cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i] - x[i] * x[i]
        out[i + 1] = x[i + 1] * x[i + 1]
"""
SELECT = """\
    i = cuda.grid(1)
    square = x[i] * x[i]
    out[i] = square if i % 2 else x[i] + x[i] - square
"""
ARITHMETIC = """\
    i = cuda.grid(1)
    odd, square = i % 2, x[i] * x[i]
    out[i] = odd * square + (1 - odd) * (x[i] + x[i] - square)
"""

wrong = [
    ("if t < 32:", "if t % 2 == 0:", "outside"),
    ("2 * (t - 32) + 1", "2 * (t - 32)", "A race"),
    ("x.size // 64, 64](x, out)", "x.size // 64, 32](x, out)", "never written"),
    ("        out[i] = x[i] * x[i]", "        out[i] = x[i]", "odd places are copied"),
    ("t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x",
     "i, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x\n    t = i // 2 + i % 2 * 32",
     "lanes wait"),
    (BODY, FAR_APART, "2 times the sectors"),
    ("x[i] + x[i] - x[i] * x[i]", "x[i] + x[i]", "even places lack their x²"),
    ("x.size // 64, 64](x, out)", "x.size // 64, 64](x, x)", "changed its input"),
]  # fmt: skip

right = [(BODY, PAIR), (BODY, SELECT), (BODY, ARITHMETIC)]
