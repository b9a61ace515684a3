"""Answers to `project`: its solution with one edit each."""

wrong = [
    ("i, row = k // 3, k % 3", "i, row = k % out.shape[0], k // out.shape[0]", "sectors"),
    ("i, row = k // 3, k % 3", "i, row = k // 4, k % 4", "outside"),
    ("if k < out.size:", "if True:", "outside"),
    ("value / w", "value", "nothing is divided by w"),
    ("matrix[row, j]", "matrix[j, row]", "taken by its columns for x, y and z"),
    ("value / w", "value * w", "it multiplies by w"),
    ("range(4)", "range(3)", "three products are added"),
    ("value / w", "value / points[i, 3]", "by the point's own"),
    ("(out.size + 127)", "(points.shape[0] + 127)", "never written"),
    ("[(out.size + 127) // 128, 128]", "[1, out.size]", "a GPU allows at most 1,024"),
]
