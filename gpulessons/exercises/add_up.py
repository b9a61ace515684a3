"""The first kernel of the course: all threads add to one number. One line, two minutes."""

from gpulessons.exercises.asking import a_kernel
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.grader.waste import total as accesses
from gpulessons.ops.reduce import total

text = '''\
@cuda.jit
def my_add_up(x, out):
    i = cuda.grid(1)
    if i < x.size:
        ### BEGIN SOLUTION
        cuda.atomic.add(out, 0, x[i])
        ### STUB
        out[0] += x[i]  # Your turn: who else writes here?
        ### END SOLUTION

def my_total(x):
    out = cuda.to_device(np.zeros(1, np.float32))
    my_add_up[(x.size + 255) // 256, 256](x, out)  # as many blocks of 256 as it takes
    return out
'''


def inspect(launches):
    """Right is not enough: the threads share the array, and a warp reads 32 numbers at once."""
    reads = accesses(launches, "read")
    requests = sum(launch.coalescing(access="read").requests for launch in launches)
    if requests > 32 and reads < 8 * requests:
        raise Wasteful(f"{requests:,} requests to memory for {reads:,} reads: one thread does what "
                       "many should.",
                       "the loop: thread i takes number i.")  # fmt: skip


mistakes = (
    ("each thread adds its own number, i, not the array's.", "x[i])", "i)"),
    ("each thread adds 1.", "x[i])", "1)"),
    ("it has the largest, not the sum.", "atomic.add", "atomic.max"),
)

hints = (
    "All threads read out[0] before the first has written it.",
    "cuda.atomic.add(out, 0, x[i])",
)

exercise = a_kernel(
    __name__, text, total, "what each thread adds to out[0].", mistakes, hints, inspect, most=64,
)
