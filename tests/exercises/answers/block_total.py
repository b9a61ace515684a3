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

IN_REGISTER = """\
    if t == 0:
        s = float32(0)
        for k in range(i, min(i + 256, x.size)):
            s += x[k]
        cuda.atomic.add(out, 0, s)

"""
EIGHT_LANES = """\
    if t < 8:
        for k in range(1, 32):
            part[t] += part[t + 8 * k]
    cuda.syncthreads()
    if t == 0:
        for k in range(1, 8):
            part[0] += part[k]
        cuda.atomic.add(out, 0, part[0])

"""
ONE_SUMS = """\
    if t == 0:
        s = float32(0)
        for k in range(256):
            s += part[k]
        cuda.atomic.add(out, 0, s)

"""
SHUFFLED = """\
    if t < 32:
        s = part[t]
        for k in range(1, 8):
            s += part[t + 32 * k]
        for step in (16, 8, 4, 2, 1):
            s += cuda.shfl_xor_sync(0xFFFFFFFF, s, step)
        if t == 0:
            cuda.atomic.add(out, 0, s)

"""

wrong = [
    ("        cuda.syncthreads()\n        step //= 2", "        step //= 2", "A race"),
    ("    cuda.syncthreads()\n    step = 128", "    step = 128", "A race"),
    ("        cuda.syncthreads()\n        step //= 2",
     "            cuda.syncthreads()\n        step //= 2", "a barrier is reached by"),
    ("cuda.atomic.add(out, 0, part[0])", "out[0] += part[0]", "A race"),
    ("x[i] if i < x.size else 0", "x[i]", "outside"),
    ("while step > 0:", "while step > 1:", "part[1] is not in it"),
    ("        if t < step:\n            part[t] += part[t + step]",
     "        index = 256 // step * t\n        if index < 256:\n"
     "            part[index] += part[index + 128 // step]", "bank"),
    (TREE, ALONE, "one thread makes 769 accesses"),
    (FILL, "    if i < x.size:\n        cuda.atomic.add(out, 0, x[i])\n\n", "31 atomic additions"),
    (FILL, IN_SHARED, "257 atomic additions"),
    (FILL, IN_REGISTER, "one thread makes 257 accesses"),
    (FILL, IN_REGISTER.replace("t == 0", "i == 0").replace("min(i + 256, x.size)", "x.size"),
     "accesses to memory, one after the other"),
    (TREE, EIGHT_LANES, "one thread makes"),
    (TREE, ONE_SUMS, "one thread makes"),
    ("    if t == 0:", "    if i == 0:", "only the first block"),
    ("    if t == 0:", "    if t < 256:", "256 threads add part[0]"),
    ("    if t == 0:\n        cuda.atomic.add(out, 0, part[0])",
     "    cuda.atomic.add(out, 0, part[t])",
     "every thread adds"),
    ("step = 128", "step = 64", "the first step is left out"),
    ("        cuda.atomic.add(out, 0, part[0])", "        pass", "nothing has been added"),
    ("    return out", "    return cuda.to_device(np.array([x.copy_to_host().sum()], np.float32))",
     "no kernel computed it"),
]  # fmt: skip

right = [
    (TREE, SHUFFLED),
    ("        if t < step:\n            part[t] += part[t + step]",
     "        if t % (256 // step) == 0:\n            part[t] += part[t + 128 // step]"),
    ("            part[t] += part[t + step]",
     "            part[t] = part[t] + part[t + step]"),
]  # fmt: skip
