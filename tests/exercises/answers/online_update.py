"""Answers to `online_update`: its solution with one edit each."""

wrong = [
    ("total * exp(row_max - new)", "total", "did not rescale the sum"),
    ("exp(row_max - new)", "exp(new - row_max)", "rescaled the sum the wrong way"),
    ("new = max(row_max, score)", "new = score", "not the largest"),
    ("new = max(row_max, score)", "new = row_max", "not the largest"),
    ("+ exp(score - new)", "+ exp(score)", "without a maximum"),
    (" + exp(score - new)", "", "left the new score out"),
    ("+ exp(score - new)", "+ exp(score - row_max)", "from the old maximum"),
    ("return new, total * exp(row_max - new) + exp(score - new)",
     "return total * exp(row_max - new) + exp(score - new), new", "in the other order"),
    ("+ exp(score - new)", "+ exp(new - score)", "the wrong way round"),
    ("+ exp(score - new)", "+ 1", "as if it were the largest"),
    ("    return new,", "    return None,", "It returned (None,"),
    ("    return new,", "    return", "It returned 1.6"),
]  # fmt: skip
right = [
    ("    return new, total * exp(row_max - new) + exp(score - new)",
     "    return np.float32([new, total * exp(row_max - new) + exp(score - new)])"),
    ("    return new, total * exp(row_max - new) + exp(score - new)",
     "    low = min(row_max, score)\n"
     "    return [new, total * exp(low - score) + exp(low - row_max)]"),
]  # fmt: skip
