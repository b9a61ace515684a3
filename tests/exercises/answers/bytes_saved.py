"""Answers to `bytes_saved`: its solution with one edit each."""

wrong = [
    ("2 * 4 *", "4 *", "one of the two trips"),
    ("2 * 4 *", "2 *", "numbers, not bytes"),
    ("2 * 4 *", "4 * 4 *", "all four trips"),
    ("2 * 4 *", "3 * 4 *", "12 for each number"),
]
