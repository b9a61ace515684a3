"""Answers to `no_conflict`: its solution with one edit each."""

wrong = [
    ("return max(0.0, chance)", "return 1 - chance", "that they do share one"),
    ("chance *= (features - active - taken) / (features - taken)",
     "chance *= 1 - 1 / features", "one place is taken"),
    ("chance *= (features - active - taken) / (features - taken)",
     "chance *= 1 - active / features", "may be drawn twice"),
    ("range(active)", "range(1)", "only one feature"),
    ("max(0.0, chance)", "100 * chance", "between 0 and 1"),
    ("max(0.0, chance)", "chance if features != 50 else -1.0", "cannot be avoided"),
    ("max(0.0, chance)", "chance if features > 2 * active else 0.0", "3 of 6"),
    ("max(0.0, chance)", "round(chance, 6)", "0.911812, where 0.9118119975 is due"),
    ("range(active)", "range(active - 1)", "3 of 100"),
    ("    return max(0.0, chance)", "    max(0.0, chance)", "returned nothing"),
]  # fmt: skip
right = [
    ("return max(0.0, chance)",
     "import math\n    return math.comb(features - active, active) / math.comb(features, active)"),
    ("max(0.0, chance)", "np.array(max(0, chance))"),
    ("features", "f"),
]  # fmt: skip
