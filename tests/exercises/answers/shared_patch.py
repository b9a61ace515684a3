"""Answers to `shared_patch`: its solution with one edit each."""

from gpulessons.exercises import shared_patch

solution, stub = shared_patch.solution, shared_patch.stub

FETCH = """\
    for n in range(32 * i + j, 340, 256):
        patch[n // 34, n % 34] = x[above + n // 34, left + n % 34]
    cuda.syncthreads()
"""

IDLE = """\
@cuda.jit
def my_blur_kernel(out):
    pass

def my_blur(x):
    windows = np.lib.stride_tricks.sliding_window_view(x.copy_to_host(), (3, 3))
    out = cuda.to_device(windows.mean((2, 3)))
    my_blur_kernel[1, 32](out)
    return out
"""

wrong = [
    (solution, stub, "9 pixels"),
    ("    cuda.syncthreads()\n", "", "reads it"),
    ("range(32 * i + j, 340, 256)", "range(340)", "writes it at line 9"),
    ("+= patch[i + ky, j + kx]", "+= x[above + i + ky, left + j + kx]", "10.3 pixels"),
    ("range(32 * i + j, 340, 256)", "range(32 * i + j, 256, 256)", "NaN"),
    ("32 * i + j, 340", "8 * j + i, 340", "sectors"),
    ("patch[i + ky, j + kx]", "patch[i + kx, j + ky + 1]", "outside"),
    ("n // 34, n % 34] = x[above + n // 34, left + n % 34]",
     "n // 34, n % 34] = x[n // 34, n % 34]", "the patch of the first one"),
    ("total / np.float32(9)", "total", "it is the sum of nine pixels"),
    ("(10, 34)", "(8, 32)", "outside"),
    (solution, IDLE, "no kernel computed it"),
    (solution, stub.replace("// 8)", "// 8, 9)").replace("    patch", "    if cuda.blockIdx.z:\n"
     "        return\n    patch"), "9 pixels"),  # threads that do nothing do not make it cheaper
]  # fmt: skip

right = [
    (FETCH,
     "    for r in range(i, 10, 8):\n        for c in range(j, 34, 32):\n"
     "            patch[r, c] = x[above + r, left + c]\n    cuda.syncthreads()\n"),
    ("kernel(x, out):", "kernel(picture, out):\n    x = picture"),
    ("    return out", "    my_blur_kernel[1, (32, 8)](x, out)\n    return out"),
    ("total / np.float32(9)", "total * np.float32(1 / 9)"),
]  # fmt: skip
