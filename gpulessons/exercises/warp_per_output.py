"""One example through a layer: let a warp read each row of weights, its lanes side by side."""

from gpulessons.exercises.asking import a_kernel, coalesced, normal, problem

INPUTS = 88  # whole sectors, but no whole warps

product = problem(normal(lambda n: [INPUTS, (n, INPUTS)]), lambda x, w: w @ x,
                  rtol=1e-5, edge_cases=(40, 33, 9))  # fmt: skip

text = '''\
from gpulessons.ops.reduce import warp_reduce_sum  # adds up the 32 numbers of a warp

@cuda.jit
def my_rows(x, w, out):
    ### BEGIN SOLUTION
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x & 31
    if row < w.shape[0]:
        total, k = np.float32(0), lane
        while k < w.shape[1]:
            total += w[row, k] * x[k]
            k += 32
        total = warp_reduce_sum(total)
        if lane == 0:
            out[row] = total
    ### STUB
    row = cuda.grid(1)  # Your turn: 32 lanes read 32 rows here. Let them share one.
    if row < w.shape[0]:
        total, k = np.float32(0), 0
        while k < w.shape[1]:
            total += w[row, k] * x[k]
            k += 1
        out[row] = total
    ### END SOLUTION

def my_product(x, w):
    out = cuda.device_array(w.shape[0], w.dtype)
    ### BEGIN SOLUTION
    my_rows[(w.shape[0] + 7) // 8, 256](x, w, out)
    ### STUB
    my_rows[(w.shape[0] + 255) // 256, 256](x, w, out)
    ### END SOLUTION
    return out
'''

mistakes = (
    ("only lane 0's own sum is in it.", "        total = warp_reduce_sum(total)\n", ""),
    ("every lane adds up the whole row, and 32 times the sum comes out.",
     "while k < w.shape[1]:", "for k in range(w.shape[1]):"),
    ("the last columns are left out, those that fill no whole warp.",
     "while k < w.shape[1]:", "while k < w.shape[1] // 32 * 32:"),
)  # fmt: skip

hints = (
    "32 lanes, one row: lane 0 takes columns 0, 32, 64 …, lane 1 takes 1, 33, 65 … . Which row "
    "is a thread's, when 32 threads share it?",
    "row, lane = cuda.grid(1) // 32, cuda.threadIdx.x & 31\n"
    "total, k = np.float32(0), lane\n"
    "while k < w.shape[1]:",
)

exercise = a_kernel(
    __name__, text, product,
    "the loop, every 32nd column to the end; then all lanes call warp_reduce_sum.",
    mistakes, hints,
    coalesced("which k each lane of a warp reads in the same turn."),
)
