FIRST = "    if t == 0:\n        part[0] = x[i - 1] if i > 0 else np.float32(0)\n"
LAST = "    if t == 63:\n        part[65] = x[i + 1] if i + 1 < x.size else np.float32(0)\n"
BARRIER = "    cuda.syncthreads()\n"
SUM = "part[t] + part[t + 1] + part[t + 2]"
wrong = [
    (BARRIER, "", "A race"),
    (FIRST, "", "NaN at element 0"),
    (LAST, "", "NaN at element 63"),
    (FIRST + LAST, "    if t == 0:\n        part[0] = 0\n        part[65] = 0\n",
     "blocks know nothing of each other"),
    ("x[i - 1] if i > 0 else np.float32(0)", "x[i - 1]", "the first takes the last"),
    ("x[i + 1] if i + 1 < x.size else np.float32(0)", "x[i + 1]", "outside its shape"),
    (SUM, "x[i] + (x[i - 1] if i > 0 else np.float32(0))"
          " + (x[i + 1] if i + 1 < x.size else np.float32(0))",
     "numbers are fetched for"),
    (SUM, "(part[t] + part[t + 1] + part[t + 2]) / 3", "it is a mean"),
    (BARRIER + "    if i < x.size:\n", "    if i < x.size:\n        cuda.syncthreads()\n",
     "a barrier is reached by 31 of 32"),
    ("[(x.size + 63) // 64, 64]", "[1, x.size]", "NaN at element 30"),
    (SUM, "part[t] + part[t + 1]", "the neighbor after it is missing"),
    (SUM, "part[t - 1] + part[t] + part[t + 1]", "one place too far"),
    (SUM, "part[t + 1] + part[t + 2]", "the neighbor before it is missing"),
    (SUM, "part[t] + part[t + 2]", "the number itself is missing"),
]  # fmt: skip
right = [
    (FIRST + LAST, "    if t < 2:\n        n, there = 65 * t, i - 1 + 64 * t\n"
     "        part[n] = x[there] if 0 <= there < x.size else np.float32(0)\n"),
    (FIRST, "    if t == 63:\n        k = cuda.blockIdx.x * 64 - 1\n"
     "        part[0] = x[k] if k >= 0 else np.float32(0)\n"),
]  # fmt: skip
