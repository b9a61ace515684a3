"""Answers to `along_the_rows`: its solution with one edit each."""

from gpulessons.exercises import along_the_rows

solution, stub = along_the_rows.solution, along_the_rows.stub

wrong = [
    (solution, stub, "sectors"),
    ("j, i = cuda.grid(2)", "i, j = cuda.grid(2)", "never written"),
    ("if i < x.shape[0] and j < x.shape[1]:", "if i < x.shape[0]:", "outside"),
    ("= x[i, j]", "= x[i, 0]", "every column is the first one"),
    ("(x.shape[1] + 31) // 32", "1", "columns 32 to 39 of out (1 × 40) were never written"),
]
