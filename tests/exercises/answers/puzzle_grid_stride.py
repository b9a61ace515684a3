LOOP = "for i in range(first, x.size, all_threads):"
wrong = [
    (LOOP, "i = first\n    if i < x.size:", "257 elements of out were never written"),
    (LOOP, "for i in range(x.size):", "A race"),
    (LOOP, "for i in range(first, x.size):", "A race"),
    (LOOP, "for i in range(first, x.size, 64):", "A race"),
    (LOOP, "for i in range(first, first + 2 * all_threads, all_threads):", "outside its shape"),
    (LOOP, "each = (x.size + all_threads - 1) // all_threads\n"
     "    for i in range(first * each, min(x.size, (first + 1) * each)):", "sectors"),
    ("[4, 64]", "[(x.size + 63) // 64, 64]", "64 threads, where 256"),
    ("[4, 64]", "[1, x.size]", "threads, where 256"),
    ("out = cuda.device_array_like(x)", "out = cuda.to_device(np.zeros_like(x.copy_to_host()))\n"
     "    x = x[:256]", "only the first 256 are done"),
]  # fmt: skip
right = [
    (LOOP + "\n        out[i] = x[i] + y[i]",
     "i = first\n    while i < x.size:\n        out[i] = x[i] + y[i]\n        i += all_threads"),
]  # fmt: skip
