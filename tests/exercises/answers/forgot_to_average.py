"""Answers to `forgot_to_average`: its solution with one edit each."""

FAR = "np.abs(weights - middle).max()"

wrong = [
    ("import numpy as np\n", "import numpy as np\n\nnext_one = iter([2, 0, 2, 1, 3] + 10 * [9])\n\n"
     "def my_suspect(replicas):\n    return next(next_one)\n\nkept = my_suspect\n",
     "drawn by chance"),
    ("np.median(replicas, axis=0)", "replicas[0]", "worker 0 forgot"),
    (FAR, "np.abs(weights).max()", "large weights"),
    (FAR, "abs((weights - middle).sum())", "cancel"),
    (FAR, "abs(weights[0] - middle[0])", "a single weight"),
    ("int(np.argmax(far))", "far", "is no rank"),
    ("argmax", "argmin", "did it right"),
    (FAR, "np.abs(weights - middle)[:-1].max()", "a single weight"),
    (FAR, "(weights - middle).max()", "a single weight"),
    ("weights - middle", "np.subtract(weights, middle, out=weights)", "changed the weights"),
    ("int(np.argmax(far))", "np.flatnonzero(far)", "is no rank"),
]
right = [
    ("int(np.argmax(far))", "float(np.argmax(far))"),
    ("np.median(replicas, axis=0)", "sum(replicas) / len(replicas)"),
    ("int(np.argmax(far))", "next(i for i, d in enumerate(far) if d > 0)"),
]
