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
    ("for k in range(x.shape[1])", "for k in range(1, x.shape[1])",
     "the first product of each sum"),
    ("for k in range(x.shape[1])", "for k in range(x.shape[1] - 1)",
     "the last product of each sum"),
    ("(32, 8)](", "(64, 32)](", "2,048 threads"),
    ("x.dtype)", "float)", "Wrong dtype"),
    ("total = np.float32(0)", "total = out[i, j]", "only added to"),
    (solution, IDLE, "no kernel"),
    ("            total += x[i, k] * y[k, j]",
     "            k += 0\n        total += x[i, k] * y[k, j]", "only the last product"),
]  # fmt: skip

right = [
    (solution, "from gpulessons.ops.common import ceil_div\n" + solution.replace(
        "(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8",
        "ceil_div(y.shape[1], 32), ceil_div(x.shape[0], 8)")),
    ("(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8\n    my_product_kernel[grid, (32, 8)]",
     "y.shape[1] // 8, x.shape[0]\n    my_product_kernel[grid, (8, 1)]"),
]  # fmt: skip
