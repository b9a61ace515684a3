"""Answers to `vectorize`: its solution with one edit each."""

wrong = [
    ("np.float32(0.01) * x)", "0)", "every negative input"),
    ("np.float32(0.01)", "np.float64(0.01)", "Wrong dtype"),
    ("np.where(x > 0, x, np.float32(0.01) * x)", "[max(v, 0.01 * v) for v in x]", "list"),
    ("return np.where(x > 0, x, np.float32(0.01) * x)",
     "x[x < 0] *= np.float32(0.01)\n    return x", "changed its input in place"),
    ("x > 0, x,", "x > 0, abs(x) + 1,", "every positive input"),
    ("np.where(x > 0, x, np.float32(0.01) * x)",
     "np.array([v if v > 0 else np.float32(0.01) * v for v in x])", "one after the other"),
    ("np.where(x > 0, x, np.float32(0.01) * x)",
     "np.vectorize(lambda v: max(v, np.float32(0.01) * v), otypes=[np.float32])(x)",
     "one after the other"),
]  # fmt: skip

right = [
    ("np.where(x > 0, x, np.float32(0.01) * x)", "np.maximum(x, np.float32(0.01) * x)"),
    ("return np.where(x > 0, x, np.float32(0.01) * x)",
     "y = x.copy()\n    y[x < 0] *= np.float32(0.01)\n    return y"),
]
