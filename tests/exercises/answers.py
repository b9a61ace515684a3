"""Answers to the exercises, right and wrong.

    WRONG = {exercise: [(what, instead, reason)]}     a mistake with no name, words of its refusal
    RIGHT = {exercise: [(what, instead)]}             the solution written otherwise
    RIGHT = {exercise: [(what, instead, praise)]}     the same, and words of what is said about it

Each is an edit of the exercise's solution.
"""

import itertools
import linecache

cells = itertools.count(1)


def attempt(text):
    """What a learner's cell leaves behind: the last name it binds. The source stays readable."""
    name = f"<exercise {next(cells)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    return list(names.values())[-1]


WRONG = {
    "group_by_expert": [
        ("return order, ends", "return choice[order], ends", "where"),
    ],
    "surely_behind": [
        ("tree / max", "tree / min", "where"),
    ],
    "add_up": [
        ("    if i < x.size:\n        cuda", "    cuda", "thread 31 of block 0 reads x[31]"),
        ("cuda.atomic.add(out, 0, x[i])", "out[0] += x[i]",
         "thread 1 of block 0 reads it at line 7, thread 0 of block 0 writes it"),
        ("(x.size + 255) // 256", "x.size // 256", "not 0"),
        ("    if i < x.size:\n        cuda.atomic.add(out, 0, x[i])",
         "    if i == 0:\n        for k in range(x.size):\n            out[0] += x[k]",
         "one thread"),
        ("    my_add_up[(x.size + 255) // 256, 256](x, out)  # as many blocks of 256 as it takes\n",
         "    my_add_up[1, 32](x[:0], out)\n    out[0] = x.copy_to_host().sum()\n", "no kernel"),
    ],
    "guard": [
        ("i < x.size", "i < x.size - 1", "element 30, the last"),
        ("if i < x.size:", "for i in range(x.size if i == 0 else 0):", "1 of 256 threads writing"),
        ("if i < x.size:", "for i in range(i, x.size if i < 32 else 0, 32):", "with 32 of 1,280"),
        ("[(x.size + 255) // 256, 256]", "[x.size, 1]", "in blocks of 1"),
    ],
    "agree": [
        ("t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x",
         "i, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x\n    t = i // 2 + i % 2 * 32",
         "lanes wait"),
        ("    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x\n    if t < 32:\n"
         "        i = first + 2 * t\n",
         "    k, half = cuda.grid(1), x.size // 2\n    first, t = 0, k - half + 32\n"
         "    if k < half:\n        i = 2 * k\n", "2 times the sectors"),
        ("    my_lines[", 2 * "    my_lines[x.size // 64, 64](x, out)\n" + "#", "2 times"),
    ],
    "along_the_rows": [
        ("j, i = cuda.grid(2)", "i, j = cuda.grid(2)", "never written"),
        ("if i < x.shape[0] and j < x.shape[1]:",
         "for j in range(x.shape[1] if j == 0 and i < x.shape[0] else 0):", "up to 40 numbers"),
        ("(x.shape[1] + 31) // 32", "1", "8 of the 40 elements of out were never written"),
    ],
    "wait_once": [
        ("    synchronize()\n    start", "    start", "older work in the queue was counted, too"),
        ("    synchronize()\n    seconds", "    seconds", "before the GPU was done"),
        ("[step() for _ in range(steps)]", "[step()] * steps", "After 1 of 10 steps"),
        ("[step() for _ in range(steps)]",
         "[type('L', (), {'item': lambda self, x=step().item(): x})() for _ in range(steps)]",
         "Python waited 10 times"),
        (" / steps, seconds", " / steps", "Two numbers are expected"),
    ],
    "token_bytes": [
        ("bits / 8", "bits", "where"),
        ("cached * context", "cached", "where"),
    ],
    "ridge_batch": [
        ("bits / 8", "bits", "where"),
    ],
    "every_example": [
        ("totals[i] += x[i, k] * weight", "totals[i] += x[i, k] * w[row, k]", "loads for each"),
        ("for k in range(lane, w.shape[1], 32):",
         "for k in range(3 * lane, min(3 * lane + 3, w.shape[1])):", "sectors"),
    ],
    "faster_on_paper": [
        ("[x.shape[0], 256]", "[min(x.shape[0], 99), 256]", "never written"),
        ("for k in range(cuda.threadIdx.x, x.shape[1], 256):",
         "n, size = cuda.threadIdx.x, (x.shape[1] + 255) // 256\n"
         "    for k in range(n * size, min(n * size + size, x.shape[1])):",
         "sectors"),
    ],
    "inputs_first": [
        ("x.reshape(-1, x.shape[2]) @ w.T + b",
         "np.stack([np.dot(x_t, w.T) for x_t in x]) + b",
         "5 products have the inputs"),
        ("x.reshape(-1, x.shape[2]) @ w.T + b",
         "np.stack([np.einsum('bi,gi->bg', x_t, w) for x_t in x]) + b",
         "5 products have the inputs"),
    ],
    "kitchen_math": [
        ("1555 * 408 / 108", "1555 * 408", "all of the GPU's warps"),
        ("(32 * 4)", "4", "Those are threads"),
        ("(32 * 4)", "32", "A number has 4 bytes"),
        (" / (32 * 4)", "", "Those are bytes"),
        ("1555 * 408 / 108 / (32 * 4)", "45", "45 is not it"),
    ],
    "lay_it_out": [
        ("8, 16, 128", "8, 8, 256", "no room for 81.8 GB"),
        ("8, 16, 128", "4, 16, 256", "no room for 83.3 GB"),
        ("8, 16, 128", "8, 32, 64", "It fits; but 66%"),
        ("8, 16, 128", "16, 8, 128", "sums 1.39 s"),
        ("8, 16, 128", "8, 16, 127", "no layout of"),
        ("8, 16, 128", "1, 4, 4096", "no layout of"),
    ],
    "no_conflicts": [
        ("(32, 32), np", "(32, 33), np", "bank conflicts"),
        ("(32, 32), np", "(32, 64), np", "spare column"),
    ],
    "one_batch": [
        ("32", "16", "5 times"),
    ],
    "outer_step": [
        ("common - own.mean(axis=0)", "common - own[0]", "it was"),
        ("    velocity = momentum * velocity + outer\n", "", "it was"),
    ],
    "partial_sums": [
        ("    for i in range(whole, x.size):\n        a += x[i]\n", "", "Wrong for 401 numbers"),
        ("        b += x[i + 1]\n", "        a += x[i + 1]\n", "of 400 additions are one chain"),
        ("return (a + b) + (c + d)", "return float(a + b + c + d)", "hides the chains"),
        ("return (a + b) + (c + d)", "return (a, b, c, d)", "not a sum"),
        ("    a = b = c", "    return sum(x)\n    a = b = c", "400 of 400 additions are one chain"),
        ("    a = b = c", "    return sum(x[j::4].sum() for j in range(4))\n    a = b = c",
         "Numba cannot compile it"),
    ],
    "register_tile": [
        ("        a[r], b[r] = xs[i + 8 * r, k], ys[k, j + 8 * r]\n"
         "    for r in range(4):\n        for s in range(4):\n"
         "            totals[r, s] += a[r] * b[s]",
         "        a[r] = xs[i + 8 * r, k]\n        for s in range(4):\n"
         "            totals[r, s] += a[r] * ys[k, j + 8 * s]",
         "1.25 loads from shared memory"),
    ],
    "speed_up": [
        ("compute / workers + sending", "compute + sending", "is expected"),
        ("messages * (latency + piece / bandwidth)", "messages * piece / bandwidth", "is expected"),
    ],
    "reduce_scatter": [
        ("pieces[grows] += exchange", "pieces[grows] = exchange", "has the shares of"),
        ("(rank - step - 1) % world", "(rank - step) % world", "has the shares of"),
        ("+= exchange", "+= 2 * exchange", "or one twice"),
        ("return (rank + 1) % world", "return rank", "has the shares of"),
        ("    for step in range(world - 1):\n        leaves, grows = (rank - step) % world, "
         "(rank - step - 1) % world\n        pieces[grows] += exchange(pieces[leaves])\n"
         "    return (rank + 1) % world",
         "    pieces[rank][:] = pieces[rank].sum()\n    return rank", "or one twice"),
        ("return (rank + 1) % world", "return 0", "of"),
        ("return (rank + 1) % world", "return world", "and its pieces are 0 to 0"),
        ("range(world - 1)", "range((world - 1) * (rank > 0))", "that nobody sends"),
        ("pieces[leaves])", "[*pieces])[grows]", "where 1 would do"),
    ],
    "where_to_sum": [
        ("return all_reduce([np.maximum(x @ a[:, own], 0) @ b[own] for own in halves])",
         "k = a.shape[0] // 2\n"
         "    h = np.maximum(all_reduce([x[:, :k] @ a[:k], x[:, k:] @ a[k:]]), 0)\n"
         "    return all_reduce([h[:, :half] @ b[:half], h[:, half:] @ b[half:]])",
         "called twice"),
        ("return all_reduce([np.maximum(x @ a[:, own], 0) @ b[own] for own in halves])",
         "k = a.shape[0] // 2\n"
         "    h = np.maximum(x[:, :k] @ a[:k], 0) + np.maximum(x[:, k:] @ a[k:], 0)\n"
         "    return all_reduce([h[:, :half] @ b[:half], h[:, half:] @ b[half:]])",
         "not the sum of relus"),
        ("return all_reduce(", "return sum(", "never called"),
        ("return all_reduce([np.maximum(x @ a[:, own], 0) @ b[own] for own in halves])",
         "return all_reduce([np.maximum(x @ a, 0) @ b, 0])", "more than half"),
        ("return all_reduce([np.maximum(x @ a[:, own], 0) @ b[own] for own in halves])",
         "return all_reduce([s * (np.maximum(x @ a, 0) @ b) for s in (0.3, 0.7)])",
         "more than half"),
    ],
    "honest_clock": [
        ("        launch()\n        wait()\n", "        launch()\n", "did not wait"),
        ("return sorted(times[1:])[12]", "return times[0]", "lie 1"),
        ("return sorted(times[1:])[12]", "return times[1]", "lie 4"),
        ("return sorted(times[1:])[12]", "return min(times)", "lie 4"),
        ("return sorted(times[1:])[12]", "return sum(times[1:]) / 25", "lie 4"),
    ],
    "whole_checkpoint": [
        ('    run.optimizer.load_state_dict(kept["optimizer"])\n', "",
         "Adam begins without its means"),
        ('kept["order"], kept["used"]', 'kept["order"], len(kept["order"])', "examples anew"),
        ('    run.generator.set_state(kept["dice"])\n', "", "throws other dice"),
        ('    run.model.load_state_dict(kept["model"])\n', "", "weights are not those"),
        ('    run.generator.set_state(kept["dice"])\n',  # the run once more, to the stub's 30
         "    run.__init__()\n    for _ in range(30):\n        run.step()\n", "weights are not"),
    ],
    "zero_step": [
        ("    piece, slope = (cut(each, wire.world_size)[owned] for each in (weights, gradient))\n"
         "    adam(piece, slope)\n",
         "    all_gather(gradient, wire, owned)\n    adam(weights, gradient)\n", "bytes of Adam"),
        ("reduce_scatter(gradient, wire)", "(wire.rank + 1) % wire.world_size\n"
         "    ring(gradient, wire)", "sends 240 bytes"),
        ("    owned", "    if wire.rank:\n        return\n    owned", "does not send"),
    ],
}

RIGHT = {
    "group_by_expert": [
        ('    order = np.argsort(choice, kind="stable")\n'
         "    ends = np.bincount(choice, minlength=experts).cumsum()\n",
         "    order = [n for e in range(experts) for n in range(len(choice)) if choice[n] == e]\n"
         "    ends = np.searchsorted(np.sort(choice), range(experts), side='right').tolist()\n"),
    ],
    "surely_behind": [
        ("tree / max(arithmetic, memory)", "min(tree / arithmetic, tree / memory)"),
    ],
    "add_up": [
        ("    if i < x.size:\n        cuda", "    if i >= x.size:\n        return\n    cuda"),
        ("    if i < x.size:\n        cuda.atomic.add(out, 0, x[i])\n\ndef my_total(x):\n"
         "    out = cuda.to_device(np.zeros(1, np.float32))\n"
         "    my_add_up[(x.size + 255) // 256, 256]",
         "    for k in range(i, x.size, cuda.gridsize(1)):\n        cuda.atomic.add(out, 0, x[k])\n"
         "\ndef my_total(x):\n    out = cuda.to_device(np.zeros(1, np.float32))\n"
         "    my_add_up[2, 64]"),
    ],
    "agree": [
        ("    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x\n    if t < 32:\n"
         "        i = first + 2 * t\n        out[i] = x[i] + x[i] - x[i] * x[i]\n    else:\n"
         "        i = first + 2 * (t - 32) + 1\n        out[i] = x[i] * x[i]\n",
         "    i = 2 * cuda.grid(1)\n    if i<x.size:\n        out[i] = x[i] + x[i] - x[i] * x[i]\n"
         "        out[i + 1] = x[i + 1] * x[i + 1]\n"),
    ],
    "no_conflicts": [
        ("tile[i, j ^ i] = x[row + i, column + j]\n    cuda.syncthreads()\n"
         "    out[column + i, row + j] = tile[j, i ^ j]",
         "f = cuda.shared.array(1024, np.float32)\n    f[32 * i + (i ^ j)] = x[row + i, "
         "column + j]\n    cuda.syncthreads()\n    out[column + i, row + j] = f[32 * j + (i ^ j)]"),
    ],
    "wait_once": [
        ("    synchronize()\n    seconds", "    losses[-1].item()\n    seconds"),
        ("    synchronize()\n    seconds",
         "    for loss in losses:\n        loss.item()\n    seconds"),
        ("sum(loss.item() for loss in losses) / steps, seconds",
         "[sum(loss.item() for loss in losses) / len(losses), seconds]"),
    ],
    "token_bytes": [
        ("bits / 8 * (weights / batch + cached * context)",
         "(weights + batch * cached * context) * bits / (8 * batch)"),
    ],
    "ridge_batch": [
        ("ceil(flop_rate / bandwidth * (bits / 8) / 2)",
         "int(-(-(flop_rate * bits / 16) // bandwidth))"),
    ],
    "every_example": [
        ("for k in range(lane, w.shape[1], 32):",
         "for turn in range((w.shape[1] + 31) // 32):\n        k = lane + 32 * turn\n"
         "        if k >= w.shape[1]:\n            continue"),
    ],
    "faster_on_paper": [
        ("total += x[i, k]", "total = x[i, k] + total", "bound by DRAM"),
    ],
    "reduce_scatter": [
        ("pieces[grows] += exchange(pieces[leaves])",
         "pieces[grows] = exchange(pieces[leaves]) + pieces[grows]"),
        ("(rank - step) % world, (rank - step - 1) % world\n"
         "        pieces[grows] += exchange(pieces[leaves])\n    return (rank + 1) % world",
         "(rank - step - 1) % world, (rank - step - 2) % world\n"
         "        pieces[grows] += exchange(pieces[leaves])\n    return rank"),
    ],
    "speed_up": [
        ("messages * (latency + piece / bandwidth)",
         "2 * (workers - 1) * latency + 2 * (1 - 1 / workers) * size / bandwidth"),
    ],
    "guard": [
        ("np.float32(0)", "0", "It asks for float64 (line 7)"),
        ("if i < x.size:", "if not i >= out.shape[0]:"),
        ("if i < x.size:", "for i in range(i, x.size, cuda.gridsize(1)):"),
        ("if i < x.size:\n        out[i] = max(x[i], np.float32(0))\n\n"
         "def my_relu(x):\n    out = cuda.device_array_like(x)\n"
         "    my_kernel[(x.size + 255) // 256, 256]",
         "for i in range(i, x.size, cuda.gridsize(1)):\n        out[i] = max(x[i], 0.0)\n\n"
         "def my_relu(x):\n    out = cuda.device_array_like(x)\n    my_kernel[4, 128]"),
    ],
    "implicit_gemm": [
        ("x[b, k // 9, i + k // 3 % 3, j + k % 3]",
         "x[b, k // 9, n // out.shape[3] + (k - k // 9 * 9) // 3, j + (k - 3 * (k // 3))]"),
        ("    i, j, total = n // out.shape[3], n % out.shape[3], np.float32(0)\n",
         "    (i, j), total = divmod(n, out.shape[3]), np.float32(0)\n"),
    ],
    "inputs_first": [
        ("x.reshape(-1, x.shape[2]) @ w.T + b",
         "np.einsum('tbi,gi->tbg', x, w, optimize=True) + b"),
    ],
    "join_parts": [
        ("    largest = max(one[0], other[0])\n"
         "    a, b = (np.exp(each[0] - largest) for each in (one, other))\n"
         "    return largest, a * one[1] + b * other[1], a * one[2] + b * other[2]\n",
         "    if one[0] < other[0]:\n        return my_join(other, one)\n"
         "    b = np.exp(other[0] - one[0])\n"
         "    return [one[0], *(p + b * q for p, q in zip(one[1:], other[1:]))]\n"),
    ],
    "join_steps": [
        ("return later_a * a, later_a * b + later_b",
         "return [a * later_a, later_b + b * later_a]"),
    ],
    "kitchen_math": [
        ("1555 * 408 / 108 / (32 * 4)", "46", "46 of the 64"),
    ],
    "lay_it_out": [
        ("8, 16, 128", "[8, 16.0, 128]"),
    ],
    "one_batch": [
        ("    return answers", "    return np.array(answers)"),
    ],
    "online_update": [
        ("    return new, total * exp(row_max - new) + exp(score - new)",
         "    return np.float32([new, total * exp(row_max - new) + exp(score - new)])"),
    ],
    "partial_sums": [
        ("    a = b = c",
         "    return x[::4].sum() + x[1::4].sum() + x[2::4].sum() + x[3::4].sum()\n    a = b = c"),
        ("    a = b = c", "    sums = [0.0] * 8\n    for i in range(len(x)):\n"
         "        sums[i % 8] += x[i]\n    return sum(sums)\n    a = b = c", "longest chain"),
        ("    a = b = c", "    sums = np.zeros(4)\n    for i in range(x.size):\n"
         "        sums[i % 4] += x[i]\n    return sums.sum()\n    a = b = c", "longest chain"),
        ("        a += x[i]\n        b += x[i + 1]\n        c += x[i + 2]\n        d += x[i + 3]\n",
         "        a += (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3])\n", "longest chain"),
    ],
    "outer_step": [
        ("common - own.mean(axis=0)", "(common[None] - own).sum(0) / own.shape[0]"),
    ],
    "register_tile": [
        ("    for r in range(4):\n        a[r], b[r] = xs[i + 8 * r, k], ys[k, j + 8 * r]\n",
         "    for s in range(4):\n        b[s] = ys[k, j + 8 * s]\n"
         "    for r in range(4):\n        a[r] = xs[i + 8 * r, k]\n"),
    ],
    "where_to_sum": [
        ("return all_reduce([", "return all_reduce(each for each in ["),
    ],
    "which_limit": [
        ("return bounds[name], name", "return [bounds[name], name]"),
    ],
    "shared_step": [
        ("steps * step * longer / batch", "sum(step * longer / batch for _ in range(steps))"),
    ],
    "split_headline": [
        ("[after / b for b, after in zip(before, headlines)]",
         "list(__import__('numpy').divide(headlines, before[:-1]))"),
    ],
    "equal_speed": [
        ("return at_new / at_old", "return float(at_new) * (1 / at_old)"),
        ("np.interp(speed, *zip(*runs))",  # by hand, between the two runs around it
         "next(a + (speed - s) / (t - s) * (b - a) for (s, a), (t, b) in zip(runs, runs[1:]) "
         "if s <= speed <= t)"),
    ],
    "paid_by_the_day": [
        ("np.ceil(load / (full * together))", "-(-load // (full * together))"),
        ("groups * together * day / load * 1000",
         "sum(together * day for _ in range(int(groups))) / (load / 1000)"),
    ],
    "whole_checkpoint": [
        ('"dice": run.generator.get_state()}', '"dice": run.generator.get_state().clone()}'),
    ],
    "save_every": [
        ("sqrt(2 * cost * mtbf / machines)", "(2 * cost * (mtbf / machines)) ** 0.5"),
        ("sqrt(2 * cost * mtbf / machines)",  # searched for
         "min((1.02**n for n in range(999)), key=lambda t: cost / t + t * machines / 2 / mtbf)"),
    ],
    "zero_step": [
        ("cut(each, wire.world_size)", "each.tensor_split(wire.world_size)"),
        ("    adam(piece, slope)\n",
         "    new = piece.clone()\n    adam(new, slope)\n    piece.copy_(new)\n"),
    ],
}
