"""Answers to `stale_step`: its solution with one edit each."""

wrong = [
    ("weights[max(0, step - delay)]", "weights[-1]", "has waited for everybody"),
    ("append(weights[-1]", "append(seen", "throws away"),
    ("weights[-1] - rate", "weights[-1] + rate", "uphill"),
    ("step - delay)", "step - delay - 1)", "one step too old"),
    ("step - delay)", "step - delay + 1)", "one step too young"),
    ("max(0, step - delay)", "step - delay", "IndexError"),
    ("    return weights\n", "    return weights[-1]\n", "not a list"),
    ("range(steps)", "range(steps - 1)", "8 weights"),
    ("step - delay)", "step - 2)", "one step too young"),
    ("weights[max(0, step - delay)]", "weights[-delay - 1 if step > 2 else 0]",
     "With a delay of 0"),
    ("weights.append(weights[-1] - rate * gradient(seen))",
     "weights.append((seen, weights[-1] - rate * gradient(seen)))", "TypeError"),
    ("gradient(seen)", "(seen - 3)", "wrong for another"),
    ("    return weights\n", "    return list(map(str, weights))\n", "'1.0' is not a number"),
]  # fmt: skip
right = [
    ("    return weights\n", "    return np.array(weights)\n"),
    ("    return weights\n", "    yield from weights\n"),
    ("gradient", "slope"),
    ("weights[max(0, step - delay)]", "start if step < delay else weights[-1 - delay]"),
]  # fmt: skip
