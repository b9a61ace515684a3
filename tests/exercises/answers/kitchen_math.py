"""Answers to `kitchen_math`: its solution with one edit each."""

wrong = [
    ("400 / 0.1", "400 * 0.1", "multiplied"),
    ("400 / 0.1", "400", "every 1 ns"),
    ("400 / 0.1", "4 * 400 / 0.1", "bytes"),
    ("400 / 0.1", "10", "per ns"),
]
