"""Answers to `weight_gradient`: its solution with one edit each."""

from gpulessons.exercises import weight_gradient

solution, stub = weight_gradient.solution, weight_gradient.stub

wrong = [
    (solution, stub, "one after the other"),
    ("dz.T @ x", "x.T @ dz", "Rows and columns are swapped"),
    ("dz.T @ x, dz.sum(axis=0)", "-dz.T @ x, -dz.sum(axis=0)", "The signs are wrong"),
    ("axis=0", "axis=1", "summed over the outputs"),
    ("dz.T @ x", "dz.T @ x / len(x)", "a mean"),
    ("dz.sum(axis=0)", "dz.mean(axis=0)", "a mean"),
    ("dz.T @ x, dz.sum(axis=0)", "dz.T @ x", "1 results"),
    ("dz.T @ x", "(dz[:, :, None] * x[:, None, :]).sum(0)", "for every example"),
    ("dz.T @ x", "np.einsum('no,ni->noi', dz, x).sum(0)", "for every example"),
    ("dz.T @ x", "sum(np.outer(*each) for each in zip(dz, x))", "one after the other"),
    ("dz.T @ x", "np.array([each @ x for each in dz.T])", "one after the other"),
    ("dz.T @ x", "np.float32([[sum(a * b for a, b in zip(p, q)) for q in x.T.tolist()]"
     " for p in dz.T.tolist()])", "one after the other"),
    ("dz.T @ x, dz.sum(axis=0)", "dz.sum(axis=0), dz.T @ x", "Wrong shape"),
    ("dz.T @ x", "dz.T.astype(float) @ x", "Wrong dtype"),
    ("return", "dz *= 1.5\n    return", "changed its input"),
]

right = [
    ("dz.T @ x, dz.sum(axis=0)", "np.einsum('no,ni->oi', dz, x, optimize=True), np.sum(dz, 0)"),
    ("dz.T @ x, dz.sum(axis=0)", "(x.T @ dz).T, np.ones(len(dz), np.float32) @ dz"),
    ("return dz.T @ x, dz.sum(axis=0)",
     "both = dz.T @ np.hstack([x, np.ones((len(x), 1), np.float32)])\n"
     "    return both[:, :-1], both[:, -1]"),
    ("dz.T @ x", "(dz.T.astype(float) @ x).astype(x.dtype)"),
]
