"""Answers to `project`: its solution with one edit each."""

wrong = [
    ("i, row = k // 3, k % 3", "i, row = k % out.shape[0], k // out.shape[0]", "sectors"),
    ("i, row = k // 3, k % 3", "i, row = k // 4, k % 4", "outside"),
    ("if k < out.size:", "if True:", "outside"),
    ("value / w", "value", "Wrong at size"),
    ("matrix[row, j]", "matrix[j, row]", "Wrong at size"),
    ("(out.size + 127)", "(points.shape[0] + 127)", "never written"),
    ("[(out.size + 127) // 128, 128]", "[1, out.size]", "a GPU allows at most 1,024"),
]
