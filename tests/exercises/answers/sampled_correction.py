"""Answers to `sampled_correction`: its solution with one edit each."""

LAST = "    return np.logaddexp(right, np.logaddexp.reduce(others, axis=1)) - right\n"
HITS = "    others[drawn == labels[:, None]] = -np.inf\n"
BODY = """\
    right = right - np.log(expected[labels])
    others = others - np.log(expected[drawn])
"""
wrong = [
    (BODY, "    others = others.copy()\n", "no score is corrected"),
    (BODY, BODY.replace("- np.log", "+ np.log"), "wrong sign"),
    ("    right = right - np.log(expected[labels])\n", "", "and the label's is not"),
    (HITS, "", "its own rival"),
    ("np.logaddexp(right, np.logaddexp.reduce(others, axis=1)) - right",
     "np.logaddexp.reduce(others, axis=1) - right", "not in the sum"),
    ("return np.logaddexp(right, np.logaddexp.reduce(others, axis=1)) - right",
     "return right - np.logaddexp(right, np.logaddexp.reduce(others, axis=1))", "that is log p"),
    (LAST, "    total = np.exp(right) + np.exp(others).sum(axis=1)\n"
     "    return np.log(total) - right\n", "wrong for large inputs"),
    (LAST, LAST.replace(" - right\n", " - right).mean()\n").replace("return ", "return ("),
     "not an array"),
    (LAST, LAST.replace("axis=1", "axis=1, keepdims=True"), "Wrong shape"),
    ("    others = others - np.log(expected[drawn])\n",
     "    others -= np.log(expected[drawn])\n", "changed its input"),
    (LAST, LAST.replace(" - right\n", " - right).astype(int)\n").replace("return ", "return ("),
     "Wrong dtype"),
    (LAST, "    right, others = right.astype(float), others.astype(float)\n"
     "    total = np.exp(right) + np.exp(others).sum(axis=1)\n"
     "    return np.log(total) - right\n", "Wrong at size 31"),
    ("    right = right - np.log(expected[labels])\n    others",
     "    right = right - expected[labels]\n    others", "Wrong at size 31"),
]  # fmt: skip
right = [
    (LAST, LAST.replace(" - right\n", " - right).astype(float)\n").replace("return ", "return (")),
    (BODY, "    right, others = right.astype(float), others.astype(float)\n" + BODY),
    (HITS + LAST, """\
    others = np.where(drawn == labels[:, None], -np.inf, others)
    top = np.maximum(right, others.max(axis=1))
    total = np.exp(right - top) + np.exp(others - top[:, None]).sum(axis=1)
    return (np.log(total) + top - right).astype(np.float32)
"""),
    (HITS + LAST, """\
    others = np.where(drawn == labels[:, None], -np.inf, others)
    return np.log1p(np.exp(np.logaddexp.reduce(others, axis=1).astype(float) - right)).astype("f")
"""),
    (HITS + LAST, """\
    import torch
    every = np.concatenate([right[:, None], others], axis=1)
    every[:, 1:][drawn == labels[:, None]] = -np.inf
    first = torch.zeros(len(right), dtype=torch.long)
    z = torch.from_numpy(every)
    return torch.nn.functional.cross_entropy(z, first, reduction="none").numpy()
"""),
    (BODY + HITS + LAST, """\
    losses = []
    for z, row, label in zip(right, others, labels):
        z = z - np.log(expected[label])
        kept = [s - np.log(expected[c]) for s, c in zip(row, drawn) if c != label]
        losses.append(np.logaddexp.reduce([z, *kept]) - z)
    return np.array(losses, np.float32)
"""),
]  # fmt: skip
