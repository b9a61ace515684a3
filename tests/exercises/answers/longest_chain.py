"""Answers to `longest_chain`: its solution with one edit each."""

wrong = [
    ("100 + 3 - 1", "100", "The third layer starts"),
    ("100 + 3 - 1", "100 * 3", "layer by layer"),
    ("100 + 3 - 1", "100 + 3", "one tick too many"),
    ("100 + 3 - 1", "2 * 3 * 100", "both products"),
    ("100 + 3 - 1", "3", "wait for each other"),
    ("100 + 3 - 1", "97", "fewer ticks than steps"),
    ("100 + 3 - 1", "100 + 3 - 2", "the first is tick 0"),
    ("100 + 3 - 1", "'102'", "is not a number"),
]
