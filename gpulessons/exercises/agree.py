"""Two kinds of pixels, one branch: let no lane wait, and fetch no pixel's sector twice."""

from gpulessons.exercises.asking import a_kernel, normal, problem
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.units import percent
from warplens.model.sampling import footprints

text = '''\
@cuda.jit
def my_lines(x, out):
    ### BEGIN SOLUTION
    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x
    if t < 32:
        i = first + 2 * t
        out[i] = x[i] + x[i] - x[i] * x[i]
    else:
        i = first + 2 * (t - 32) + 1
        out[i] = x[i] * x[i]
    ### STUB
    t, i = cuda.threadIdx.x, cuda.grid(1)
    # Your turn: right, but every warp goes both ways. Two warps share the 64 pixels of a block.
    if i % 2 == 0:
        out[i] = x[i] + x[i] - x[i] * x[i]
    else:
        out[i] = x[i] * x[i]
    ### END SOLUTION

def my_scanlines(x):
    out = cuda.device_array_like(x)
    my_lines[x.size // 64, 64](x, out)  # 64 divides the size: no guard needed
    return out
'''


def scanlines(x):
    """2x − x² at even places, which brightens; x² at odd ones, which darkens. (n,) to (n,)."""
    out = x + x - x * x
    out[1::2] = x[1::2] * x[1::2]
    return out


def inspect(launches):
    """Right is not enough: no lane may wait, and no sector may be wanted by two blocks."""
    efficiency = min(launch.divergence().efficiency for launch in launches)
    if efficiency < 0.99:
        raise Wasteful(f"its lanes wait: warp efficiency {percent(efficiency)}, not 100 %.",
                       "threads 0 to 31: do they all take the same side of the `if`?")  # fmt: skip
    touched = [(launch.blocks, footprints(launch.launch)) for launch in launches]
    moved = sum(blocks * each.sectors for blocks, all_of in touched for each in all_of)
    wanted = max(sum(each.whole for each in all_of) for _, all_of in touched)
    if moved > 1.1 * wanted:
        raise Wasteful(f"its blocks move {moved / wanted:.2g} times the sectors that hold the "
                       "pixels: that costs more than a lane that waits.",
                       "who takes the odd pixels between a block's even ones.")  # fmt: skip


mistakes = (
    ("all places are brightened.", "= x[i] * x[i]", "= x[i] + x[i] - x[i] * x[i]"),
    ("all places are darkened.", "x[i] + x[i] - x[i] * x[i]", "x[i] * x[i]"),
)

hints = (
    "A block has 64 neighboring pixels and two warps, t below 32 and above. If the first takes the "
    "even ones, which i belongs to t? Or let a thread take a pair, or choose without an `if`.",
    "t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x\n"
    "if t < 32:\n"
    "    i = first + 2 * t",
)

exercise = a_kernel(
    __name__, text, problem(normal(lambda n: [64 * n]), scanlines, edge_cases=(31, 7, 1)),
    "the two ways, and which places go which way.", mistakes, hints, inspect,
)
