GUARD = "if row < out.shape[0] and column < out.shape[1]:"
PRODUCT = "down[row] * across[column]"
wrong = [
    (GUARD, "if True:", "outside its shape"),
    (GUARD, "if row < out.shape[0]:", "outside its shape"),
    (PRODUCT, "down[column] * across[row]", "outside its shape"),
    (PRODUCT, "down[row, column] * across[row, column]", "2 indices for down"),
    (PRODUCT, "down[row] + across[column]", "added, not multiplied"),
    (PRODUCT, "down[row]", "only the row's"),
    (PRODUCT, "across[column]", "only the column's"),
    ("column, row = cuda.grid(2)", "row, column = cuda.grid(2)", "columns 8 to 36 of out (1 × 37)"),
    ("[grid, (16, 8)]", "[1, (across.size, down.size)]", "1,024"),
]
right = [(GUARD, "if row < down.size and column < across.size:")]
