"""A tiled product that is right at n = 16 and fails at n = 17: it needs three guards."""

from numba import cuda

from gpulessons.backends import gpu
from gpulessons.exercises.asking import named_kernels, problem
from gpulessons.grader.check import Exercise, check_op, is_cuda
from gpulessons.grader.diagnosis import Mismatch
from gpulessons.grader.waste import check_loads
from gpulessons.operation import Case
from gpulessons.ops.matmul import matmul

EDGES = 16, 17, Case(40, k=23, n=31), 1
product = problem(matmul.make_inputs, matmul.function, rtol=matmul.rtol, edge_cases=EDGES)

text = '''\
@cuda.jit
def my_guarded_kernel(x, y, out):
    xs = cuda.shared.array((16, 16), np.float32)
    ys = cuda.shared.array((16, 16), np.float32)
    tx, ty, (j, i) = cuda.threadIdx.x, cuda.threadIdx.y, cuda.grid(2)
    zero = total = np.float32(0)
    for start in range(0, x.shape[1], 16):
        ### BEGIN SOLUTION
        xs[ty, tx] = x[i, start + tx] if i < x.shape[0] and start + tx < x.shape[1] else zero
        ys[ty, tx] = y[start + ty, j] if start + ty < y.shape[0] and j < y.shape[1] else zero
        ### STUB
        xs[ty, tx] = x[i, start + tx]  # Your turn: does this element exist, for every thread?
        ys[ty, tx] = y[start + ty, j]
        ### END SOLUTION
        cuda.syncthreads()
        for k in range(16):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()
    ### BEGIN SOLUTION
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total
    ### STUB
    out[i, j] = total
    ### END SOLUTION
'''

mistakes = (
    ("only the last product of each tile is in it.",
     "            total += xs[ty, k] * ys[k, tx]",
     "            k += 0\n        total += xs[ty, k] * ys[k, tx]"),
    ("the last tiles are left out, those that x and y fill only in part.",
     "range(0, x.shape[1], 16)", "range(0, x.shape[1] // 16 * 16, 16)"),
    ("what lies behind the end is taken for the last row or column again; it is nothing.",
     "y[start + ty, j] if start + ty < y.shape[0] and j < y.shape[1] else zero",
     "y[min(start + ty, y.shape[0] - 1), min(j, y.shape[1] - 1)]\n"
     "        xs[ty, tx] = x[min(i, x.shape[0] - 1), min(start + tx, x.shape[1] - 1)]"),
)  # fmt: skip


def launcher(kernel):
    """As many blocks as cover the result, the last ones only partly."""

    def my_product(x, y):
        out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
        kernel[((y.shape[1] + 15) // 16, (x.shape[0] + 15) // 16), (16, 16)](x, y, out)
        return out

    return my_product


def judge(kernel):
    if not is_cuda(kernel):
        raise Mismatch("This is not a kernel.", "its first line: @cuda.jit makes one.")
    hint = "both loops, and what a tile holds where there is no element: zero."
    known = named_kernels(text, product, hint, mistakes, launcher)
    return check_op(product, launcher(kernel), gpu, check_loads, known)


hints = (
    "What a thread fetches and what it computes are two things: each of three accesses has "
    "limits of its own, and a barrier must be reached by all.",
    "xs[ty, tx] = x[i, start + tx] if i < x.shape[0] and start + tx < x.shape[1] else zero",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
