"""Puzzle: 256 threads for any number of elements. Each takes the next one that nobody has."""

from gpulessons.exercises.asking import a_kernel, normal, problem
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.grader.waste import check_sectors

plus = problem(normal(lambda n: [n, n]), lambda x, y: x + y)

text = '''\
@cuda.jit
def my_plus_kernel(x, y, out):
    first, all_threads = cuda.grid(1), cuda.gridsize(1)
    ### BEGIN SOLUTION
    for i in range(first, x.size, all_threads):
        out[i] = x[i] + y[i]
    ### STUB
    # Your turn: this thread adds x[first] and y[first], and then? Which i is its next?
    ### END SOLUTION

def my_plus(x, y):
    out = cuda.device_array_like(x)
    my_plus_kernel[4, 64](x, y, out)  # 256 threads, whatever the size: leave that as it is
    return out
'''

hints = (
    "Threads 0 to 255 have taken the first 256 elements. Who takes element 256?",
    "grid_stride",
    "for i in range(first, x.size, all_threads):",
)


def inspect(launches):
    """Right is not enough: with 256 threads, whose warps still read 32 neighbors."""
    threads = sum(launch.threads for launch in launches)
    if threads != 256:
        raise Wasteful(f"with {threads:,} threads, where 256 are all you have.",
                      "the loop: the launch stays as it was.")  # fmt: skip
    check_sectors(launches, "which elements threads 0, 1, 2 … take at the same moment.")


exercise = a_kernel(__name__, text, plus, hints=hints, inspect=inspect, most=5)
