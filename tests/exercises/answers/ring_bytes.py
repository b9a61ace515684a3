"""Answers to `ring_bytes`: its solution with one edit each."""

wrong = [
    ("2 * (8 - 1)", "(8 - 1)", "only while they are added up"),
    ("/ 8 ", "", "whole vector in every step"),
    ("4 * 1_000_000", "1_000_000", "numbers, not bytes"),
    ("(8 - 1)", "8", "one step fewer"),
    ("2 * (8 - 1)", "1 * 8", "the vector once"),
    ("2 * (8 - 1)", "1", "a single piece"),
    ("2 * (8 - 1) * 4 * 1_000_000 / 8", "(8 - 1) * 4 * 1_000_000", "seven whole vectors"),
    ("2 * (8 - 1) * 4 * 1_000_000 / 8", "1.75", "Those are whole vectors"),
    ("2 * (8 - 1) * 4 * 1_000_000 / 8", "1.8", "1.8 bytes is not"),
]
