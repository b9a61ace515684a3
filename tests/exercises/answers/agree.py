"""Answers to `agree`: its solution with one edit each."""

wrong = [
    ("if k < half:", "if k % 2 == 0:", "outside"),
    ("2 * (k - half) + 1", "2 * (k - half)", "A race"),
    ("x.size // 64, 64", "x.size // 64, 32", "never written"),
    ("k < half", "k >= half", "outside"),
    ("        out[i] = x[i] * x[i]", "        out[i] = x[i]", "odd places are copied"),
    ("k, half = cuda.grid(1), x.size // 2",
     "i, half = cuda.grid(1), x.size // 2\n    k = i // 2 + i % 2 * half", "lanes wait"),
    ("    if k < half:\n        i = 2 * k\n        out[i] = x[i] + x[i] - x[i] * x[i]\n"
     "    else:\n        i = 2 * (k - half) + 1\n        out[i] = x[i] * x[i]\n",
     "    out[k] = x[k] * x[k] if k % 2 else x[k] + x[k] - x[k] * x[k]\n",
     "even and odd pixels alike"),
    ("x[i] + x[i] - x[i] * x[i]", "x[i] + x[i]", "even places lack their x²"),
    ("x.size // 64, 64](x, out)", "x.size // 64, 64](x, x)", "changed its input"),
    ("    if k < half:\n        i = 2 * k\n        out[i] = x[i] + x[i] - x[i] * x[i]\n"
     "    else:\n        i = 2 * (k - half) + 1\n        out[i] = x[i] * x[i]\n",
     "    odd, square = k % 2, x[k] * x[k]\n"
     "    out[k] = odd * square + (1 - odd) * (x[k] + x[k] - square)\n", "computes both kinds"),
]  # fmt: skip
