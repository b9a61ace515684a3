SHIFTED = "x[i + 1] if i + 1 < x.size else 0"
wrong = [
    (SHIFTED, "x[i + 1]", "outside its shape"),
    (SHIFTED, "x[i]", "nothing has moved"),
    (SHIFTED, "x[i - 1] if i > 0 else 0", "the other way"),
    (SHIFTED, "x[(i + 1) % x.size]", "the last element is the first one's"),
    (SHIFTED, "x[i + 1] if i + 1 < x.size else x[i]", "kept its own number"),
    ("if i < x.size:", "if i + 1 < x.size:", "1 of the 31 elements of out were never written"),
    ("if i < x.size:", "if True:", "outside its shape"),
    ("    out = cuda.device_array_like(x)", "    out = x", "changed its input"),
    ("cuda.grid(1)", "cuda.threadIdx.x", "A race"),
    ("[(x.size + 63) // 64, 64]", "[1, x.size]", "1,024"),
]
right = [
    (f"out[i] = {SHIFTED}",
     "out[i] = 0\n        if i + 1 < x.size:\n            out[i] = x[i + 1]"),
    (f"        out[i] = {SHIFTED}",
     "        if i > 0:\n            out[i - 1] = x[i]\n"
     "        else:\n            out[x.size - 1] = 0"),
]  # fmt: skip
