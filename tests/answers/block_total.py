"""Answers to `block_total`: its solution with one edit each."""

wrong = [
    ("        cuda.syncthreads()\n        step //= 2", "        step //= 2", "A race"),
    ("    cuda.syncthreads()\n    step = 128", "    step = 128", "A race"),
    ("        cuda.syncthreads()\n        step //= 2",
     "            cuda.syncthreads()\n        step //= 2", "a barrier is reached by"),
    ("cuda.atomic.add(out, 0, part[0])", "out[0] += part[0]", "A race"),
    ("x[i] if i < x.size else 0", "x[i]", "outside"),
    ("while step > 0:", "while step > 1:", "Wrong at size"),
    ("        if t < step:\n            part[t] += part[t + step]",
     "        index = 256 // step * t\n        if index < 256:\n"
     "            part[index] += part[index + 128 // step]", "bank"),
]  # fmt: skip
