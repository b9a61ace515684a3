"""Add up an array with one tree in each block: every step must wait for the step before."""

from gpulessons.exercises.asking import a_kernel
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.grader.waste import check_conflicts
from gpulessons.ops.reduce import total

text = '''\
from numba import float32

@cuda.jit
def my_tree(x, out):
    part = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    ### BEGIN SOLUTION
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])
    ### STUB
    # Your turn: halve it until part[0] is the sum of all 256. Thread 0 adds that to out[0].
    ### END SOLUTION

def my_total(x):
    out = cuda.to_device(np.zeros(1, np.float32))
    my_tree[(x.size + 255) // 256, 256](x, out)
    return out
'''


def inspect(launches):
    """Right is not enough: half of the threads add, then half of those, and no two ask one bank."""
    for launch in launches:
        atomics = sum(site.accesses for site in launch.sites if site.access == "atomic")
        if atomics > launch.blocks:
            raise Wasteful(f"{atomics:,} atomic additions, where one for each block, "
                           f"{launch.blocks} in all, will do.",
                           "who adds what to out[0].")  # fmt: skip
        # A tree makes some 50 requests, also where its warps are half empty; one by one is 256.
        requests = (launch.banks().requests + launch.coalescing().requests) / launch.blocks
        if requests > 200:
            raise Wasteful(f"one thread adds after the other: {requests:.0f} requests to memory "
                           "for each block, where a tree of 256 makes some 50.",
                           "how many add in each step: half of those before.")  # fmt: skip
    check_conflicts(launches, "how far apart the elements of neighboring threads are.")


mistakes = (
    ("only the first block is in it.", "    if t == 0:", "    if i == 0:"),
    ("every thread adds what it holds to out[0].",
     "    if t == 0:\n        cuda.atomic.add(out, 0, part[0])",
     "    cuda.atomic.add(out, 0, part[t])"),
    ("the last step is left out: part[1] is not in it.", "while step > 0:", "while step > 1:"),
)  # fmt: skip

hints = (
    "Fold the array in half: 128 threads add what lies 128 further. Then 64, then 32. Who must "
    "wait, and when?",
    "if t < step:\n"
    "    part[t] += part[t + step]\n"
    "cuda.syncthreads()",
)

exercise = a_kernel(
    __name__, text, total, "who adds to out[0], and when the steps end: at 1.",
    mistakes, hints, inspect,
)
