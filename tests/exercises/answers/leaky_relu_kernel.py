"""Answers to `leaky_relu_kernel`: its solution with one edit each."""

wrong = [
    ("if i < x.size:", "if True:", "outside"),
    ("(x.size + 255) // 256", "max(1, x.size // 256)", "never written"),
    ("if x[i] > 0 else np.float32(0.01) * x[i]", "if x[i] > 0 else 0", "that is ReLU, which does not leak"),
    ("np.float32(0.01) * x[i]", "np.float32(0.02) * x[i]", "every negative input"),
    ("out[i] = x[i] if", "x[i] = x[i] if", "changed its input in place"),
    ("x[i] if x[i] > 0", "x[i] if x[i] < 0", "the two sides are exchanged"),
    ("np.float32(0.01) *", "np.float32(0.1) *", "the slope is 0.1"),
    ("x[i] if x[i] > 0 else np.float32(0.01) * x[i]", "x[i]", "it is a copy"),
    ("    return out\n", "", "returned nothing"),
    ("device_array_like(x)", "device_array(x.shape)", "Wrong dtype"),
    ("[blocks, 256]", "[1, x.size]", "a GPU allows at most 1,024"),
    ("cuda.grid(1)", "cuda.threadIdx.x", "A race"),
    ("if i < x.size:", "for i in range(x.size):", "A race"),
]
