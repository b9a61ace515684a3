"""Answers to `which_all_reduce`: its solution with one edit each."""

RING = "2 * (workers - 1) * (latency + size / workers / bandwidth)"
QUICKEST = 'min((tree, "tree"), (ring, "ring"))'

wrong = [
    ("size / workers", "size", "whole vector"),
    (RING, "2 * (workers - 1) * size / workers / bandwidth", "no latency"),
    (RING, "2 * (latency + (workers - 1) / workers * size / bandwidth)", "only two messages"),
    ("2 * (workers - 1)", "(workers - 1)", "Once more round"),
    ("(workers - 1)", "workers", "n − 1 steps"),
    ("min(", "max(", "slower"),
    ("size / workers", "4 * size / workers", "slower"),
    (QUICKEST, 'tree, "tree"', "slower"),
    (QUICKEST, "min(tree, ring)", "is not (seconds, name)"),
    (QUICKEST, 'min(tree, ring), "ring" if workers < 100 else "tree"', "8 workers and 1,000 bytes"),
]
right = [
    (QUICKEST, '[tree, "tree"] if tree <= ring else [np.float64(ring), "ring"]'),
    (RING, "sum(latency + size / (workers * bandwidth) for _ in range(2 * workers - 2))"),
    ("size / workers", "ceil(size / workers)"),
    ("size / workers", "size // workers"),
]
