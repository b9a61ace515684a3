"""Answers to `block_total`: its solution with one edit each."""

from gpulessons.exercises import block_total

solution = block_total.solution
FILL = solution[solution.index("    part[t] =") : solution.index("def my_total")]
TREE = solution[solution.index("    step = 128") : solution.index("def my_total")]
ALONE = """\
    if t == 0:
        for k in range(1, 256):
            part[0] += part[k]
        cuda.atomic.add(out, 0, part[0])

"""
IN_SHARED = """\
    part[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, 0, x[i] if i < x.size else 0)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, part[0])

"""

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
    (TREE, ALONE, "hardly two threads add at once"),
    (FILL, "    if i < x.size:\n        cuda.atomic.add(out, 0, x[i])\n\n", "31 atomic additions"),
    (FILL, IN_SHARED, "257 atomic additions"),
]  # fmt: skip

right = [
    ("        if t < step:\n            part[t] += part[t + step]",
     "        if t % (256 // step) == 0:\n            part[t] += part[t + 128 // step]"),
    ("            part[t] += part[t + step]",
     "            part[t] = part[t] + part[t + step]"),
]  # fmt: skip
