"""Four elements a thread, still coalesced: neighbors in a warp must read neighbors in memory."""

from gpulessons.exercises.asking import a_kernel, normal
from gpulessons.grader.diagnosis import Mismatch
from gpulessons.grader.waste import check_sectors, total
from gpulessons.ops.activations import relu

text = '''\
@cuda.jit
def my_four_each(x, out):
    first = cuda.grid(1)
    ### BEGIN SOLUTION
    for step in range(4):
        i = first + step * cuda.gridsize(1)
        if i < x.size:
            out[i] = max(x[i], np.float32(0))
    ### STUB
    # Your turn: this thread does four elements. Which four?
    ### END SOLUTION

def my_wide_relu(x):
    out = cuda.device_array_like(x)
    threads = (x.size + 3) // 4
    my_four_each[(threads + 127) // 128, 128](x, out)
    return out
'''


def inspect(launches):
    """Right is not enough: a quarter of the threads, and four sectors for a warp's request."""
    threads, elements = sum(launch.threads for launch in launches), total(launches, "write")
    if threads > elements / 4 + 128:
        raise Mismatch(f"{threads} threads for {elements} elements: more than one for every four.",
                       "the number of blocks.")  # fmt: skip
    check_sectors(launches, "which elements neighboring threads read at the same moment.")


mistakes = (
    ("it is min, where max is expected.", "max(x[i], np", "min(x[i], np"),
    ("it is a copy: negative numbers are as they were.", "max(x[i], np.float32(0))", "x[i]"),
)

hints = (
    "At its first turn thread 0 reads element 0. What should thread 1 read at that moment?",
    "i = first + step * cuda.gridsize(1)",
)

exercise = a_kernel(
    __name__, text, relu.like(normal(lambda n: [4 * n - 3])), "max(x[i], 0).",
    mistakes, hints, inspect,
)
