"""Random kernels: what is said of every size is what plain Python finds, thread by thread."""

import itertools
import linecache
import math
import random
from types import SimpleNamespace

import pytest
from numba import cuda

from warplens import every_size, sizes

MANY = 20000  # turns of one thread: no loop here has as many, if it ends
LAUNCHES = [
    lambda n: (math.ceil(n / 4), 4),
    lambda n: (n // 4 + 1, 4),
    lambda n: ((n + 2) // 4 + 1, 4),
    lambda n: (n, 1),
    lambda n: (1, 8),
    lambda n: (2, 4),
    lambda n: ((n + 15) // 16, 4),
    lambda n: (max(1, n // 4), 4),
    lambda n: (n // 4 + (n != 6), 4),
]
SHAPES = [{}, {}, {}, {"x": lambda n: n + 2}, {"y": lambda n: (n + 1) // 2}, {"y": 40}]
BOUNDS = ["x.size", "y.size", "y.size", "x.size - 1", "min(x.size, y.size)", "7", "40"]
WHOLE = [  # that write all of y, where BOUND is its size
    ["if i < BOUND:", "    y[i] = 1"],
    ["if i >= BOUND:", "    return", "y[BOUND - 1 - i] = 1"],
    ["for q in range(i, BOUND, cuda.gridsize(1)):", "    y[q] = 1"],
    ["q = i", "while q < BOUND:", "    y[q] = 1", "    q += cuda.blockDim.x * cuda.gridDim.x"],
    ["for q in range(4 * i, min(4 * i + 4, BOUND)):", "    y[q] = 1"],
    ["if 2 * i < BOUND:", "    y[2 * i] = 1", "if 2 * i + 1 < BOUND:", "    y[2 * i + 1] = 1"],
    ["if i < BOUND and x[0] > 0:", "    y[i] = 1", "elif i < BOUND:", "    y[i] = 2"],
    ["for a in range(i, BOUND, cuda.gridsize(1)):",
     "    for q in range(i, BOUND, cuda.gridsize(1)):",
     "        if a == 0 or a == q:", "            y[q] = 1"],
]  # fmt: skip


class Gone(Exception):
    """A thread is where nothing is."""


class Checked:
    def __init__(self, size, value):
        self.size, self.shape, self.value, self.written = size, (size,), value, set()

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise Gone
        return self.value

    def __setitem__(self, index, value):
        self.written.add((self[index], index))


class Counted:
    """`range`, or a test, that some day has enough."""

    def __init__(self):
        self.left = MANY

    def __call__(self, truth=True):
        self.left -= 1
        if self.left < 0:
            raise Gone
        return truth


def broken(code, n, launch, shapes, value):
    """Does it break for this n, with this value in all of the arrays?"""
    grid, block = launch(n)
    x, y = (Checked(size(n) if callable(size) else size, value)
            for size in (shapes.get(name, n) for name in "xy"))  # fmt: skip
    for b, t in itertools.product(range(grid), range(block)):
        own = {"grid": b * block + t, "gridsize": grid * block}
        dims = {"blockIdx": b, "threadIdx": t, "blockDim": block, "gridDim": grid}
        names = {name: SimpleNamespace(x=held) for name, held in dims.items()}
        names |= {name: lambda axes, held=held: held for name, held in own.items()}
        space = {"cuda": SimpleNamespace(**names), "goes_on": Counted()}
        exec(code, space)
        try:
            space["kernel"](x, y)
        except Gone:
            return True
    return grid < 1 or len(y.written) < y.size


def index(r, v):
    return r.choice(
        [v, v, f"{v} + {r.randint(1, 3)}", f"{v} - 1", f"2 * {v} + 1", f"{v} // 2", f"{v} % 4",
         f"x.size - 1 - {v}", f"max({v} - 1, 0)", f"min({v} + 1, y.size - 1)", f"({v} and 3)",
         f"{v} * {v}", f"({v} if {v} < y.size else 0)"]
    )  # fmt: skip


def condition(r, v):
    bound = r.choice(BOUNDS)
    one = r.choice(
        [f"{v} < {bound}", f"{v} <= {bound}", f"0 < {v} < x.size - 1", f"{v} + 2 < {bound}",
         f"not {v} >= {bound}", f"{v} != 3", f"{v} % 2 == 0", f"{v} >= 40", "x.size > 20",
         "x[0] > 0"]
    )  # fmt: skip
    return one if r.random() < 0.7 else f"{one} {r.choice(['and', 'or'])} {condition(r, v)}"


def suite(r, v, pad="", depth=0):
    """Lines with accesses, most of them inside: under a guard that fits."""
    k, kind, inner = f"k{len(pad)}", r.random(), pad + "    "
    if depth > 2 or kind < 0.4:
        array, low = r.choice("xyy"), r.choice(["0", "0", "0", "40", "-1"])
        high = r.choice([f"{array}.size"] * 8 + [f"{array}.size + {v} // 40", "x.size"])
        access = f"{array}[j] = 1" if array == "y" else "v = x[j]"
        return [f"{pad}j = {index(r, v)}", f"{pad}if {low} <= j < {high}:", inner + access]
    if kind < 0.6:
        lines = [f"{pad}if {condition(r, v)}:", *suite(r, v, inner, depth + 1)]
        return lines + ([f"{pad}else:", *suite(r, v, inner, depth + 1)] if r.random() < 0.5 else [])
    if kind < 0.7:
        leave = r.choice(["return", "break", "continue"]) if depth and v != "i" else "return"
        return [f"{pad}if {condition(r, v)}:", inner + leave, *suite(r, v, pad, depth + 1)]
    spans = [f"{v}, x.size, cuda.gridsize(1)", "i, y.size, cuda.gridsize(1)",
             f"max({v} - 1, 0), {v}", "y.size - 1, -1, -1", f"0, {r.choice(BOUNDS)}, 2",
             "cuda.threadIdx.x, 9, cuda.blockDim.x"]  # fmt: skip
    if kind < 0.87:
        lines = [f"{pad}for {k} in range({r.choice(spans)}):", *suite(r, k, inner, depth + 1)]
        return lines + ([f"{pad}else:", *suite(r, v, inner, depth + 1)] if r.random() < 0.2 else [])
    step = r.choice(["cuda.gridsize(1)", "cuda.gridsize(1)", "1", "2", "-1"])
    head = [f"{pad}{k} = {r.choice([v, 'i', '0'])}", f"{pad}while {k} < {r.choice(BOUNDS)}:"]
    return [*head, *suite(r, k, inner, depth + 1), f"{inner}{k} += {step}"]


def made(r):
    """A kernel's lines."""
    whole = [
        line.replace("BOUND", r.choice(BOUNDS[:2] + ["y.size"] * 9)) for line in r.choice(WHOLE)
    ]
    more = [line for _ in range(r.randint(0, 2)) for line in suite(r, "i")]
    body = ["i = cuda.grid(1)", "v = x.size + y.size", *whole, *more]
    return "def kernel(x, y):\n" + "".join(f"    {line}\n" for line in body)


def with_ends(text):
    """The same for Python, in which a loop that never ends is noticed."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if line.lstrip().startswith("while "):
            lines[at] = line.replace("while ", "while goes_on(")[:-1] + "):"
    return compile("\n".join(lines), "<in Python>", "exec")


def kernel(text, name):
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    space = {"cuda": cuda}
    exec(compile(text, name, "exec"), space)
    return space["kernel"]


@pytest.mark.parametrize("seed", range(10))
def test_what_is_said_of_every_size_is_so(seed, monkeypatch):
    monkeypatch.setattr(sizes, "SAMPLED", ())  # the forms alone
    r = random.Random(seed)
    text, launch, shapes = made(r), r.choice(LAUNCHES), r.choice(SHAPES)
    answer = every_size(kernel(text, f"<sizes {seed}>"), launch, shapes, covers=["y"])
    code, known = with_ends(text), not answer.undecided
    if answer.correct:
        some = [*range(1, 20), r.randrange(40, 90)]
        wrong = [n for n in some for value in (0, 1) if broken(code, n, launch, shapes, value)]
        assert not wrong, text
    elif answer.smallest is not None:
        values = (0, 1) if known else (0,)
        first = (n for n in itertools.count(1) for value in values
                 if broken(code, n, launch, shapes, value))  # fmt: skip
        assert answer.smallest == next(first), text
    else:
        assert answer.undecided, text
