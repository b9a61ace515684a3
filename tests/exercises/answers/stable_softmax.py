"""Answers to `stable_softmax`: its solution with one edit each."""

wrong = [
    ("x.max(axis=1, keepdims=True)", "x.max()", "the row of small ones"),
    ("x.max(axis=1, keepdims=True)", "1_000", "NaN or infinity for ordinary scores"),
    ("x - x.max(axis=1, keepdims=True)", "x / x.max(axis=1, keepdims=True)", "other probabilities"),
    ("x - x.max(axis=1, keepdims=True)", "np.minimum(x, 80)", "all above some limit are alike"),
    ("x - x.max", "-x + x.max", "The smallest score"),
    ("    exps = np.exp(x -", "    x -= 1\n    exps = np.exp(x -", "changed its input"),
    ("exps.sum(axis=1, keepdims=True)", "exps.sum()", "do not add up to one"),
    ("    return exps /", "    exps /", "returned nothing"),
    ("x.max(axis=1, keepdims=True)", "x.mean(axis=1, keepdims=True)", "that are far apart"),
    ("x.max(axis=1, keepdims=True)", "x[:, :1]", "that are far apart"),
    ("x - x.max(axis=1, keepdims=True)", "x.astype(np.longdouble)", "NaN or infinity"),
    ("x.max(axis=1, keepdims=True)", "x.max(axis=1)", "ValueError"),
    ("x - x.max(axis=1, keepdims=True)", "np.round(x - x.max(axis=1, keepdims=True))",
     "other probabilities"),
    ("    exps = ", "    from scipy.special import softmax\n    return softmax(x, axis=1)\n"
     "    exps = ",
     "somebody else's"),
]  # fmt: skip
right = [
    ("exps / exps.sum(axis=1, keepdims=True)", "(exps.T / exps.sum(axis=1)).T.tolist()"),
    ("x - x.max(axis=1, keepdims=True)", "x - np.logaddexp.reduce(x, axis=1)[:, None]"),
]
