"""Python as people write it in kernels: every thread gets what plain Python gives."""

import enum
import math

import numpy as np
import pytest
from numba import cuda

from warplens import NoProgress, Unsupported, trace
from warplens.faults import Untypable


class Color(enum.Enum):
    RED = 3
    GREEN = 5


class Planet(enum.Enum):
    EARTH = 1.5, 2
    MARS = 2.5, 3


class Digit(enum.IntEnum):
    ONE = 1
    TWO = 2


SIZE = 4
PRIMES = 2, 3, 5, 7


# Loops


def for_else(i, x):
    for k in range(2, 6):
        if i % k == 0:
            break
    else:
        k = 100
        i += 1
    return k + i


def while_else_in_a_loop(i, x):
    total = 0
    for a in range(i % 5):
        k = a
        while k < 8:
            k += 1
            if k * a == i:
                total += 1000
                break
            if k == 7:
                continue
            total += k
        else:
            if a == 3:
                break
            total += 10
            continue
        total += 1
    else:
        total = -total
    return total


def else_of_a_loop_without_turns(i, x):
    k = 5
    for k in range(i % 3):
        if i == 7 + k:
            return -1
    else:
        k += 50
    return k


def enumerate_of_zip(i, x):
    total = 0
    for k, (a, b) in enumerate(zip(x, x[i % 5 :])):  # noqa: B905
        if k > i:
            break
        total += k * a - b
    return total


def zip_of_ranges_and_enumerate(i, x):
    total = 0
    for a, b in zip(range(i, 0, -2), x):  # noqa: B905
        total = total * 3 + a * b
    for (k, a), b in zip(enumerate(x, 7), range(i % 4)):  # noqa: B905
        total += k * a + b
    for k, a in enumerate(range(3, i, 4)):
        total += k * a
    return total


def a_range_and_a_zip_held(i, x):
    r, z, total = range(i % 6), zip(x, x[2:]), 0  # noqa: B905
    for k in r:
        total += k
    for a, b in z:
        total += a * b
    return total


# Functions


def inner_function(i, x):
    k = i + 1

    def scaled(a, b=2):
        if a > 5:
            return a * b + x[k % 20]
        return k - a

    k += 1
    return scaled(i) + scaled(i % 3, b=4) * (scaled(3) if i % 2 else 1)


def inner_function_with_a_loop(i, x):
    i += 1

    def first_divisor(n):
        for k in range(2, n):
            if n % k == 0:
                return k
        return n

    total = 0
    for k in range(1, 1 + i % 4):
        total = 100 * total + first_divisor(i * k)
    return total


def inner_function_of_an_inner_function(i, x):
    total = 0

    def outer(n):
        def inner(m):
            return m * n + i

        return inner(n) + inner(2)

    for k in range(i % 3):
        total += outer(k)
    return total


def nonlocal_variable(i, x):
    count = 0

    def add(n):
        nonlocal count
        if n % 2:
            count += n

    for k in range(i):
        add(k)
    return count


def lambdas(i, x):
    f = lambda a, b=3: a * b + i  # noqa: E731
    return f(i) + f(1, b=i) + (lambda n: n * n)(i)


@cuda.jit(device=True)
def applied(function, *values):
    return function(*values) + function(*values)


def functions_handed_on(i, x):
    size = 3

    def fit(a, b):
        return a * SIZE + b * size

    return applied(fit, i, 2) + applied(lambda a: -a, i)


@cuda.jit(device=True)
def sum_of(*values):
    total = 0
    for value in values:
        total += value
    return total + 100 * len(values)


def star_arguments(i, x):
    pair = i, i + 1
    return sum_of(1, i, 3) + sum_of(*pair) * sum_of(i, *pair)


def recursion(i, x):
    return fibonacci(i % 13) * 1000 + depth(i)


@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit(device=True)
def depth(n):
    return 0 if n <= 0 else 1 + depth(n // 2)


# Variables and tuples


def a_variable_set_only_where_it_is_used(i, x):
    if x[0] > 1000:
        v = x[i]
    return v * 2 + i if x[0] > 1000 else 7


def some_lanes_set_it(i, x):
    if i % 3 == 0:
        v = x[i % 20] + 0.5
    return (v if i % 3 == 0 else 7.0) + (1 if i > 3 else v if i % 3 == 0 else 2)


def membership(i, x):
    n = i % 9
    return (
        (n in PRIMES)
        + 2 * (n not in (1, 2, 3))
        + 4 * (x[n] in (x[0], x[1]))
        + 8 * (n in ())  # noqa: RUF060
        + 16 * (n + 3 in x)
    )


def tuple_arithmetic(i, x):
    a = (i, i + 1)
    b = a + (i * i,) + PRIMES  # noqa: RUF005
    n = len(b)
    return b[-1] * n + b[i % 7] + b[2] + a[1:][0] + b[-(i % 7) - 1]


def tuple_comparisons(i, x):
    a, b = (i % 3, i % 2), (1, i % 5)
    return (
        (a == b) + 2 * (a != b) + 4 * (a < b) + 8 * (a >= b) + 16 * (a == (1,)) + 32 * ((1, i) > a)
    )


def tuples_of_tuples(i, x):
    t = (1, i), (i, 3), (5, 6)
    return t[1][0] + 100 * t[i % 3][1]


def cuda_names_held(i, x):
    m = math
    root = m.sqrt
    return m.floor(m.sqrt(i)) + int(root(i * 4))


# Enums, constants


def enums(i, x):
    color = Color.RED if i % 2 else Color.GREEN
    planet = Planet.EARTH if i % 3 else Planet.MARS
    total = color.value + 10 * (color == Color.RED) + 20 * (color is not Color["GREEN"])
    total += 40 * (planet == Planet.MARS) + 80 * (color in (Color.RED,))
    return total + Digit.ONE + Digit["TWO"].value * i


def texts(i, x):
    mode = "sum"
    return (i if mode == "sum" else -i) + len(mode) + (2 if "u" in mode else 0)


def floats_from_text(i, x):
    least = float("inf")
    for k in range(i):
        least = min(least, abs(x[k % 20] - 3.25))
    return least if i else float("1.5") - math.copysign(1.0, float("-inf"))


def assertions_that_hold(i, x):
    assert i >= 0
    if i > 1000:
        raise ValueError("too large")
    assert i < 1000, "not so many"
    return i


FUNCTIONS = [
    for_else,
    while_else_in_a_loop,
    else_of_a_loop_without_turns,
    enumerate_of_zip,
    zip_of_ranges_and_enumerate,
    a_range_and_a_zip_held,
    inner_function,
    inner_function_with_a_loop,
    inner_function_of_an_inner_function,
    nonlocal_variable,
    lambdas,
    functions_handed_on,
    star_arguments,
    recursion,
    a_variable_set_only_where_it_is_used,
    some_lanes_set_it,
    membership,
    tuple_arithmetic,
    tuple_comparisons,
    tuples_of_tuples,
    cuda_names_held,
    enums,
    texts,
    floats_from_text,
    assertions_that_hold,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_thread_gets_what_python_gives(function, monkeypatch):
    device = cuda.jit(device=True)(function)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = device(i, x)

    x = (np.arange(20) * 7) % 10
    out = np.zeros(75)
    trace(kernel)[3, 32](x, out)
    for called in (applied, sum_of, fibonacci, depth):
        monkeypatch.setitem(globals(), called.py_func.__name__, called.py_func)
    assert out.tolist() == [function(i, x.tolist()) for i in range(75)]


def test_positions_and_functions_of_cuda_in_variables():
    @cuda.jit(device=True)
    def flat(t, d):
        return t.x + d.x * t.y

    @cuda.jit
    def kernel(out):
        t, g, wait = cuda.threadIdx, cuda.gridsize, cuda.syncthreads
        c = cuda
        shared = c.shared
        atomic = cuda.atomic
        s = shared.array(8, np.int64)
        i = flat(t, cuda.blockDim)
        s[i] = i
        wait()
        atomic.add(out, i, s[7 - i] + 100 * g(1) + 1000 * c.blockIdx.x)

    out = np.zeros(8, np.int64)
    trace(kernel)[2, (4, 2)](out)
    assert out.tolist() == [2 * (7 - i) + 2 * 800 + 1000 for i in range(8)]


def test_an_ellipsis_stands_for_whole_axes():
    @cuda.jit
    def kernel(a, b, x):
        i = cuda.grid(1)
        column, row, all_of_it = a[..., i], a[i, ...], a[...]
        x[i] = column[1] * 100 + row[2] * 10 + all_of_it[0, i]
        b[..., i, 1] = a[..., 0, i][...]
        x[..., i + 4] = x[..., i]

    a, b, x = np.arange(16.0).reshape(4, 4), np.zeros((4, 2)), np.zeros(8)
    trace(kernel)[1, 4](a, b, x)
    assert x[:4].tolist() == [a[1, i] * 100 + a[i, 2] * 10 + a[0, i] for i in range(4)]
    assert x[4:].tolist() == x[:4].tolist()
    assert b[:, 1].tolist() == a[0].tolist()


def test_enums_as_arguments():
    @cuda.jit
    def kernel(color, digit, out):
        out[0], out[1] = color == Color.RED, color is Color.GREEN
        out[2], out[3] = digit, color.value

    out = np.zeros(4, np.int64)
    trace(kernel)[1, 1](Color.RED, Digit.TWO, out)
    assert out.tolist() == [1, 0, 2, 3]


def test_a_lambda_is_a_device_function():
    twice, thrice = cuda.jit(device=True)(lambda a: 2 * a), cuda.jit(device=True)(lambda a: 3 * a)

    @cuda.jit
    def kernel(x):
        x[0], x[1] = twice(4), thrice(4)

    x = np.zeros(2)
    trace(kernel)[1, 1](x)
    assert x.tolist() == [8, 12]


def test_an_unused_expression_is_read_and_dropped():
    def kernel(x):
        i = cuda.grid(1)
        x[i] + 1
        x.shape[0]

    t = trace(kernel)[1, 32](np.zeros(32, np.float32))
    assert t.coalescing("x").sectors_per_request == 4


# Exceptions


@cuda.jit(device=True)
def checked_root(v):
    if v < 0:
        raise ValueError("no root")
    return math.sqrt(v)


def raises_in_a_device_function(x, out, n):
    i = cuda.grid(1)
    out[i] = 1
    ok = x[i] > 50 or checked_root(x[i]) > 3
    out[i] = 2 if ok else checked_root(x[i] - 4)
    out[i] += 3


def asserts(x, out, n):
    i = cuda.grid(1)
    out[i] = 1
    for k in range(3):
        assert x[i] > k - 2, "too small"
        out[i] += 1
    out[i] += 100


def leaves_a_tuple(x, out, n):
    i = cuda.grid(1)
    out[i] = 1
    out[i] = (10, 20, 30)[i - n]


KINDS = {
    raises_in_a_device_function: (ValueError, "no root"),
    asserts: (AssertionError, "too small"),
    leaves_a_tuple: (IndexError, "tuple index out of range"),
}


def by_thread(kernel, x, n):
    """What plain Python leaves behind where an exception ends a thread."""
    out = np.zeros(len(x))

    class Grid:
        def __init__(self, i):
            self.grid = lambda ndim: i

    for i in range(len(x)):
        space = globals() | {"cuda": Grid(i), "checked_root": checked_root.py_func}
        try:
            type(kernel)(kernel.__code__, space)(x, out, n)
        except KINDS[kernel][0]:
            pass
    return out


@pytest.mark.parametrize("kernel", KINDS)
def test_an_exception_ends_its_thread(kernel):
    x, out = np.arange(-4.0, 60.0), np.zeros(64)
    t = trace(kernel)[2, 32](x, out, 30)
    assert np.array_equal(out, by_thread(kernel, x, 30))
    caution = next(c for c in t.warnings if c.kind == "exception")
    kind, text = KINDS[kernel]
    assert kind.__name__ in str(caution) and text in str(caution)
    assert 0 < caution.times < 64


@pytest.mark.parametrize("kernel", KINDS)
def test_in_debugging_the_host_raises_it(kernel):
    x, out = np.arange(-4.0, 60.0), np.zeros(64)
    kind, text = KINDS[kernel]
    with pytest.raises(kind, match=r"tid=\[0, 0, 0\] ctaid=\[0, 0, 0\]: " + text):
        trace(cuda.jit(kernel, debug=True, opt=False))[2, 32](x, out, 30)


def test_division_by_zero_is_an_exception_in_debugging():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = 1 / x[i]
        out[i] += 10 // x[i] + 10 % x[i]

    x, plain, debugged = np.arange(3.0), np.zeros(3), np.zeros(3)
    trace(kernel)[1, 3](x, plain)
    with pytest.raises(ZeroDivisionError, match=r"tid=\[0, 0, 0\]"):
        trace(cuda.jit(kernel, debug=True, opt=False))[1, 3](x, debugged)
    assert not np.isfinite(plain[0])
    assert debugged.tolist() == [0, 11, 5.5]


def test_all_threads_may_end():
    def kernel(x):
        x[0] = 1
        if x.size:
            raise ValueError
        x[0] = 2

    x = np.zeros(1)
    t = trace(kernel)[4, 32](x)
    assert x[0] == 1
    assert [c.times for c in t.warnings if c.kind == "exception"] == [128]


# What stays refused


def a_tuple_index_that_does_not_exist(x):
    x[0] = (1, 2, 3)[3]


def membership_in_a_mixed_tuple(x):
    x[0] = x[0] in (1, 2.5)


def a_loop_over_a_mixed_tuple(x):
    for v in (1, cuda.threadIdx.x):
        x[v] = 1


def an_index_that_varies_of_a_mixed_tuple(x):
    x[0] = (1, 2.5)[cuda.threadIdx.x % 2]


def a_function_handed_on_with_a_variable(x):
    i = cuda.threadIdx.x

    def f(a):
        return a + i

    x[0] = applied(f, 1)


def a_lambda_handed_on_with_a_variable(x):
    i = cuda.threadIdx.x
    x[0] = applied(lambda a: a + i, 1)


def an_unpacked_position(x):
    a, b, c = cuda.threadIdx
    x[0] = a + b + c


def an_inner_function_that_calls_itself(x):
    def f(n):
        return 0 if n < 1 else f(n - 1)

    x[0] = f(3)


def enumerate_with_a_keyword(x):
    for i, v in enumerate(x, start=1):
        x[0] = i + v


REFUSED = {
    a_tuple_index_that_does_not_exist: "tuple index out of range",
    membership_in_a_mixed_tuple: "several types",
    a_loop_over_a_mixed_tuple: "several types",
    an_index_that_varies_of_a_mixed_tuple: "several types",
    a_function_handed_on_with_a_variable: "uses 'i', which is no constant",
    a_lambda_handed_on_with_a_variable: "uses 'i', which is no constant",
    an_unpacked_position: "Dim3",
    an_inner_function_that_calls_itself: "calls itself",
    enumerate_with_a_keyword: "start",
}


@pytest.mark.parametrize("kernel", REFUSED)
def test_what_numba_refuses_is_refused(kernel):
    with pytest.raises((Unsupported, Untypable), match=REFUSED[kernel]):
        trace(kernel)[1, 4](np.ones(4, np.float32))


@cuda.jit(device=True)
def endless(n):
    if n > -5:
        return endless(n + 1)
    return n


def test_recursion_without_end():
    def kernel(x):
        x[0] = endless(3)

    with pytest.raises(NoProgress, match="endless calls itself without end"):
        trace(kernel)[1, 1](np.zeros(1))
