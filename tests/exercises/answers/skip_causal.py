"""Answers to `skip_causal`: its solution with one edit each."""

wrong = [
    ("min(last, keys)", "min(first, keys)", "its own tile is missing"),
    ("min(last, keys)", "min(last + 1, keys)", "one that nobody may see"),
    ("min(last, keys)", "last", "behind the last key"),
    ("range(0,", "range(first,", "the beginning of the text"),
    ("min(last, keys), tile", "min(last, keys)", "starts of tiles are 0"),
    ("min(last, keys)", "keys", "nobody may see"),
    ("min(last, keys)", "min(last - 1, keys)", "its own tile is missing"),
    ("min(last, keys)", "min(last, keys - 1)", "its own tile is missing"),
    ("min(last, keys)", "min(last, keys + 1)", "behind the last key"),
    ("min(last, keys), tile", "min(last, keys), 64", "starts of tiles are 0, 128"),
    ("range(0,", "range(first % tile,", "starts of tiles are 0"),
    ("range(0, min(last, keys), tile)", "2 * list(range(0, min(last, keys), tile))", "twice"),
    ("range(0, min(last, keys), tile)", "[(0, tile)]", "(0, 64) is not a number"),
    ("    return", "   ", "It returned None"),
]  # fmt: skip
right = [
    ("return range(0, min(last, keys), tile)", "yield from range(0, min(last, keys), tile)"),
    ("range(0, min(last, keys), tile)", "np.arange(0, min(last, keys), tile)[::-1]"),
    ("range(0, min(last, keys), tile)", "{t for t in range(0, keys, tile) if t < last}"),
]
