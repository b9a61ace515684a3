"""Answers to `fuse_bias_gelu`: its solution with one edit each."""

wrong = [
    ("if row < x.shape[0] and column < x.shape[1]:", "if row < x.shape[0]:", "outside"),
    ("b[column]", "b[row]", "the bias of the row"),
    (" + b[column]", "", "the bias is forgotten"),
    ("+ b[column]", "+ 2 * b[column]", "the bias is added twice"),
    ("+ b[column]", "- b[column]", "the bias is subtracted"),
    ("device_gelu(x[row, column] + b[column])", "x[row, column] + b[column]", "GELU is forgotten"),
    ("column, row = cuda.grid(2)", "row, column = cuda.grid(2)", "columns 8 to 36"),
    ("device_gelu(x[row, column] + b[column])", "device_gelu(x[row, column]) + b[column]",
     "the bias is added after GELU"),
    ("(x.shape[1] + 31) // 32", "max(1, x.shape[1] // 32)", "never written"),
    ("(x.shape[0] + 7) // 8", "1", "never written"),
    ("[blocks, (32, 8)]", "[1, (x.shape[1], x.shape[0])]", "a GPU allows at most 1,024"),
]  # fmt: skip
