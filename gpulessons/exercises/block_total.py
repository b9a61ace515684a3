"""Add up an array with one tree in each block: every step must wait for the step before."""

from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import Trouble
from gpulessons.ops.reduce import total as op  # noqa: F401

stub = """\
from numba import float32

@cuda.jit
def my_tree(x, out):
    part = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    # Your turn: halve it until part[0] is the sum of all 256. Thread 0 adds that to out[0].

def my_total(x):
    out = cuda.to_device(np.zeros(1, np.float32))
    my_tree[(x.size + 255) // 256, 256](x, out)
    return out
"""

solution = """\
from numba import float32

@cuda.jit
def my_tree(x, out):
    part = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])

def my_total(x):
    out = cuda.to_device(np.zeros(1, np.float32))
    my_tree[(x.size + 255) // 256, 256](x, out)
    return out
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
]  # fmt: skip


def inspect(launches):
    """Right is not enough: neighbors add neighbors, so that no two ask one bank."""
    worst = max(launch.banks().worst for launch in launches)
    if worst > 1:
        raise Trouble(
            f"Right, but a warp waits {worst} times for one bank of shared memory.",
            "how far apart the elements of neighboring threads are.",
        )
