"""Four elements a thread, still coalesced: neighbors in a warp must read neighbors in memory."""

from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import Trouble
from gpulessons.ops.activations import relu as op  # noqa: F401

stub = '''\
@cuda.jit
def my_four_each(x, out):
    first = cuda.grid(1)
    # Your turn: this thread does four elements. Which four?

def my_relu(x):
    out = cuda.device_array_like(x)
    threads = (x.size + 3) // 4
    my_four_each[(threads + 127) // 128, 128](x, out)
    return out
'''

solution = '''\
@cuda.jit
def my_four_each(x, out):
    first = cuda.grid(1)
    for step in range(4):
        i = first + step * cuda.gridsize(1)
        if i < x.size:
            out[i] = max(x[i], 0)

def my_relu(x):
    out = cuda.device_array_like(x)
    threads = (x.size + 3) // 4
    my_four_each[(threads + 127) // 128, 128](x, out)
    return out
'''

wrong = [
    ("first + step * cuda.gridsize(1)", "4 * first + step", "sectors"),
    ("first + step * cuda.gridsize(1)", "first + step", "A race"),
    ("range(4)", "range(3)", "never written"),
    ("threads = (x.size + 3) // 4", "threads = x.size", "threads"),
    ("if i < x.size:", "if first < x.size:", "outside"),
]


def inspect(launches):
    """Right is not enough: a quarter of the threads, and four sectors for a warp's request."""
    (launch,) = launches
    threads = launch.threads
    elements = round(launch.work().writes * threads)
    if threads > elements / 4 + 128:
        raise Trouble(
            f"{threads} threads for {elements} elements: that is more than one for every four.",
            "the number of blocks.",
        )
    sectors = launch.coalescing().sectors_per_request
    if sectors > 4:
        raise Trouble(
            f"Right, but each warp's request touches {sectors:.1f} sectors, where 4 would do.",
            "which elements neighboring threads read at the same moment.",
        )
