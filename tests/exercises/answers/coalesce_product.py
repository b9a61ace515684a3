"""Answers to `coalesce_product`: its solution with one edit each."""

from gpulessons.exercises import coalesce_product

solution, stub = coalesce_product.solution, coalesce_product.stub

IDLE = """\
@cuda.jit
def my_product_kernel(out):
    pass

def my_product(x, y):
    out = cuda.to_device(np.matmul(x.copy_to_host(), y.copy_to_host()))
    my_product_kernel[1, 32](out)
    return out
"""

wrong = [
    (solution, stub, "sectors"),
    ("(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8",
     "(x.shape[0] + 31) // 32, (y.shape[1] + 7) // 8", "never written"),
    ("if i < out.shape[0] and j < out.shape[1]:", "if i < out.shape[0]:", "outside"),
    ("y[k, j]", "y[j, k]", "outside"),
    ("total, k = np.float32(0), 0", "total, k = np.float32(0), 1",
     "the first product of each sum"),
    ("while k < x.shape[1]:", "while k < x.shape[1] - 1:",
     "the last product of each sum"),
    ("(32, 8)](", "(64, 32)](", "2,048 threads"),
    ("x.dtype)", "float)", "Wrong dtype"),
    ("total, k = np.float32(0), 0", "total, k = out[i, j], 0", "only added to"),
    (solution, IDLE, "no kernel"),
    ("            total += x[i, k] * y[k, j]\n            k += 1",
     "            k += 1\n        total += x[i, k - 1] * y[k - 1, j]", "only the last product"),
]  # fmt: skip

right = [
    ("        while k < x.shape[1]:\n", "        for k in range(x.shape[1]):\n"),
    (solution, "from gpulessons.ops.common import ceil_div\n" + solution.replace(
        "(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8",
        "ceil_div(y.shape[1], 32), ceil_div(x.shape[0], 8)")),
    ("(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8\n    my_product_kernel[grid, (32, 8)]",
     "y.shape[1] // 8, x.shape[0]\n    my_product_kernel[grid, (8, 1)]"),
]  # fmt: skip
