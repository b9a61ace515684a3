"""Answers to `leaky_relu_kernel`: its solution with one edit each."""

from gpulessons.exercises import leaky_relu_kernel

KERNEL = leaky_relu_kernel.solution

wrong = [
    ("if i < x.size:", "if True:", "outside"),
    ("(x.size + 255) // 256", "max(1, x.size // 256)", "never written"),
    ("if x[i] > 0 else np.float32(0.01) * x[i]", "if x[i] > 0 else 0",
     "that is ReLU, which does not leak"),
    ("np.float32(0.01) * x[i]", "np.float32(0.02) * x[i]", "every negative input"),
    ("out[i] = x[i] if", "x[i] = x[i] if", "changed its input in place"),
    ("x[i] if x[i] > 0", "x[i] if x[i] < 0", "the two sides are exchanged"),
    ("np.float32(0.01) *", "np.float32(0.1) *", "the slope is 0.1"),
    ("x[i] if x[i] > 0 else np.float32(0.01) * x[i]", "x[i]", "it is a copy"),
    ("    return out\n", "", "returned nothing"),
    ("device_array_like(x)", "device_array(x.shape)", "Wrong dtype"),
    ("[blocks, 256]", "[1, x.size]", "a GPU allows at most 1,024"),
    ("cuda.grid(1)", "cuda.threadIdx.x", "A race"),
    (KERNEL, KERNEL.replace("if i < x.size:", "for i in range(i, x.size, cuda.gridsize(1)):")
     .replace("[blocks, 256]", "[1, 1024]"), "1,024 threads write 1,201 numbers"),
    (KERNEL, KERNEL.replace("if i < x.size:", "for i in range(x.size):")
     .replace("[blocks, 256]", "[1, 1]"), "1 thread writes 31 numbers"),
    (KERNEL, KERNEL.replace("(x.size + 255) // 256", "x.size").replace("256]", "1]"),
     "in blocks of 1"),
    ("if i < x.size:", "for i in range(x.size):", "A race"),
]  # fmt: skip
right = [
    ("np.float32(0.01)", "0.01", "It computes in float64 (line 10)"),
    ("if i < x.size:", "if i < out.size:"),
]
