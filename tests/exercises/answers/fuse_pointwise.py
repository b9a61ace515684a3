"""Answers to `fuse_pointwise`: its solution with one edit each."""

from gpulessons.exercises import fuse_pointwise

solution, stub = fuse_pointwise.solution, fuse_pointwise.stub

wrong = [
    (solution, stub, "in 2 launches"),
    ("math.tanh(memory)", "math.tanh(new_c[k])", "6 loads"),
    ("    if k < c.size:\n        memory", "    if True:\n        memory", "outside its shape"),
    ("sigmoid(f[k]) * c[k]", "f[k] * c[k]", "f does not go through sigmoid"),
    ("sigmoid(o[k])", "math.tanh(o[k])", "o goes through tanh"),
    ("math.tanh(memory)", "memory", "the new c does not go through tanh"),
    ("math.tanh(memory)", "math.tanh(c[k])", "made of the old c"),
    ("math.tanh(g[k])", "sigmoid(g[k])", "g goes through sigmoid"),
    ("-(-c.size // 128), 128", "c.size // 128, 128", "grid"),
    ("out[0], out[1]", "out[1], out[0]", "the new c and out[1] the new h"),
    ("        new_c[k] = memory\n", "", "never written"),
    ("-(-c.size // 128), 128", "1, c.size", "at most 1,024"),
    ("k < c.size", "k < c.size - 1", "never written"),
    ("    new_c[k]", "    c[k] = memory\n        new_c[k]", "changed its input"),
    ("new_c[k] = memory", "new_c[k] = 2 * memory", "result [1]"),
    (solution, solution.replace("new_h, new_c", "out").replace("new_c[k]", "out[1, k]")
     .replace("new_h[k]", "out[0, k]").replace("out[0], out[1]", "out"), "assigning into tuple"),
]
right = [
    (solution, solution.replace("new_c)", "new_c, n)").replace("out[1])", "out[1], c.size)")),
    (solution[solution.index("def my_unit") :],
     "def my_unit(i, f, g, o, c):\n    out = [cuda.device_array_like(c) for _ in 'hc']\n"
     "    my_kernel[8, 256](i, f, g, o, c, *out)\n    return out\n"),
    ("if k < c.size:", "for k in range(k, c.size, cuda.gridsize(1)):"),
    ("-(-c.size // 128), 128", "(c.size + 31) // 32, 32"),
]  # fmt: skip
