wrong = [
    ("if i < x.size:", "if True:", "outside its shape"),
    ("block * width + thread", "thread", "A race"),
    ("block * width + thread", "block", "A race"),
    ("block * width + thread", "block + thread", "A race"),
    ("block * width + thread", "thread * width + block", "never written"),
    ("block * width + thread", "block * width + thread + 1", "element 0"),
    ("i < x.size", "i < x.size - 1", "never written"),
    ("i < x.size", "i <= x.size", "outside its shape"),
    ("= x[i] * x[i]", "= x[i] + x[i]", "it is doubled"),
    ("= x[i] * x[i]", "= x[i]", "it is copied"),
    ("[(x.size + 63) // 64, 64]", "[1, x.size]", "1,024"),
    ("[(x.size + 63) // 64, 64]", "[x.size // 64, 64]", "the grid must be"),
    ("        out[i] = x[i] * x[i]\n\ndef my_square(x):\n    out = cuda.device_array_like(x)\n"
     "    my_square_kernel[(x.size + 63) // 64, 64](x, out)\n    return out\n",
     "        out[i] = x[i]\n\ndef my_square(x):\n    out = cuda.device_array_like(x)\n"
     "    my_square_kernel[(x.size + 63) // 64, 64](x, out)\n"
     "    return cuda.to_device(x.copy_to_host() ** 2)\n", "no array of theirs"),
    ("    out = cuda.device_array_like(x)\n",
     "    out = cuda.to_device(x.copy_to_host() ** 2)\n    x = x[:1]\n",
     "1 of 31 were written"),
    ("        out[i] = x[i] * x[i]", "        pass", "never written"),
]  # fmt: skip
right = [
    ("block * width + thread", "cuda.grid(1)"),
    ("x[i] * x[i]", "x[i] ** 2"),
    ("    if i < x.size:\n    ", "    if i >= x.size:\n        return\n"),
]
