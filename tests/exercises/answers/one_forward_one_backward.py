"""Answers to `one_forward_one_backward`: its solution with one edit each."""

wrong = [
    ("ahead = min(stages - stage, batches)", "ahead = batches", "keeps"),
    ("ahead = min(stages - stage, batches)", "ahead = 1", "waits"),
    ("ahead = min(stages - stage, batches)", "ahead = stages - stage", "not in the minibatch"),
    ("ahead = min(stages - stage, batches)", "ahead = min(stages - 1 - stage, batches)",
     "before it went forward"),
    ("    return order", "    return [t for t in order if t[1]]", "never goes forward"),
    ("    return order", "    return order[:-1]", "never goes backward"),
    ("    return order", "    return None", "list"),
    ("    return order", "    return [(m, way) for way, m in order]", "list"),
    ('("B", m)', '("b", m)', "list"),
    ("ahead = min(stages - stage, batches)", "ahead = min(stage + 1, batches)", "wait for each"),
    ("ahead = min(stages - stage, batches)", "ahead = min(4 - stage, batches)", "Stage 0, with 2"),
]  # fmt: skip
right = [
    ("    return order", "    yield from order"),
    ("    return order", "    return tuple([way, np.int64(m)] for way, m in order)"),
    ("    return order", "    return [(way, batches - 1 - m) for way, m in order]"),
]
