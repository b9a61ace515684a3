"""Answers to `where_to_sum`: its solution with one edit each."""

from gpulessons.exercises import where_to_sum

solution = where_to_sum.solution

BY_ROWS = '''\
    k = a.shape[0] // 2
    h = all_reduce([x[:, :k] @ a[:k], x[:, k:] @ a[k:]])
    h = np.maximum(h, 0)
    return all_reduce([h[:, :half] @ b[:half], h[:, half:] @ b[half:]])
'''
TOO_LATE = BY_ROWS.replace("h = all_reduce([x", "h = sum([np.maximum(p, 0) for p in [x").replace(
    "a[k:]])", "a[k:]]])"
)
ONCE_BY_ROWS = """\
    k, middle = a.shape[0] // 2, b.shape[1] // 2
    h = np.maximum(all_reduce([x[:, :k] @ a[:k], x[:, k:] @ a[k:]]), 0)
    return np.hstack([h @ b[:, :middle], h @ b[:, middle:]])
"""
wrong = [
    (solution[solution.index("    parts") :], BY_ROWS, "twice"),
    (solution[solution.index("    parts") :], TOO_LATE, "relu of a sum"),
    ("return all_reduce(parts)", "return parts[0] + parts[1]", "never"),
    ("return all_reduce(parts)", "return all_reduce(parts[:1])", "two workers"),
    ("return all_reduce(parts)", "all_reduce(parts)\n    return parts[0]", "half of the sum"),
    ("np.maximum(x @ a[:, own], 0)", "x @ a[:, own]", "without relu"),
    ("parts.append(h @ b[own])", "parts.append(np.maximum(x @ a, 0) @ b)", "twice what is due"),
    ("np.maximum(x @ a[:, own], 0)", "np.maximum(x @ a, 0)[:, own]", "more than half"),
    ("parts.append(h @ b[own])", "parts.append(np.maximum(x @ a, 0) @ b / 2)", "more than half"),
    ("half = a.shape[1] // 2", "half = 2", "more than half"),
    ("return all_reduce(parts)", "all_reduce(parts)\n    return sum(parts)", "not by all_reduce"),
    ("return all_reduce(parts)", "all_reduce(parts)", "returned nothing"),
    ("return all_reduce(parts)", "return np.hstack(parts)", "Shape"),
    ("    parts = []", "    parts = []\n    np.maximum(a, 0, out=a)", "changed its input"),
    ("return all_reduce(parts)", "return all_reduce(*parts)", "TypeError"),
    (solution[solution.index("    parts") :], "    x, a, b = map(np.asarray, (x, a, b))\n"
     "    y = np.maximum(x @ a, 0) @ b\n    return all_reduce([y / 2, y / 2])\n",
     "nobody can count"),
    (solution[solution.index("    parts") :], "    y = np.maximum(x @ a, 0) @ b\n"
     "    return all_reduce([y, 0 * y])\n", "more than half"),
    (solution[solution.index("    parts") :], ONCE_BY_ROWS, "not by all_reduce"),
]
right = [
    ("return all_reduce(parts)", "return all_reduce(part for part in parts[::-1])"),
    ("(slice(0, half), slice(half, None))", "(slice(0, None, 2), slice(1, None, 2))"),
    ("np.maximum(x @ a[:, own], 0)", "np.einsum('nk,kh->nh', x, a[:, own]).clip(0)"),
    (solution[solution.index("    parts") :],
     "    aa, bb = np.stack(np.hsplit(a, 2)), np.stack(np.vsplit(b, 2))\n"
     "    return all_reduce(np.maximum(x @ aa, 0) @ bb)\n"),
]  # fmt: skip
