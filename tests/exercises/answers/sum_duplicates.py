"""Answers to `sum_duplicates`: its solution with one edit each."""

LINE = "np.subtract.at(table, ids, rate * gradient)"

wrong = [
    (LINE, "table[ids] -= rate * gradient", "only its last gradient moved it"),
    (LINE, "table[ids] = table[ids] - rate * gradient", "only its last gradient moved it"),
    (LINE, "rows, first = np.unique(ids, return_index=True)\n"
           "    table[rows] -= rate * gradient[first]", "only its first gradient moved it"),
    (LINE, "rows, slots, times = np.unique(ids, return_inverse=True, return_counts=True)\n"
           "    sums = np.zeros((len(rows), table.shape[1]))\n"
           "    np.add.at(sums, slots, gradient)\n"
           "    table[rows] -= rate * sums / times[:, None]", "the mean of a row's gradients"),
    (LINE, "table = table.copy(); np.subtract.at(table, ids, rate * gradient)", "as it was"),
    (LINE, "np.add.at(table, ids, rate * gradient)", "uphill"),
    (LINE, "np.subtract.at(table, ids, gradient)", "The rate is missing"),
    (LINE, "gradient *= rate; np.subtract.at(table, ids, gradient)", "ids and gradient"),
    (LINE, "table -= rate * (np.arange(len(table))[:, None] == ids) @ gradient", "as long as"),
    (LINE, "table -= rate * np.eye(len(table), dtype=table.dtype)[:, ids] @ gradient",
     "It raised"),
    (LINE, "full = np.zeros_like(table); np.add.at(full, ids, gradient); table -= rate * full",
     "as long as the table"),
    (LINE, "for j in range(table.shape[1]):\n"
           "        table[:, j] -= rate * np.bincount(ids, gradient[:, j], len(table))",
     "as long as the table"),
    (LINE, "for row in range(len(table)):\n"
           "        table[row] -= rate * gradient[ids == row].sum(0)", "steps of Python"),
    (LINE, "table[ids[0]] -= rate * gradient[0]", "is due"),
]  # fmt: skip
right = [
    (LINE, "np.add.at(table, ids, -rate * gradient)"),
    (LINE, "for i in range(len(ids)):\n        table[ids[i]] -= rate * gradient[i]"),
    (LINE, "for row in set(ids.tolist()):\n"
           "        table[row] -= rate * gradient[ids == row].sum(0)"),
    (LINE, "order = np.argsort(ids); rows, first = np.unique(ids[order], return_index=True)\n"
           "    table[rows] -= rate * np.add.reduceat(gradient[order], first, axis=0)"),
    (LINE, "rows, slots = np.unique(ids, return_inverse=True)\n"
           "    for j in range(table.shape[1]):\n"
           "        table[rows, j] -= rate * np.bincount(slots, gradient[:, j])"),
    (LINE, "rows, slots = np.unique(ids, return_inverse=True)\n"
           "    which = (slots == np.arange(len(rows))[:, None]).astype(table.dtype)\n"
           "    table[rows] -= rate * which @ gradient"),
]  # fmt: skip
