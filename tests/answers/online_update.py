"""Answers to `online_update`: its solution with one edit each."""

wrong = [
    ("total * exp(top - new)", "total", "did not mend the sum"),
    ("exp(top - new)", "exp(new - top)", "mended the sum the wrong way"),
    ("new = max(top, score)", "new = score", "not the largest"),
    ("new = max(top, score)", "new = top", "not the largest"),
    ("+ exp(score - new)", "+ exp(score)", "without a maximum"),
    (" + exp(score - new)", "", "left the new score out"),
    ("+ exp(score - new)", "+ exp(score - top)", "from the old maximum"),
    ("return new, total * exp(top - new) + exp(score - new)",
     "return total * exp(top - new) + exp(score - new), new", "in the other order"),
    ("+ exp(score - new)", "+ exp(new - score)", "the wrong way round"),
    ("+ exp(score - new)", "+ 1", "as if it were the largest"),
    ("    return new,", "    return None,", "It returned (None,"),
    ("    return new,", "    return", "It returned 1.6"),
]  # fmt: skip
right = [
    ("    return new, total * exp(top - new) + exp(score - new)",
     "    return np.float32([new, total * exp(top - new) + exp(score - new)])"),
    ("    return new, total * exp(top - new) + exp(score - new)",
     "    small = min(top, score)\n    total = total * exp(small - score) + exp(small - top)\n"
     "    return [new, total]"),
]  # fmt: skip
