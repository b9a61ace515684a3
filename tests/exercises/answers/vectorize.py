"""Answers to `vectorize`: its solution with one edit each."""

WHERE = "np.where(x > 0, x, np.float32(0.01) * x)"
BODY = f"    return {WHERE}\n"
MAPPED = "list(map(max, x, np.float32(0.01) * x))"
HALVES = """\
    if x.size == 1:
        return np.maximum(x, np.float32(0.01) * x)
    half = x.size // 2
    return np.concatenate([my_leaky_relu(x[:half]), my_leaky_relu(x[half:])])
"""
WHILE = """\
    y, i = x.copy(), 0
    while i < y.size:
        y[i] = max(x[i], np.float32(0.01) * x[i])
        i += 1
    return y
"""
NUMBA = """\
from numba import njit, vectorize

@njit
def loop(x):
    y = x.copy()
    for i in range(x.size):
        y[i] = max(x[i], np.float32(0.01) * x[i])
    return y

@vectorize(["float32(float32)"])
def one(x):
    return x if x > 0 else np.float32(0.01) * x

def my_leaky_relu"""
BORROWED = "    from gpulessons import leaky_relu\n    return leaky_relu(x)\n"
HIDDEN = """\
    import gpulessons
    return getattr(gpulessons, "leaky_" + "relu").function(x)
"""

wrong = [
    (BODY, HALVES, "one after the other"),
    (BODY, WHILE, "one after the other"),
    (WHERE, f"np.array({MAPPED})", "map goes from one number to the next"),
    (WHERE, "np.array([*__builtins__['map'](max, x, np.float32(0.01) * x)])", "taken one by one"),
    (WHERE, "np.array(list(map(max, np.asarray(x), np.float32(0.01) * np.asarray(x))))",
     "map goes from one number to the next"),
    (WHERE, "np.frompyfunc(max, 2, 1)(x, np.float32(0.01) * x).astype(x.dtype)", "one by one"),
    (WHERE, "np.apply_along_axis(my_leaky_relu, 1, x[:, None])[:, 0] if x.ndim == 1 and x.size > 1 "
     "else np.maximum(x, np.float32(0.01) * x)", "one after the other"),
    ("def my_leaky_relu(x):\n", NUMBA + "(x):\n    return loop(x)\n", "compiled by Numba"),
    ("def my_leaky_relu(x):\n", NUMBA + "(x):\n    return one(x)\n", "taken one by one"),
    (BODY, "    from torch.nn import functional\n    import torch\n"
     "    return functional.leaky_relu(torch.from_numpy(x)).numpy()\n",
     "somebody else's leaky_relu"),
    (BODY, BORROWED, "leaky_relu is the course's own"),
    (BODY, HIDDEN, "leaky_relu is the course's own"),
]  # fmt: skip
wrong += [
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
