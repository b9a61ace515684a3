"""check() names the first trouble of an attempt, each bug by its own words."""

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons import check, gpu, matmul, op, relu, trace, transpose
from gpulessons.backends import host
from gpulessons.grader import SAVED
from gpulessons.grader.answers import check_answers
from gpulessons.grader.check import check_op
from gpulessons.grader.diagnosis import Mismatch, Wasteful
from gpulessons.grader.waste import check_sectors
from gpulessons.ops.load4 import load4

TILE = 32


def launched(kernel, blocks, threads):
    """A launcher that allocates like its input and starts the kernel."""

    def attempt(x):
        out = cuda.device_array_like(x)
        kernel[blocks(x.size), threads](x, out)
        return out

    return attempt


def up(n):
    return -(-n // 256)


@cuda.jit
def wide(x, out, rows):
    i = cuda.grid(1)
    out[i] = load4(x, (i // rows, 4 * (i % rows)))[0]


def test_wide_loads_use_as_many_sectors_as_they_ask_for_if_they_lie_side_by_side():
    x, out = np.ones((32, 128), np.float32), np.empty(32, np.float32)
    check_sectors([trace(wide)[1, 32](x, out, 32)], "", "read")
    with pytest.raises(Wasteful, match="touches 32 sectors"):
        check_sectors([trace(wide)[1, 32](x, out, 1)], "", "read")


@cuda.jit
def right(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], 0)


@cuda.jit
def no_guard(x, out):
    i = cuda.grid(1)
    out[i] = max(x[i], 0)


@cuda.jit
def partial_barrier(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.syncthreads()
        out[i] = max(x[i], 0)


@cuda.jit
def no_barrier(x, out):
    part = cuda.shared.array(256, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < x.size else 0
    if i < x.size:
        out[i] = max(part[t ^ 1], 0)


@cuda.jit
def repeated(x, out):
    i = cuda.threadIdx.x
    if i < x.size:
        out[i] = max(x[i], 0)


@cuda.jit
def looped(x, out):
    for i in range(x.size):
        out[i] = max(x[i], 0)


@cuda.jit
def too_late(x, out):
    """Half of the shared memory is read before anybody has written to it."""
    part = cuda.shared.array(256, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t < 16 and i < x.size:
        part[t] = x[i]
    cuda.syncthreads()
    if i < x.size:
        out[i] = max(part[t], 0)


@pytest.mark.parametrize(
    ("attempt", "words", "hint"),
    [
        (launched(no_guard, up, 256), "outside its shape", "the guard"),
        (launched(partial_barrier, up, 256), "a barrier is reached by", "every thread must reach"),
        (launched(no_barrier, up, 256), "A race", "a barrier between the two"),
        (launched(repeated, up, 256), "A race", "every block repeats these"),
        (launched(looped, up, 256), "A race", "elements of its own"),
        (launched(right, lambda n: max(1, n // 256), 256), "never written", "which threads exist"),
        (launched(right, up, 2048), "1,024", "the brackets"),
        (lambda x: cuda.device_array_like(x), "launched no kernel", "brackets"),
        # max(NaN, 0) is 0: no NaN tells.
        (launched(too_late, up, 256), "first element 16", "part is read where nothing"),
        (right, "the kernel alone", "its launcher"),
    ],
)
def test_a_wrong_kernel_is_refused_in_words(attempt, words, hint):
    before = dict(vars(cuda))
    verdict = check(relu, attempt, on=gpu)
    assert verdict.passed is False and verdict.untouched is False
    assert words in verdict.trouble, verdict
    assert hint in verdict.hint, verdict
    assert dict(vars(cuda)) == before  # the process is as it was


def test_a_right_kernel_passes_and_the_verdict_is_data_too():
    verdict = check(relu, launched(right, up, 256))  # it mentions cuda, so it is for a GPU
    assert verdict.passed is True and "thread by thread" in verdict.ran
    assert verdict._repr_mimebundle_()[SAVED] == {
        "subject": "relu", "passed": True, "trouble": "", "hint": "", "ran": verdict.ran,
        "untouched": False,
    }  # fmt: skip
    assert check(relu, relu.versions["CUDA, a thread per element"]).passed


@cuda.jit
def tiled_transpose(x, out, late):
    """One tile, used again and again: without the second barrier it is overwritten early."""
    tile = cuda.shared.array((TILE, TILE), float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    for row in range(0, x.shape[0], TILE):
        for column in range(0, x.shape[1], TILE):
            if row + i < x.shape[0] and column + j < x.shape[1]:
                tile[i, j] = x[row + i, column + j]
            cuda.syncthreads()
            if column + i < x.shape[1] and row + j < x.shape[0]:
                out[column + i, row + j] = tile[j, i]
            if late:
                cuda.syncthreads()


def test_a_second_barrier_that_is_dropped_is_a_race():
    def attempt(late):
        return lambda x, out: tiled_transpose[1, (TILE, TILE)](x, out, late)

    assert check(transpose, attempt(True), on=gpu).passed
    assert "A race" in check(transpose, attempt(False), on=gpu).trouble


def test_what_the_host_computed_is_no_work_of_a_kernel():
    def attempt(x):
        launched(right, up, 256)(x[:1])
        return cuda.to_device(np.maximum(x.copy_to_host(), 0))

    assert "no kernel computed it" in check(relu, attempt, on=gpu).trouble


def test_four_numbers_to_a_store_are_four_numbers_written():
    assert check(matmul, matmul.versions["CUDA, vectorized loads"]).passed


def square(size, rng):
    side = max(1, int(size**0.5))
    return (rng.standard_normal((side, side), np.float32),)


@op(inputs=square, flops=lambda x: x.size, sizes=(100,))
def doubled(x):
    return 2 * x


@op(inputs=square, flops=lambda x: 2 * x.size, sizes=(100,))
def doubled_and_squared(x):
    return 2 * x, x * x


@op(inputs=lambda size, rng: (rng.standard_normal((size, 3), np.float32),), flops=np.size,
    sizes=(100,))  # fmt: skip
def flipped(x):
    return x.T


def shifted(x, by):
    return np.roll((2 * x).ravel(), by).reshape(x.shape)


def in_part(x):
    """Right up to element 32, where there are so many."""
    return np.where(np.arange(x.size).reshape(x.shape) < 32, 2 * x, 0 * x).astype(np.float32)


@pytest.mark.parametrize(
    ("subject", "attempt", "words"),
    [
        (doubled, lambda x: (2 * x).T.copy(), "rows and columns are swapped"),
        (doubled, lambda x: shifted(x, 1), "one place too far"),
        (doubled, lambda x: shifted(x, -1), "one place too early"),
        (doubled, in_part, "everything from element 32 on is wrong"),
        (doubled, lambda x: 2 * x[:, :-1], "Wrong shape"),
        (doubled, lambda x: 2 * x.astype(np.float64), "Wrong dtype"),
        (doubled, lambda x: (2 * x).tolist(), "a list, not an array"),
        (doubled, lambda x: None, "returned nothing"),
        (doubled, lambda x: (2 * x, x), "2 results, where 1 are expected"),
        (doubled, lambda x: 2 * x * np.where(x > 2, np.nan, 1).astype(np.float32), "NaN"),
        (doubled, lambda x: np.multiply(x, 2, out=x), "changed its input in place"),
        (doubled, lambda x: 1 / 0, "ZeroDivisionError"),
        (doubled, lambda x: np.where(x < 0, x, 2 * x), "every negative input"),
        (doubled, lambda x: 2 * np.clip(x, -2, 2), "large inputs"),
        (doubled, lambda x: np.where(abs(x) <= abs(x).min(), 2 * x, x), "elements, first element"),
        (doubled, lambda x, out: None, "never written"),
        (doubled, 7, "7 is not a function"),
        (doubled_and_squared, lambda x: (2 * x, 2 * x), "Wrong at size 31, result [1]"),
        (doubled_and_squared, lambda x, out: out[1].fill(0), "At size 31, result [0]"),
        (flipped, lambda x: x.copy(), "(3, 31) is expected. Rows and columns are swapped"),
    ],
)
def test_a_wrong_array_is_named_by_its_pattern(subject, attempt, words):
    verdict = check(subject, attempt, on=host)
    assert verdict.passed is False
    assert words in verdict.trouble, verdict


@cuda.jit
def a_few(x, out, rows, columns):
    column, row = cuda.grid(2)
    if row < min(rows, x.shape[0]) and column < min(columns, x.shape[1]):
        out[row, column] = 2 * x[row, column]


def test_elements_that_nobody_wrote_are_counted_and_the_ends_are_named():
    def attempt(rows, columns):
        return lambda x, out: a_few[(1, 5), (64, 8)](x, out, rows, columns)

    assert check(doubled, attempt(64, 64), on=gpu).passed
    column = check(doubled, attempt(64, 4), on=gpu).trouble
    assert "5 of the 25 elements of out were never written" in column
    assert "the first is element 0, 4, the last element 4, 4." in column
    rows = check(doubled, attempt(3, 64), on=gpu).trouble
    assert "10 of the 25" in rows and "the first is element 3, 0, the last element 4, 4." in rows


def test_a_mistake_that_is_known_is_named():
    known = [("it is not doubled.", "the factor.", lambda x: x)]
    with pytest.raises(Mismatch, match="Wrong at size 31: it is not doubled") as found:
        check_op(doubled, lambda x: x.copy(), host, mistakes=known)
    assert found.value.hint == "the factor."


def test_answers_are_compared_as_values_and_one_mistake_may_explain_them_all():
    def half(number):
        return (number / 2, "even") if number % 2 == 0 else None

    cases = [(2,), (3,), (8,)]
    mistakes = [("That is the double.", "the factor.", lambda number: (2 * number, "even"))]
    for answer in (half, lambda n: None if n % 2 else [np.float32(n / 2), "even"]):
        check_answers(answer, half, cases, "half of it.", mistakes)
    with pytest.raises(Mismatch, match="That is the double"):
        check_answers(lambda n: None if n % 2 else (2.0 * n, "even"), half, cases, "", mistakes)
    with pytest.raises(Mismatch, match=r"For number = 8: it was \[1, 'even'\], where \[4, 'even"):
        check_answers(lambda n: None if n % 2 else (1, "even"), half, cases, "", mistakes)
