"""Random programs with loops, branches and early exits: every thread gets what Python gives it."""

import linecache
import random

import numpy as np
import pytest
from numba import cuda

from warplens import trace

NAMES = "abc"


def expression(r, depth=2):
    if depth == 0 or r.random() < 0.3:
        return r.choice([*NAMES, "i", str(r.randint(-3, 9)), f"x[{r.choice(NAMES)} % 16]"])
    left, right = expression(r, depth - 1), expression(r, depth - 1)
    kind = r.random()
    if kind < 0.7:
        return f"(({left}) {r.choice(['+', '-', '*', '&', '|', '^'])} ({right})) % 97"
    if kind < 0.85:
        return f"({left}) // {r.choice([2, 3, -5])}"
    return f"({left} if {condition(r)} else {right})"


def condition(r):
    one = f"({expression(r, 1)}) % {r.randint(2, 5)} {r.choice(['<', '==', '!=', '>='])} 1"
    if r.random() < 0.3:
        return f"{one} {r.choice(['and', 'or'])} {expression(r, 1)} > {expression(r, 1)}"
    return f"not ({one})" if r.random() < 0.1 else one


def block(r, depth, indent, loops):
    """Lines of a suite; loops end because each has a counter of its own."""
    pad, lines = "    " * indent, []
    for _ in range(r.randint(1, 3)):
        kind = r.random()
        if depth == 0 or kind < 0.45:
            target, op = r.choice(NAMES), r.choice(["=", "+=", "="])
            lines.append(f"{pad}{target} {op} {expression(r)}")
        elif kind < 0.65:
            lines += [f"{pad}if {condition(r)}:", *block(r, depth - 1, indent + 1, loops)]
            if r.random() < 0.5:
                lines += [f"{pad}else:", *block(r, depth - 1, indent + 1, loops)]
        elif kind < 0.8:
            k, bound = f"k{indent}", r.choice(["4", f"({r.choice(NAMES)} + i) % 5"])
            head = f"{pad}for {k} in range({r.randint(0, 2)}, {bound}):"
            lines += [head, f"{pad}    a += {k}", *block(r, depth - 1, indent + 1, loops + 1)]
        elif kind < 0.9:
            k = f"n{indent}"
            lines += [f"{pad}{k} = 0", f"{pad}while {k} < 6 and ({condition(r)}):"]
            lines += [f"{pad}    {k} += 1", *block(r, depth - 1, indent + 1, loops + 1)]
        elif loops and kind < 0.97:
            lines += [f"{pad}if {condition(r)}:", f"{pad}    {r.choice(['break', 'continue'])}"]
        else:
            lines += [f"{pad}if {condition(r)}:", f"{pad}    return {expression(r, 1)}"]
    return lines


def program(seed):
    r = random.Random(seed)
    body = block(r, 3, 1, 0)
    source = "\n".join(
        ["def f(i, x):", "    a, b, c = i, 1, 2", *body, "    return a + 100 * b + c"]
    )
    name = f"<random program {seed}>"
    linecache.cache[name] = (len(source), None, (source + "\n").splitlines(True), name)
    space = {}
    exec(compile(source, name, "exec"), space)
    return space["f"], source


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_twenty_random_programs(first):
    x = (np.arange(16) * 7) % 10
    for seed in range(first, first + 20):
        f, source = program(seed)
        out = np.zeros(70, np.int64)
        trace(guarded(cuda.jit(device=True)(f)))[3, 32](x, out)
        expected = [f(i, x.tolist()) for i in range(70)]
        assert out.tolist() == expected, source


def guarded(device):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = device(i, x)

    return kernel
