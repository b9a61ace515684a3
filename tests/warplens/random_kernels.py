"""Small random kernels, and what the microscope says of them: `python random_kernels.py 1000`.

Floats begin as halves of small integers, so that sums and products of few of them are exact, and a
kernel on any GPU has to give the same numbers.
"""

import itertools
import linecache
import math
import random
import sys
from collections import Counter

import numpy as np
from numba import cuda, float32, int32, int64, uint32

from warplens import KernelFault, Unsupported, trace, webgpu

BLOCK, BLOCKS, N = 64, 3, 200
NAMES = {"cuda": cuda, "math": math, "float32": float32, "int32": int32, "uint32": uint32,
         "int64": int64, "FULL": 0xFFFFFFFF}  # fmt: skip
HARMLESS = {"double precision", "negative index"}
SERIAL = itertools.count()


class Maker:
    def __init__(self, seed):
        self.random, self.text, self.depth = random.Random(seed), [], 1
        self.barriers = self.random.random() < 0.5
        self.atomic = self.random.choice(["add", "max", "min"])  # each alone commutes

    def one_of(self, *choices):
        return self.random.choice(choices)

    def integer(self, depth):
        r, big = self.random, self.one_of(3, 7, -5, 100, 8, 70_000, 2**20)
        if depth <= 0:
            return self.one_of("i", "t", "v0", "v1", "v2", "b", "n", "x.size", "k", "lane",
                               f"x[{self.place()}]", f"l[{self.place()}]", f"c[{self.place()}]",
                               f"x[{r.choice([-1, -3])}]", str(big), "int32(u0)")  # fmt: skip
        a, b = self.integer(depth - 1), self.integer(depth - 2)
        return r.choice([
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} // {big})", f"({a} % {big})",
            f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"({a} << {r.randrange(6)})",
            f"({a} >> {r.randrange(32)})", f"min({a}, {b})",
            f"max({a}, {b})", f"abs({a})",
            f"(-{a})", f"(~{a})", f"int32({a})", f"int64({a})",
            f"({a} if {self.test(depth - 1)} else {b})", f"helper({a}, {b})",
            f"cuda.popc(uint32({a}))", f"int32({self.unsigned(depth - 1)})",
            f"({a} // (x[{self.place()}] | 1))", f"({a} ** 2)",
        ])  # fmt: skip

    def unsigned(self, depth):
        if depth <= 0:
            return self.one_of("u0", f"y[{self.place()}]", "uint32(i)", "uint32(2654435761)")
        a, b = self.unsigned(depth - 1), self.unsigned(depth - 2)
        made = self.one_of(f"{a} + {b}", f"{a} * {b}", f"{a} - {b}", f"{a} ^ {b}",
                           f"{a} >> uint32(7)", f"{a} << 3", f"{a} & {b}", f"{a} // 7",
                           f"{a} % uint32(11)")  # fmt: skip
        return f"uint32({made})" if self.random.random() < 0.8 else f"({made})"

    def real(self, depth):
        if depth <= 0:
            if self.random.random() < 0.01:
                return "(f0 + 1)"
            return self.one_of("f0", "f1", f"z[{self.place()}]", "float32(0.5)", "float32(-2)",
                               f"float32({self.integer(0)} % 9)")  # fmt: skip
        a, b = self.real(depth - 1), self.real(depth - 2)
        return self.one_of(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * 2)", f"(-{a})", f"({a} / 4)",
            f"min({a}, {b})", f"max({a}, {b})", f"abs({a})", f"math.sqrt(abs({a}))",
            f"({a} / (abs({b}) + float32(1)))", f"half({a})",
            f"({a} if {self.test(depth - 1)} else {b})",
            f"({a} if {self.test(depth - 1)} else 0.0)", f"math.exp(-abs({a}))",
        )  # fmt: skip

    def place(self):
        return self.one_of("i % n", "t", "(i + 3) % 150", "t + b", "n - 1 - t", "i - n", "t - 20")

    def test(self, depth):
        a, b = self.integer(max(0, depth - 1)), self.integer(0)
        made = [f"{a} < {b}", f"{a} >= {b}", f"{a} == {b}", f"0 <= {a} < {b}", f"{a} % 3",
                f"z[{self.place()}] > 0.5", f"z[{self.place()}] < z[{self.place()}]",
                f"{self.unsigned(0)} < {self.unsigned(0)}"]  # fmt: skip
        if depth > 0:
            made += [f"({self.test(depth - 1)} and {self.test(0)})", f"not {self.test(depth - 1)}",
                     f"({self.test(0)} or {self.test(depth - 1)})"] * 2  # fmt: skip
        return self.random.choice(made)

    def line(self, text):
        self.text.append("    " * self.depth + text)

    def body(self, size, barriers, loop=False):
        self.depth += 1
        for _ in range(size):
            self.statement(barriers, loop)
        self.depth -= 1

    def statement(self, barriers, loop):
        r = self.random
        name = r.choice(["v0", "v1", "v2"])
        kinds = ["int"] * 3 + ["real"] * 3 + ["unsigned", "if", "if", "for", "while"]
        kinds += ["pair", "atomic", "store"]
        kinds += ["shared", "shuffle", "vote", "uniform"] * (2 * (barriers and self.barriers))
        kinds += ["leave"] * loop
        match r.choice(kinds if self.depth < 4 else kinds[:7]):
            case "int":
                self.line(f"{name} {r.choice(['=', '=', '+=', '-=', '^='])} {self.integer(3)}")
            case "real":
                self.line(f"f{r.randrange(2)} {r.choice(['=', '+='])} {self.real(3)}")
            case "unsigned":
                self.line(f"u0 = {self.unsigned(2)}")
            case "pair":
                self.line(f"v0, v1 = v1, {self.integer(2)}")
            case "store":
                self.line(f"{r.choice('xl')}[i] {r.choice(['=', '+='])} {self.integer(2)}")
            case "atomic":
                self.line(f"cuda.atomic.{self.atomic}(w, {self.integer(1)} % 5, {self.integer(1)})")
            case "if":
                self.line(f"if {self.test(2)}:")
                self.body(r.randint(1, 2), False, loop)
                if r.random() < 0.4:
                    self.line("else:")
                    self.body(1, False, loop)
            case "for":
                limits = r.choice(["4", "n % 7", "t % 5", "v0 & 7", "1, 9, 3", "9, 0, -2",
                                   "t, 70, 16", "6, 0, lane - 32"])  # fmt: skip
                self.line(f"for k in range({limits}):")
                self.body(r.randint(1, 3), False, True)
            case "while":
                self.line(f"m = {r.choice(['3', 't % 4', 'b'])}")
                self.line("while m > 0:")
                self.depth += 1
                self.line("m -= 1")
                self.depth -= 1
                self.body(r.randint(1, 2), False, True)
            case "leave":
                self.line(f"if {self.test(1)}:")
                self.depth += 1
                self.line(r.choice(["break", "continue"]))
                self.depth -= 1
            case "shared":
                for text in ("cuda.syncthreads()", f"s[t] = {self.integer(2)}",
                             "cuda.syncthreads()",
                             f"{name} = s[({self.integer(1)}) % 64]"):  # fmt: skip
                    self.line(text)
            case "shuffle":
                way = r.choice(["shfl_down_sync", "shfl_up_sync", "shfl_xor_sync", "shfl_sync"])
                self.line(f"{name} = cuda.{way}(FULL, int32({name}), {r.randrange(9)})")
            case "vote":
                way = r.choice(["any_sync", "all_sync"])
                self.line(f"{name} += 1 if cuda.{way}(FULL, {self.test(1)}) else 2")
            case "uniform":
                most = r.randrange(4)
                self.line(r.choice([f"if b < {most}:", "if n > 7:", "for k in range(b + 2):"]))
                self.body(r.randint(1, 3), True)

    def kernel(self):
        for text in (
            "i, t, b, lane = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x, cuda.laneid",
            "s = cuda.shared.array(64, int32)", "v0, v1, v2, k, m = i * 3, t - 9, n, 1, 0",
            "u0 = uint32(i)", "f0, f1 = float32(1.5), z[i % n]",
        ):  # fmt: skip
            self.line(text)
        for _ in range(self.random.randint(2, 6)):
            self.statement(True, False)
        for text in ("ints[0, i], ints[1, i], ints[2, i] = v0, v1, v2",
                     "ints[3, i] = u0 & uint32(65535)",
                     "reals[0, i], reals[1, i] = f0, f1"):  # fmt: skip
            self.line(text)
        return "\n".join(["def kernel(x, l, c, y, z, w, n, ints, reals):", *self.text]) + "\n"


HELPERS = """
def helper(a, b):
    if a > b:
        return a - b
    return a & 15


def half(x):
    return x * float32(0.5)
"""


def compiled(text, more=()):
    """The kernel of such a text, with helpers; inspect finds its source."""
    names = NAMES | dict(more)
    for each, what in (HELPERS, "device"), (text, "kernel"):
        file = f"<random {next(SERIAL)}>"
        linecache.cache[file] = len(each), None, each.splitlines(True), file
        exec(compile(each, file, "exec"), names)
        if what == "device":
            names |= {n: cuda.jit(device=True)(names[n]) for n in ("helper", "half")}
    return cuda.jit(names["kernel"])


def arguments(seed):
    rng = np.random.default_rng(seed)
    total = BLOCK * BLOCKS
    return [
        rng.integers(-99, 99, N).astype(np.int32), rng.integers(-9, 2**18, N),
        rng.integers(0, 128, N).astype(np.int8), rng.integers(0, 2**32, N).astype(np.uint32),
        (rng.integers(-9, 9, N) / 2).astype(np.float32),
        np.zeros(5, np.int32), N, np.zeros((4, total), np.int64), np.zeros((2, total), np.float32),
    ]  # fmt: skip


def shaken(text, seed):
    """How far the last bit of its floats moves what the microscope computes."""
    given, moved = arguments(seed), arguments(seed)
    moved[4] = np.nextafter(moved[4], np.float32(9))
    for each in (given, moved):
        trace(compiled(text))[BLOCKS, BLOCK](*each)
    return float(np.abs(given[8] - moved[8]).max())


def compared(seed):
    """(how a random kernel fared, its text, what was said): "same", "refused", "undefined" or
    "DIFFERENT"."""
    text = Maker(seed).kernel()
    kernel, want = compiled(text), arguments(seed)
    try:
        done = trace(kernel)[BLOCKS, BLOCK](*want)
        if done.races(limit=1) or {w.kind for w in done.warnings} - HARMLESS:
            return "undefined", text, ""
        fault = None
    except Unsupported as why:
        return "undefined", text, str(why)
    except KernelFault as why:
        fault = why
    try:
        got = launched(kernel, BLOCKS, BLOCK, arguments(seed))
    except (KernelFault, Unsupported) as why:
        return "refused", text, str(why)
    if fault is not None:
        kind = type(fault).__name__
        return ("DIFFERENT" if "Partial" in kind else "undefined"), text, f"{kind}: {fault}"
    for n, (a, b) in enumerate(zip(got, want, strict=True)):
        floats = np.asarray(b).dtype.kind == "f"  # of which differences may be small
        near = 1e-5 * max(1.0, np.nanmax(np.abs(b))) if floats else 0
        near = max(near, 4 * shaken(text, seed)) if n == 8 and np.abs(a - b).max() > near else near
        if not np.allclose(a, b, rtol=0, atol=near, equal_nan=True):
            return "DIFFERENT", text, f"argument {n}: {a[a != b][:4]} for {b[a != b][:4]}"
    return "same", text, ""


def launched(kernel, grid, block, given):
    """The arguments as a launch by WebGPU leaves them."""
    with webgpu.running():
        placed = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in given]
        kernel[grid, block](*placed)
        cuda.synchronize()
        return [a.copy_to_host() if hasattr(a, "copy_to_host") else a for a in placed]


def main(first, count):
    found, said = Counter(), Counter()
    for seed in range(first, first + count):
        state, text, why = compared(seed)
        found[state] += 1
        said[why.partition("WebGPU: ")[2][:70] if state == "refused" else ""] += 1
        if state == "DIFFERENT":
            print(f"seed {seed}: {why}\n{text}")
    print(webgpu.found().name, dict(found))
    for why, times in said.most_common(12):
        print(f"{times:5} {why}")


if __name__ == "__main__":
    main(*map(int, reversed(sys.argv[1:] or [60, 0])))
