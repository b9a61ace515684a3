"""A product whose neighbors read along rows: which index is threadIdx.x?"""

from gpulessons.exercises.asking import a_kernel, coalesced, normal, problem
from gpulessons.ops.matmul import matmul


def whole_sectors(size):
    """x: (size, k), y: (k, n) float32, n about twice the size; all rows are whole sectors."""
    k, n = 8 * (size // 16) + 8, 8 * (size // 4) + 8
    return (size, k), (k, n)


# At 32 rows a whole warp goes down a column: what that costs is said in full.
product = problem(normal(whole_sectors), matmul.function,
                  rtol=matmul.rtol, edge_cases=(32, 33, 19, 70, 1))  # fmt: skip

text = '''\
@cuda.jit
def my_product_kernel(x, y, out):
    ### BEGIN SOLUTION
    j, i = cuda.grid(2)
    ### STUB
    i, j = cuda.grid(2)  # Your turn: neighbors take rows. Let them take columns.
    ### END SOLUTION
    if i < out.shape[0] and j < out.shape[1]:
        total, k = np.float32(0), 0
        while k < x.shape[1]:
            total += x[i, k] * y[k, j]
            k += 1
        out[i, j] = total

def my_product(x, y):
    out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
    ### BEGIN SOLUTION
    grid = (y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8
    ### STUB
    grid = (x.shape[0] + 31) // 32, (y.shape[1] + 7) // 8
    ### END SOLUTION
    my_product_kernel[grid, (32, 8)](x, y, out)
    return out
'''

mistakes = (
    ("only the last product of the loop is in it.",
     "            total += x[i, k] * y[k, j]\n            k += 1",
     "            k += 1\n        total += x[i, k - 1] * y[k - 1, j]"),
    ("the first product of each sum is left out.",
     "total, k = np.float32(0), 0", "total, k = np.float32(0), 1"),
    ("the last product of each sum is left out.",
     "while k < x.shape[1]:", "while k < x.shape[1] - 1:"),
)  # fmt: skip

hints = (
    "Neighboring threads should differ in j: then y[k, j] and out[i, j] lie side by side. The "
    "grid turns with it.",
    "j, i = cuda.grid(2)",
)

exercise = a_kernel(
    __name__, text, product, "the loop over k: where it begins and ends, and what stands inside.",
    mistakes, hints,
    coalesced("which of i and j changes from a thread to its neighbor."),
)
