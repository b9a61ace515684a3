"""What is said of every n agrees with running each n from 1 on."""

import inspect
import math

import numpy as np
import pytest
from numba import cuda, float32

from warplens import KernelFault, every_size, trace

TILE, HALO = 16, 17
LIMIT = 52  # sizes that are run: three tiles and a bit


def ceil(n):
    return math.ceil(n / TILE), TILE


def exact(n):
    return n, 1


def floor(n):
    return 1 + n // TILE, TILE


def one_block(n):
    return 1, TILE


def fixed(n):
    return 2, 8


def by_four(n):
    return (n + 4 * TILE - 1) // (4 * TILE), TILE


def square(n):
    return (math.ceil(n / 8), -(-n // 4)), (8, 4)


def guarded(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]


def guarded_by_hand(x, y, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    inside = i < n
    if not inside:
        return
    y[i] = x[i]


def too_far(x, y):
    i = cuda.grid(1)
    if i <= len(x):
        y[i] = x[i]


def too_short(x, y):
    i = cuda.grid(1)
    if i < x.size - 1:
        y[i] = x[i]


def unguarded(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


def neighbor(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i + 1]


def neighbor_from_40(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i + 1] if i >= 40 else x[i]


def both_neighbors(x, y):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        y[i] = x[i - 1] + x[i + 1]
    elif i < x.size:
        y[i] = x[i]


def left_neighbor(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i - 1]


def padded(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] + x[i + 1] + x[i + 2]


def grid_stride(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i]


def grid_stride_by_hand(x, y, n):
    i = cuda.grid(1)
    while i < n:
        y[i] = x[i]
        i += cuda.gridDim.x * cuda.blockDim.x


def grid_stride_from_one(x, y):
    for i in range(cuda.grid(1) + 1, x.size, cuda.gridsize(1)):
        y[i] = x[i]


def block_stride(x, y):
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        y[i] = x[i]


def four_each(x, y):
    first = 4 * cuda.grid(1)
    for k in range(first, min(first + 4, x.size)):
        y[k] = x[k]


def four_each_unguarded(x, y):
    for k in range(4):
        y[4 * cuda.grid(1) + k] = x[0]


def in_pairs(x, y):
    i = cuda.grid(1)
    if 2 * i < y.size:
        y[2 * i] = x[2 * i]
    if 2 * i + 1 < y.size:
        y[2 * i + 1] = x[2 * i + 1]


def every_other(x, y):
    i = cuda.grid(1)
    if 2 * i < y.size:
        y[2 * i] = x[2 * i]


def halves(x, y):
    i = cuda.grid(1)
    if i < x.size // 2:
        y[i] = x[i]
        y[x.size - 1 - i] = x[x.size - 1 - i]


def reversed_order(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[x.size - 1 - i] = x[i]


def reversed_badly(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[x.size - i] = x[i]


def relu(x, y):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = 0


def clamped(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[max(i - 1, 0)] + x[min(i + 1, x.size - 1)]


def two_guards(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[j, i]


def one_guard(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0]:
        y[i, j] = x[i, j]


def rows(x, y):
    i = cuda.grid(1)
    m, n = x.shape
    if i < m:
        for j in range(n):
            y[i, j] = x[i, j]


def halo(x, y):
    tile = cuda.shared.array(HALO, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        tile[t] = x[i]
    if t == 0 and i + TILE < x.size:
        tile[TILE] = x[i + TILE]
    cuda.syncthreads()
    if i + 1 < x.size:
        y[i] = tile[t + 1] - tile[t]
    elif i < x.size:
        y[i] = tile[t]


def halo_too_small(x, y):
    tile = cuda.shared.array(TILE, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        tile[t] = x[i]
    cuda.syncthreads()
    if i + 1 < x.size:
        y[i] = tile[t + 1]
    elif i < x.size:
        y[i] = tile[t]


def warps_write(x, y):
    i = cuda.grid(1)
    if i < x.size and i % 8 == 0:
        y[i // 8] = x[i]


def counted(x, y):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(y, i, x[i])


N_PLUS_2 = {"x": lambda n: (n + 2,)}
EIGHTHS = {"y": lambda n: ((n + 7) // 8,)}
CASES = [
    (guarded, ceil, {}),
    (guarded, floor, {}),
    (guarded, one_block, {}),
    (guarded, exact, {}),
    (guarded_by_hand, ceil, {}),
    (guarded_by_hand, ceil, {"n": lambda n: n - 1}),
    (guarded_by_hand, floor, {"n": lambda n: n + 1}),
    (too_far, ceil, {}),
    (too_far, exact, {}),
    (too_short, ceil, {}),
    (unguarded, exact, {}),
    (unguarded, ceil, {}),
    (unguarded, ceil, dict.fromkeys("xy", lambda n: (n + 15) // 16 * 16)),
    (unguarded, lambda n: (3, TILE), {"x": 48, "y": 48}),
    (unguarded, lambda n: (3, TILE), {"x": 47, "y": 48}),
    (neighbor, ceil, {}),
    (neighbor_from_40, ceil, {}),
    (both_neighbors, ceil, {}),
    (left_neighbor, ceil, {}),
    (padded, ceil, N_PLUS_2),
    (padded, ceil, {"x": lambda n: (n + 1,)}),
    (grid_stride, ceil, {}),
    (grid_stride, fixed, {}),
    (grid_stride, one_block, {"y": lambda n: (n + n // 30,)}),
    (grid_stride_by_hand, by_four, {}),
    (grid_stride_by_hand, fixed, {"n": lambda n: n + 1}),
    (grid_stride_from_one, fixed, {}),
    (block_stride, one_block, {}),
    (block_stride, fixed, {}),
    (four_each, by_four, {}),
    (four_each, lambda n: (2, 4), {}),
    (four_each_unguarded, exact, {"x": 1, "y": lambda n: 4 * n}),
    (four_each_unguarded, exact, {"x": 1, "y": lambda n: 4 * n - n // 30}),
    (in_pairs, ceil, {}),
    (every_other, ceil, {}),
    (halves, ceil, {}),
    (reversed_order, ceil, {}),
    (reversed_badly, ceil, {}),
    (relu, ceil, {}),
    (clamped, ceil, {}),
    (two_guards, square, {}),
    (one_guard, square, {}),
    (rows, ceil, {}),
    (halo, ceil, {}),
    (halo_too_small, ceil, {}),
    (warps_write, ceil, EIGHTHS),
    (warps_write, ceil, {"y": lambda n: (n // 8,)}),
    (counted, ceil, {}),
]  # fmt: skip


def broken(kernel, launch, shapes, n):
    """Run it: does it leave an array, or an element as it was? (One NaN that stays tells.)"""
    arguments = []
    for name in kernel.__code__.co_varnames[: kernel.__code__.co_argcount]:
        axes = 2 if kernel in (two_guards, one_guard, rows) else 1
        shape = shapes.get(name, n if name == "n" else (n,) * axes)
        shape = shape(n) if callable(shape) else shape
        arguments.append(shape if name == "n" else np.zeros(shape, np.float32))
    y = arguments[1]
    if kernel is not counted:
        y[:] = np.nan
    else:
        arguments[0][:] = 1
    try:
        t = trace(kernel)[launch(n)](*arguments)
    except KernelFault:
        return True
    missed = (y == 0).any() if kernel is counted else np.isnan(y).any()
    return missed or any(caution.kind == "negative index" for caution in t.warnings)


@pytest.mark.parametrize(
    ("kernel", "launch", "shapes"), CASES, ids=[f"{k.__name__}-{g.__name__}" for k, g, _ in CASES]
)
def test_the_answer_for_every_size_is_that_of_running_each(kernel, launch, shapes):
    answer = every_size(kernel, launch, shapes)
    first = next((n for n in range(1, LIMIT) if broken(kernel, launch, shapes, n)), None)
    assert answer.smallest == first
    assert answer.correct is (first is None)
    assert not answer.undecided


# Where it is not affine


def squares(x, y):
    i = cuda.grid(1)
    if i * i < y.size:
        y[i * i] = x[i]


def gathered(x, y, order):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[order[i]]


def gathered_within(x, y, order):
    i = cuda.grid(1)
    if i < y.size:
        j = order[i]
        y[i] = x[j] if 0 <= j < x.size else float32(0)


def where_positive(x, y):
    i = cuda.grid(1)
    if i < x.size and x[i] >= 0:
        y[i] = x[i]


def flat(x, y, n):
    i, j = cuda.grid(2)
    if i < n and j < n:
        y[i * n + j] = x[i * n + j]


@cuda.jit(device=True)
def put(y, i):
    y[i] = 1


def by_another(x, y):
    i = cuda.grid(1)
    if i < x.size:
        put(y, i)
        y[i] = x[i]


def tree(x, y):
    i, s = cuda.grid(1), cuda.blockDim.x // 2
    if i < y.size:
        y[i] = 0
    while s > 0:
        if i + s < x.size:
            y[i] = x[i + s]
        s //= 2


@pytest.mark.parametrize(
    ("kernel", "launch", "shapes", "said"),
    [
        (gathered, ceil, {}, "y[i] = x[order[i]]"),
        (where_positive, ceil, {}, "if i < x.size and x[i] >= 0:"),
        (flat, square, {"x": lambda n: (n * n,), "y": lambda n: (n * n,)}, ""),
        (flat, square, {"x": 9000, "y": 9000}, "y[i * n + j] = x[i * n + j]"),
        (by_another, ceil, {}, "put(y, i)"),
        (guarded, lambda n: (max(1, n), TILE), {}, ""),
    ],
)
def test_what_is_not_affine_is_named_with_its_line(kernel, launch, shapes, said):
    covers = () if kernel is flat else None
    answer = every_size(kernel, launch, shapes, covers)
    assert answer.correct is None and answer.smallest is None
    assert "not decided" in answer.headline()
    lines, first = inspect.getsourcelines(getattr(kernel, "py_func", kernel))
    if said:
        line = first + next(k for k, text in enumerate(lines) if said in text)
        assert f"line {line}: " in answer.undecided[0]


@pytest.mark.parametrize("kernel", [gathered_within, tree])
def test_a_guard_decides_what_is_read_at_an_unknown_index(kernel):
    assert every_size(kernel, ceil).correct


def test_a_size_found_by_running_says_what_was_not_affine():
    answer = every_size(squares, ceil)
    assert answer.smallest == 3 and "`i * i" in answer.headline()


def test_what_a_number_is_must_be_said():
    with pytest.raises(ValueError, match="say what count is"):
        every_size(numbered, ceil)
    assert every_size(numbered, ceil, {"count": lambda n: n}).correct


def numbered(x, y, count):
    i = cuda.grid(1)
    if i < count:
        y[i] = x[i]


# What once was called correct, or broken, and is not


def nested_strides(x, y):
    for a in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        for b in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            if a == 0 or x.size < 40:
                y[b] = x[b]


def left_by_break(x, y):
    i = cuda.grid(1)
    for k in range(3):
        if k == x.size - 41:
            break
    else:
        if i < y.size:
            y[i] = x[i]


def returned_by_else(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 1
    for k in range(3):
        if k + 40 == x.size:
            break
    else:
        return
    y[i + x.size] = 1


def never_ends(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
    while i < x.size - 40:
        pass


def skipped_step(x, y):
    i = cuda.grid(1)
    while i < x.size:
        y[i] = x[i]
        if i == 40:
            continue
        i += cuda.gridsize(1)


def downwards(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
    k = -40
    while k + 0 < x.size - 80:
        k += -1


def number_or(x, y):
    i = cuda.grid(1)
    j = i and 40
    if i < x.size:
        y[i] = x[i]
    if x.size > 36:
        y[j] = 1


def two_of_one_line(x, y):
    i = cuda.grid(1)
    v = x[0] + x.size
    if i < x.size:
        a = v > 36; v = -v; b = v > 36  # noqa: E702  # fmt: skip
        if a:
            if b:
                y[i] = 1
        elif not b:
            y[i] = 1


@cuda.jit(device=True)
def looked_up(i):
    own = cuda.local.array(36, float32)
    return own[i]


def by_another_lookup(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = looked_up(i)


def by_name(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 1
        put(y=y, i=i + x.size // 36)


def partial_barrier(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
    if i < 36 and x.size > 36:
        cuda.syncthreads()


@pytest.mark.parametrize(
    "kernel",
    [nested_strides, left_by_break, returned_by_else, never_ends, skipped_step, downwards,
     number_or, two_of_one_line, by_another_lookup, by_name, partial_barrier],
)  # fmt: skip
def test_a_kernel_that_breaks_somewhere_is_never_called_correct(kernel):
    answer = every_size(kernel, fixed if "stride" in kernel.__name__ else ceil)
    assert not answer.correct


def rarely_another(n):
    return (0 if n == 500 else math.ceil(n / TILE)), TILE


def seldom_another(n):
    return (0 if n // 500 * 500 == n else math.ceil(n / TILE)), TILE


def shifted(n):
    return (n >> 4) + 1, TILE


def in_fractions(n):
    return n / TILE + 1, TILE


@pytest.mark.parametrize("launch", [rarely_another, seldom_another, shifted])
def test_a_launch_that_is_no_one_formula_leaves_it_undecided(launch):
    answer = every_size(guarded, launch)
    assert answer.correct is None and answer.undecided


def test_a_grid_that_is_no_integer_raises_as_a_launch_does():
    with pytest.raises(TypeError):
        every_size(guarded, in_fractions)


def dynamic(x, y):
    tile = cuda.shared.array(0, float32)
    i = cuda.grid(1)
    if i < x.size:
        tile[cuda.threadIdx.x] = x[i]
        y[i + x.size // 5] = tile[cuda.threadIdx.x]


def test_dynamic_shared_memory_of_the_launch_is_there_when_sizes_are_run():
    answer = every_size(dynamic, lambda n: (math.ceil(n / TILE), TILE, 0, TILE * 4))
    assert answer.smallest == 5


def bits(x, y):
    i = cuda.grid(1)
    if i < x.size and x[i] & 1 == 0:
        y[i] = 1


def test_a_kernel_that_zeros_do_not_suit_is_not_called_broken():
    answer = every_size(bits, ceil)
    assert answer.correct is None and "does not run with zeros" in answer.headline()


def as_data_say(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
        if x[i] == 0 and x.size > 4:
            y[i + 1] = 1


def test_a_size_found_by_running_is_not_called_the_smallest():
    answer = every_size(as_data_say, ceil)
    assert answer.smallest == 5 and "zeros in the arrays" in answer.headline()
    assert "the smallest" not in answer.headline()
