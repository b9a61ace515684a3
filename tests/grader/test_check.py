"""check() names the first trouble of an attempt, each bug by its own words."""

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons import check, gpu, op, relu, total, transpose
from gpulessons.backends import host
from gpulessons.grader.check import check_op
from gpulessons.grader.diagnosis import Trouble
from gpulessons.grader.taken_apart import elements_taken

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


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (launched(no_guard, up, 256), "outside its shape"),
        (launched(partial_barrier, up, 256), "threads"),
        (launched(no_barrier, up, 256), "A race"),
        (launched(right, lambda n: max(1, n // 256), 256), "never written"),
        (launched(right, up, 2048), "1,024"),
        (lambda x: cuda.device_array_like(x), "launched no kernel"),
    ],
)
def test_a_wrong_kernel_is_refused_in_words(attempt, words):
    verdict = check(relu, attempt, on=gpu)
    assert verdict.passed is False
    assert words in verdict.trouble, verdict


@cuda.jit
def repeated(x, out):
    i = cuda.threadIdx.x
    if i < x.size:
        out[i] = max(x[i], 0)


@cuda.jit
def looped(x, out):
    for i in range(x.size):
        out[i] = max(x[i], 0)


@pytest.mark.parametrize(
    ("kernel", "hint"),
    [(repeated, "every block repeats these"), (looped, "elements of its own"),
     (no_barrier, "a barrier between the two")],
)  # fmt: skip
def test_a_race_is_looked_for_in_the_index_or_in_the_order(kernel, hint):
    verdict = check(relu, launched(kernel, up, 256), on=gpu)
    assert "A race" in verdict.trouble
    assert hint in verdict.hint


def test_a_right_kernel_passes_and_says_what_was_tried():
    verdict = check(relu, launched(right, up, 256), on=gpu)
    assert verdict.passed is True
    assert "thread by thread" in verdict.ran


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


def test_a_value_that_came_from_nowhere_is_looked_for_where_it_was_read():
    verdict = check(relu, launched(too_late, up, 256), on=gpu)
    assert "first element 16" in verdict.trouble  # max(NaN, 0) is 0: no NaN tells
    assert "part is read where nothing has been written to it" in verdict.hint


@cuda.jit
def not_atomic(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0] += x[i]


def test_a_sum_without_atomics_is_a_race():
    def attempt(x):
        out = cuda.to_device(np.zeros(1, np.float32))
        not_atomic[up(x.size), 256](x, out)
        return out

    assert "A race" in check(total, attempt, on=gpu).trouble


@cuda.jit
def turned(x, out, late):
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


@pytest.mark.parametrize(("late", "passed"), [(True, True), (False, False)])
def test_a_second_barrier_that_is_dropped_is_a_race(late, passed):
    def attempt(x, out):
        turned[1, (TILE, TILE)](x, out, late)

    verdict = check(transpose, attempt, on=gpu)
    assert verdict.passed is passed
    assert passed or "A race" in verdict.trouble


def square(size, rng):
    side = max(1, int(size**0.5))
    return (rng.standard_normal((side, side), np.float32),)


@op(inputs=square, flops=lambda x: x.size, sizes=(100,))
def doubled(x):
    return 2 * x


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda x: (2 * x).T.copy(), "rows and columns are swapped"),
        (lambda x: (2 * x)[::-1].copy(), "in the wrong order"),
        (lambda x: 2 * x[:, :-1], "Wrong shape"),
        (lambda x: 2 * x.astype(np.float64), "Wrong dtype"),
        (lambda x: (2 * x).tolist(), "a list, not an array"),
        (lambda x: None, "returned nothing"),
        (lambda x: (2 * x, x), "2 results; 1 are due"),
        (lambda x: 2 * x * np.where(x > 2, np.nan, 1).astype(np.float32), "NaN"),
        (lambda x: 2 * x if x.size > 25 else x, "Wrong at size 31"),
        (lambda x: np.multiply(x, 2, out=x), "changed its input in place"),
        (lambda x: 1 / 0, "ZeroDivisionError"),
        (lambda x: np.where(x < 0, x, 2 * x), "every negative input"),
        (lambda x: 2 * np.clip(x, -2, 2), "large inputs"),
        (lambda x: np.where(abs(x) <= abs(x).min(), 2 * x, x), "elements, first element"),
        (lambda x, out: None, "never written"),
    ],
)
def test_a_wrong_array_is_named_by_its_pattern(attempt, words):
    verdict = check(doubled, attempt, on=host)
    assert verdict.passed is False
    assert words in verdict.trouble, verdict


@op(inputs=square, flops=lambda x: 2 * x.size, sizes=(100,))
def doubled_and_squared(x):
    return 2 * x, x * x


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda x: (2 * x, 2 * x), "Wrong at size 31, result [1]"),
        (lambda x: (x, x * x), "Wrong at size 31, result [0]"),
        (lambda x, out: np.multiply(2, x, out=out[0]) * 0, "1 results; 2 are due"),
        (lambda x, out: out[1].fill(0), "At size 31, result [0]"),
    ],
)
def test_of_several_results_the_wrong_one_is_named(attempt, words):
    assert words in check(doubled_and_squared, attempt, on=host).trouble


def test_a_mistake_that_is_known_is_named_and_a_remark_is_kept():
    known = [("it is not doubled.", "the factor.", lambda x: x)]
    with pytest.raises(Trouble, match="Wrong at size 31: it is not doubled") as trouble:
        check_op(doubled, lambda x: x.copy(), host, mistakes=known)
    assert trouble.value.hint == "the factor."
    several = [("it is not doubled.", "the factor.", lambda x: 3 * x, lambda x: x)]
    with pytest.raises(Trouble, match="Wrong at size 31: it is not doubled"):
        check_op(doubled, lambda x: x.copy(), host, mistakes=several)
    said = check_op(doubled, lambda x: 2 * x, host, lambda launches: f"{len(launches)} launches.")
    assert said.endswith("1201, 1. 0 launches.")


@cuda.jit
def a_few_columns(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < 4:
        out[row, column] = 2 * x[row, column]


@cuda.jit
def a_few_rows(x, out):
    column, row = cuda.grid(2)
    if row < 4 and column < x.shape[1]:
        out[row, column] = 2 * x[row, column]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (a_few_columns, "column 4 of out (5 × 5) was never"),
        (a_few_rows, "row 4 of out (5 × 5) was never"),
    ],
)
def test_whole_lines_that_nobody_wrote_are_named(kernel, words):
    assert words in check(doubled, lambda x, out: kernel[(1, 5), (8, 1)](x, out), on=gpu).trouble


def test_what_the_host_computed_is_no_work_of_a_kernel():
    def attempt(x):
        launched(right, up, 256)(x)
        return cuda.to_device(np.maximum(x.copy_to_host(), 0) + np.float32(0))

    def unwritten(x):
        launched(right, up, 256)(x[:1])
        return cuda.to_device(np.maximum(x.copy_to_host(), 0))

    assert "1 of 31 were written" in check(relu, unwritten, on=gpu).trouble
    negative = launched(right, up, 256)
    assert check(relu, lambda x: negative(x).copy_to_host(), on=gpu).passed

    def squared(x):
        return cuda.to_device(negative(x).copy_to_host() ** 2)

    assert "no array of theirs holds it" in check(square, squared, on=gpu).trouble
    assert check(relu, attempt, on=gpu).passed  # the same numbers: the kernel's as well


@op(inputs=relu.make_inputs, flops=lambda x: x.size, sizes=(100,))
def square(x):
    return np.maximum(x, 0) ** 2


@op(inputs=lambda size, rng: (rng.standard_normal((size, 3), np.float32),), flops=np.size,
    sizes=(100,))  # fmt: skip
def turned_over(x):
    return x.T


def test_a_result_with_rows_and_columns_exchanged_is_named_so():
    verdict = check(turned_over, lambda x: x.copy(), on=host)
    assert "(31, 3), where (3, 31) is due. Rows and columns are swapped" in verdict.trouble


@pytest.mark.parametrize(
    ("way", "taken"),
    [
        (lambda x: np.array(list(map(abs, x))), 9), (lambda x: np.abs(x.tolist()), 9),
        (lambda x: np.frompyfunc(abs, 1, 1)(x), 9), (lambda x: [x[0], x.item(1)], 2),
        (lambda x: np.abs(x), 0), (lambda x: np.where(x > 0, x, -x)[1:], 0),
        (lambda x: np.add.reduce(x) + x.sum(), 0),
    ],
)  # fmt: skip
def test_elements_that_are_taken_one_by_one_are_counted(way, taken):
    assert elements_taken(way, [np.arange(9.0)]) == taken


def test_a_kernel_without_its_launcher_is_sent_back():
    assert "the kernel alone" in check(relu, right, on=gpu).trouble


def test_what_is_no_op_is_an_error_of_the_caller():
    with pytest.raises(TypeError, match="op or an exercise"):
        check(np.abs, lambda x: x)


def test_the_process_is_as_before_a_refusal():
    before = dict(vars(cuda))
    check(relu, launched(no_guard, up, 256), on=gpu)
    assert dict(vars(cuda)) == before
