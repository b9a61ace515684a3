"""Add up an array with one tree in each block: every step must wait for the step before."""

from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, refuse_conflicts
from gpulessons.ops.reduce import total

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


def inspect(launches):
    """Right is not enough: half of the threads add, then half of those, and no two ask one bank."""
    for launch in launches:
        atomics = sum(site.accesses for site in launch.sites if site.access == "atomic")
        if atomics > launch.blocks:
            raise Trouble(
                f"Right, but {atomics:,} atomic additions, where one for each block, "
                f"{launch.blocks} in all, will do.",
                "who adds what to out[0].",
            )
        requests = launch.banks().requests / launch.blocks
        if requests > 0.8 * launch.threads / launch.blocks:  # a tree takes a fifth of that
            raise Trouble(
                f"Right, but each block asks shared memory {requests:.0f} times, about once for "
                "each number: hardly two threads add at once.",
                "how many threads add in each step: half of those before.",
            )
    refuse_conflicts(launches, "how far apart the elements of neighboring threads are.")


hints = (
    "Fold the array in half: 128 threads add what lies 128 further. Then 64, then 32. Who must "
    "wait, and when?",
    "",
    "if t < step:\n"
    "    part[t] += part[t + step]\n"
    "cuda.syncthreads()",
)

exercise = Exercise(__name__, stub, solution, on=gpu, op=total, inspect=inspect, hints=hints)
