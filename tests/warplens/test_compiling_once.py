"""A kernel is compiled once, and anew when it, or what a name in it means, is another."""

import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32

from warplens import NoProgress, Unsupported, trace, tracing
from warplens.source import compile as programs

HERE = sys.modules[__name__]
FACTOR = 2
TABLE = np.array([1.0, 10.0])
SETTINGS = SimpleNamespace(shift=1)


@cuda.jit(device=True)
def scaled(x):
    return x * FACTOR


@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    part = cuda.shared.array(64, float32)
    part[cuda.threadIdx.x] = scaled(i)
    cuda.syncthreads()
    if i < out.size:
        out[i] = part[cuda.threadIdx.x] + TABLE[0] + SETTINGS.shift


def result(function=kernel, n=4, threads=32):
    out = np.zeros(n)
    trace(function)[1, threads](out)
    return out.tolist()


@pytest.fixture
def written(monkeypatch):
    """The names of the functions that were compiled."""
    names = []

    class Counting(programs.Writer):
        def __init__(self, function, *rest):
            names.append(function.__name__)
            super().__init__(function, *rest)

    monkeypatch.setattr(programs, "Writer", Counting)
    programs.PROGRAMS.clear()
    return names


def test_a_second_launch_compiles_nothing_whatever_its_sizes_and_types(written):
    assert result() == [2, 4, 6, 8]
    assert sorted(written) == ["kernel", "scaled"]
    assert result(n=2, threads=64) == [2, 4]
    with tracing():
        kernel[2, 32](out := np.zeros(3, np.float32))
    assert out.tolist() == [2, 4, 6]
    assert sorted(written) == ["kernel", "scaled"]


def test_a_device_function_is_compiled_once_for_all_kernels_that_call_it(written):
    @cuda.jit
    def other(out):
        out[cuda.grid(1)] = scaled(5)

    assert result() == [2, 4, 6, 8]
    assert result(other, 32)[0] == 10
    assert written.count("scaled") == 1


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("FACTOR", 3, [2, 5, 8, 11]),  # a constant of the device function
        ("FACTOR", 0.5, [2, 2.5, 3, 3.5]),
        ("TABLE", np.array([7.0]), [8, 10, 12, 14]),
        ("SETTINGS", SimpleNamespace(shift=0), [1, 3, 5, 7]),
        ("scaled", cuda.jit(device=True)(lambda x: x), [2, 3, 4, 5]),
        ("scaled", object(), None),
    ],
)
def test_a_global_that_means_something_else_is_what_the_next_launch_reads(
    monkeypatch, name, value, expected
):
    assert result() == [2, 4, 6, 8]
    monkeypatch.setattr(HERE, name, value)
    if expected is None:
        with pytest.raises(Unsupported):  # it cannot be called: it was looked at
            result()
    else:
        assert result() == expected
    monkeypatch.undo()
    assert result() == [2, 4, 6, 8]


def test_an_attribute_and_an_entry_that_change_in_place_are_read_anew(monkeypatch):
    assert result() == [2, 4, 6, 8]
    monkeypatch.setattr(SETTINGS, "shift", 10)
    assert result() == [11, 13, 15, 17]
    monkeypatch.setattr(HERE, "TABLE", table := np.array([0.0]))
    assert result() == [10, 12, 14, 16]
    table[0] = 5
    assert result() == [15, 17, 19, 21]


def test_a_program_s_kernel_keeps_what_names_meant_when_it_was_first_launched(monkeypatch):
    """On a GPU it was compiled then, once for each type; a new look at the kernel sees the new."""
    with tracing():
        made = cuda.jit(kernel.py_func)
        made[1, 32](first := np.zeros(3, np.float32))
        monkeypatch.setattr(HERE, "FACTOR", 3)
        TABLE[0] += 1
        made[1, 32](again := np.zeros(3, np.float32))
        made[1, 32](other := np.zeros(3))
        TABLE[0] -= 1
    assert first.tolist() == again.tolist() == [2, 4, 6]
    assert other.tolist() == [3, 6, 9]
    assert result(made, 32)[:3] == [2, 5, 8]


def test_a_name_that_comes_to_hide_a_builtin_does(monkeypatch):
    @cuda.jit
    def smallest(out):
        out[cuda.grid(1)] = min(3, 4)

    assert result(smallest, 32)[0] == 3
    monkeypatch.setattr(HERE, "min", max, raising=False)
    assert result(smallest, 32)[0] == 4


def test_a_variable_of_an_outer_function_is_read_anew():
    def made():
        def choose(value):
            nonlocal chosen
            chosen = value

        @cuda.jit
        def constant(out):
            out[cuda.grid(1)] = chosen

        chosen = 1
        return constant, choose

    constant, choose = made()
    assert result(constant, 32)[0] == 1
    choose(2)
    assert result(constant, 32)[0] == 2
    assert result(made()[0], 32)[0] == 1  # another closure of the same code
    assert result(constant, 32)[0] == 2


def test_a_kernel_that_is_defined_anew_is_another_kernel(tmp_path):
    def defined(text):
        path = tmp_path / "cell.py"
        path.write_text(f"from numba import cuda\n\n@cuda.jit\ndef f(out):\n    out[0] = {text}\n")
        space = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        return space["f"]

    first = defined("1")
    assert result(first)[0] == 1
    second = defined("22 + 0")
    assert result(second)[0] == 22
    assert result(first)[0] == 1  # though its file says otherwise by now


def test_other_defaults_and_other_code_of_one_function_are_seen():
    def f(out, a=1):
        out[cuda.grid(1)] = a

    def g(out, a=1):
        out[cuda.grid(1)] = -a

    assert result(f, 32)[0] == 1
    f.__defaults__ = (5,)
    assert result(f, 32)[0] == 5
    f.__name__, f.__code__ = "g", g.__code__
    assert result(f, 32)[0] == -5


def test_an_array_of_one_place_is_not_that_of_another_function_with_the_same_line():
    def made(n):
        @cuda.jit(device=True)
        def last():
            mine = cuda.local.array(n, float32)
            for i in range(n):
                mine[i] = i
            return mine[n - 1]

        return last

    three, five = made(3), made(5)

    @cuda.jit
    def both(out):
        out[0] = three()
        out[1] = five()

    assert result(both)[:2] == [2, 4]


def test_a_kernel_that_is_forgotten_takes_its_program_along():
    def made():
        @cuda.jit(device=True)
        def one():
            part = cuda.local.array(1, float32)
            part[0] = 1
            return part[0]

        @cuda.jit
        def temporary(out):
            part = cuda.shared.array(1, float32)
            part[0] = out[0]
            out[cuda.grid(1)] = one()

        return temporary

    temporary = made()
    assert result(temporary, 32)[0] == 1
    gone = weakref.ref(temporary.py_func)
    gc.collect()  # what other tests have left
    before = len(programs.PROGRAMS)
    del temporary
    gc.collect()
    assert gone() is None
    assert len(programs.PROGRAMS) == before - 2


def test_threads_that_launch_one_kernel_together_compile_it_once(written):
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: result(), range(24)))
    assert all(r == [2, 4, 6, 8] for r in results)
    assert sorted(written) == ["kernel", "scaled"]


def test_recursion_without_end_is_told_each_time():
    @cuda.jit(device=True)
    def again(n):
        return again(n)

    @cuda.jit
    def start(out):
        out[0] = again(1)

    for _ in range(2):
        with pytest.raises(NoProgress, match="without end"):
            result(start)
