"""Answers to `inputs_first`: its solution with one edit each."""

from gpulessons.exercises import inputs_first

solution, stub = inputs_first.solution, inputs_first.stub

wrong = [
    (solution, stub, "10 products"),
    ("@ w.T + b", "@ w.T", "the bias is forgotten"),
    ("known + h", "known + b + h", "the bias is added twice"),
    ("reshape(len(x), len(h), -1)", "reshape(len(h), len(x), -1)", "ValueError"),
    ("return np.stack(hs), c", "return np.stack(hs)", "1 results"),
    ("return np.stack(hs), c", "return h, c", "Wrong shape"),
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "np.stack([x_t @ w.T for x_t in x]) + b",
     "10 products"),
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "x @ w.T + b", "a product for each step"),
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "np.stack([np.dot(x_t, w.T) for x_t in x]) + b",
     "10 products"),
    (solution[solution.index("    rows") : solution.index("        h, c =")],
     "    for x_t in x:\n        wu = np.hstack([w, u])\n"
     "        preactivations = np.hstack([x_t, h]) @ wu.T + b\n",
     "5 products have the inputs in them"),
    ("    hs = []", "    hs = []\n    x, h, c, w, u, b = map(np.asarray, (x, h, c, w, u, b))",
     "nobody can count"),
]  # fmt: skip
right = [
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "np.einsum('tbi,gi->tbg', x, w, optimize=True) + b"),
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "np.concatenate(x).dot(w.T) + b"),
    ("x.reshape(-1, x.shape[2]) @ w.T + b", "np.tensordot(x, w, axes=(2, 1)) + b"),
    ("preactivations = known + h @ u.T",
     "preactivations = known\n        preactivations += np.matmul(h, u.T)"),
    ("return np.stack(hs), c", "return [np.array(hs), c]"),
    ("    rows = x", "    u = np.ascontiguousarray(u)\n    rows = np.ascontiguousarray(x)"),
]  # fmt: skip
