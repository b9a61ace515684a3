"""Answers to `output_size`: its solution with one edit each."""

wrong = [
    (" + 1", "", "one too few"),
    ("2 * padding", "padding", "two ends"),
    ("// stride", "/ stride", "is no whole number"),
    (" // stride + 1", " + 1", "steps of 1"),
    ("(n + 2 * padding - kernel) // stride + 1", "-((kernel - n - 2 * padding) // stride) + 1",
     "sticks out"),
    ("(n + 2 * padding - kernel) // stride + 1", "n // stride", "ResNet's layers"),
    ("2 * padding - kernel", "2 * padding + kernel", "62, where 56 is due."),
    ("n + 2 * padding", "n", "places too"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "sum(1 for at in range(-padding, n + padding - kernel + 1, stride))", "steps of Python"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "sum(map(bool, [1] * len(range(-padding, n + padding - kernel + 1, stride))))",
     "sum goes along the pixels"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "np.arange(-padding, n + padding - kernel + 1, stride).size", "arange goes along the pixels"),
    ("    return (", "    (", "returned nothing"),
    ("(n + 2", "(N + 2", "NameError"),
]  # fmt: skip

right = [
    ("(n + 2 * padding - kernel) // stride + 1",
     "-(-(n + padding - kernel + padding + 1) // stride)"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "int(np.floor((n + 2 * padding - kernel) / stride) + 1)"),
    ("(n + 2 * padding - kernel) // stride + 1",
     "len(range(-padding, n + padding - kernel + 1, stride))"),
]  # fmt: skip
