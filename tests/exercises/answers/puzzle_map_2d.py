GUARD = "if y < out.shape[0] and x < out.shape[1]:"
wrong = [
    (GUARD, "if y < out.shape[0]:", "outside its shape"),
    (GUARD, "if x < out.shape[1]:", "outside its shape"),
    ("x, y = cuda.grid(2)", "y, x = cuda.grid(2)", "columns 8 to 36 of out (1 × 37) were never"),
    ("x, y = cuda.grid(2)", "x, y = cuda.threadIdx.x, cuda.threadIdx.y", "A race"),
    ("after[y, x] - before[y, x]", "before[y, x] - after[y, x]", "the wrong way round"),
    ("after[y, x] - before[y, x]", "after[y, x]", "nothing is subtracted"),
    ("[y, x]", "[x, y]", "outside its shape"),
    ("[grid, (16, 8)]", "[1, (columns, rows)]", "1,024"),
    ("(columns + 15) // 16, (rows + 7) // 8", "(rows + 7) // 8, (columns + 15) // 16",
     "columns 16 to 36 of out (1 × 37) were never written"),
]  # fmt: skip
right = [
    (GUARD, "if y < before.shape[0] and x < before.shape[1]:"),
    (GUARD, "rows, columns = out.shape\n    if x < columns and y < rows:"),
]
