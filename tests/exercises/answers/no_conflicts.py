"""Answers to `no_conflicts`: its solution with one edit each."""

wrong = [
    ("(32, 33)", "(32, 32)", "32-way"),
    ("(32, 33)", "(32, 34)", "2-way"),
    ("    cuda.syncthreads()\n", "", "A race"),
    ("= tile[j, i]", "= x[row + j, column + i]", "sectors"),
    ("tile[i, j] =", "tile[j, i] =", "none is turned inside"),
    ("(x.shape[1] // 32, x.shape[0] // 32)", "(x.shape[0] // 32, x.shape[1] // 32)", "outside"),
]
