"""Answers to `typical_time`: its solution with one edit each."""

wrong = [
    ("median(samples)", "sum(samples) / len(samples)", "hiccup"),
    ("median(samples)", "min(samples)", "best, not the typical"),
    ("median(samples)", "max(samples)", "worst"),
    ("median(samples)", "samples[len(samples) // 2]", "order"),
    ("return median", "median", "returned nothing"),
    ("median(samples)", "1.02", "says 1.02"),
    ("median(samples)", "1.02 if 1.04 in samples or 9.0 in samples else 2.02", "says 2.02"),
]

right = [
    ("median(samples)", "sorted(samples)[len(samples) // 2]", "The median"),
    ("median(samples)", "sum(sorted(samples)[1:-1]) / (len(samples) - 2)", "It is not the median"),
]
