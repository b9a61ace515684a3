"""Answers to `four_each`: its solution with one edit each."""

wrong = [
    ("first + step * cuda.gridsize(1)", "4 * first + step", "sectors"),
    ("first + step * cuda.gridsize(1)", "first + step", "A race"),
    ("range(4)", "range(3)", "never written"),
    ("max(x[i], np", "min(x[i], np", "min, where max is due"),
    ("max(x[i], np.float32(0))", "x[i]", "it is a copy"),
    ("threads = (x.size + 3) // 4", "threads = x.size", "threads"),
    ("if i < x.size:", "if first < x.size:", "outside"),
    ("[(threads + 127) // 128, 128]", "[1, (threads + 31) // 32 * 32]",
     "a GPU allows at most 1,024"),
]  # fmt: skip
right = [("np.float32(0)", "0", "It computes in float64 (line 9)")]
