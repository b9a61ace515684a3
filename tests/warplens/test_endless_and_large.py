"""Loops that never end are told at once, long ones run to their end, and large logs stay small."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from warplens import NoProgress, Unsupported, trace
from warplens.lanes import endless, launch, log

T = 8


def forgotten_step(x):
    i = 0
    while i < x.size:
        x[i] += 1


def forgotten_step_of_a_sum(x):
    i = 0
    total = float32(0)
    while i < x.size:
        total += x[i]
    x[0] = total


def doubled_zero(x):
    step = 0
    while step < x.size:
        step *= 2


def halves_that_stop_moving(x):
    low, high = 0, x.size
    while low < high:
        middle = (low + high) // 2
        if x[middle] < 1:
            low = middle
        else:
            high = middle


def two_steps_in_a_circle(x):
    i = 0
    while i < 2:
        i = 1 - i


def a_flag_that_nobody_sets(x):
    while x[0] == 0:
        pass


def a_flag_that_its_own_block_would_set(x):
    if cuda.threadIdx.x == 0:
        while x[0] == 0:
            pass
    else:
        x[0] = 1


def never_left(x):
    while True:
        x[1] = 1


def left_by_some(x):
    i = cuda.grid(1)
    while True:
        if i > 3:
            break
        x[i] = 1


def a_lock(x):
    while cuda.atomic.compare_and_swap(x, 0, 1) != 0:
        pass


@cuda.jit(device=True)
def spun(x, n):
    while n > 0:
        x[0] = n
    return n


def in_a_device_function(x):
    x[0] = spun(x, 4)


ENDLESS = [
    forgotten_step, forgotten_step_of_a_sum, doubled_zero, halves_that_stop_moving,
    two_steps_in_a_circle, a_flag_that_nobody_sets, a_flag_that_its_own_block_would_set,
    never_left, left_by_some, in_a_device_function,
]  # fmt: skip


@pytest.mark.parametrize("kernel", ENDLESS)
def test_a_loop_whose_turns_change_nothing_is_told_at_once(kernel, monkeypatch):
    monkeypatch.setattr(endless, "PATIENCE", float("inf"))
    with pytest.raises(NoProgress, match="can never end") as caught:
        trace(kernel)[1, 32](np.zeros(32, np.float32))
    assert str(caught.value.line) in str(caught.value)


def test_a_lock_that_its_own_warp_holds_is_told_at_once():
    with pytest.raises(NoProgress, match="can never end"):
        trace(a_lock)[1, 32](np.zeros(1, np.int32))


def backwards(x):
    i = x.size
    while i > 0:
        i -= 1
        x[i] += 1


def in_steps_of_its_own(x):
    i = cuda.grid(1)
    while i < x.size:
        x[i] += 1
        i += 1 + cuda.threadIdx.x % 2


def in_fractions(x):
    at = float32(0)
    while at < 8:
        at += float32(0.015625)
        x[int(at) % x.size] = 1


def left_in_the_middle(x):
    i = 0
    while True:
        if i == x.size:
            break
        x[i] = 1
        i += 1


def bounded_beside_another_test(x):
    i = 0
    while i < x.size and x[i] == 0:
        x[i] = 1
        i += 1


def squares(x):
    i = 1
    while i * i <= 250_000:
        i += 1
    x[0] = i


@pytest.mark.parametrize(
    "kernel",
    [backwards, in_steps_of_its_own, in_fractions, left_in_the_middle,
     bounded_beside_another_test, squares],
)  # fmt: skip
def test_a_long_loop_that_comes_closer_to_its_end_reaches_it(kernel, monkeypatch):
    monkeypatch.setattr(endless, "PATIENCE", -1.0)
    monkeypatch.setattr(endless, "FEWEST", 1)
    trace(kernel)[1, 32](np.zeros(500, np.float32))


def rows_in_turn(x):
    done = 0
    while done < 100:
        if x[done % 10] == done // 10:
            x[done % 10] += 1
        done += 1


def test_what_memory_decides_is_seen_to_change():
    x = np.zeros(10, np.int32)
    trace(rows_in_turn)[1, 1](x)
    assert x.tolist() == [10] * 10


def waiting_for_others(flag):
    if cuda.threadIdx.x < 32:
        while flag[0] == 0:
            cuda.syncthreads()
    else:
        i = 0
        while i < 100:
            i += 1
            if i == 100:
                flag[0] = 1
            cuda.syncthreads()


def test_a_loop_with_a_barrier_may_wait_for_what_others_write():
    flag = np.zeros(1, np.int32)
    try:
        trace(waiting_for_others)[1, 64](flag)
    except NoProgress:
        pytest.fail("it ends")
    except Exception:  # barriers at different lines are refused, for another reason
        pass


def circling(x):
    i = 1
    while i != 0:
        i = i * 5 % 97


def away(x):
    i = 5
    while i > 0:
        i += 1


@pytest.mark.parametrize("kernel", [circling, away])
def test_a_loop_that_shows_no_end_is_given_up(kernel, monkeypatch):
    monkeypatch.setattr(endless, "PATIENCE", -1.0)
    monkeypatch.setattr(endless, "FEWEST", 100)
    with pytest.raises(NoProgress, match="did not end"):
        trace(kernel)[1, 32](np.zeros(1))


def years(x):
    i = 0
    while i < 1_000_000_000_000:
        i += 1


def years_of_a_range(x):
    for i in range(1_000_000_000_000):
        x[0] += i


@pytest.mark.parametrize("kernel", [years, years_of_a_range])
def test_a_loop_that_would_take_years_says_how_long_it_is(kernel, monkeypatch):
    monkeypatch.setattr(endless, "PATIENCE", -1.0)
    with pytest.raises(NoProgress, match=r"would turn (1,000,000|999,999),\d\d\d,\d\d\d times"):
        trace(kernel)[1, 32](np.zeros(1))


def idle(x, n):
    for i in range(n):  # noqa: B007
        pass
    x[0] = i


def test_an_empty_loop_is_counted_without_being_run():
    x = np.zeros(1, np.int64)
    long, short = trace(idle)[1, 32](x, 20_000_000), trace(idle)[1, 32](x, 5)
    assert x[0] == 4
    assert [b.instances for b in long.branches] == [20_000_001]
    assert [b.instances for b in short.branches] == [6]
    turns = {c.line: c.slots for c in long.code}
    assert turns[max(turns) - 1] == 20_000_000 * 32


def counted(x, n):
    one, other, third = cuda.threadIdx.x, 5, 0.5
    for i in range(n):  # noqa: B007
        one += 1
        other -= 3
    for i in range(n % 7):  # noqa: B007
        third += 1
    x[cuda.threadIdx.x] = one + other * third + i


def test_a_loop_that_only_counts_gives_the_same_without_being_run():
    x = np.zeros(32)
    trace(counted)[1, 32](x, 20_000_002)
    expected = np.arange(32) + 20_000_002 + (5 - 3 * 20_000_002) * (0.5 + 20_000_002 % 7)
    np.testing.assert_array_equal(x, expected + 20_000_002 % 7 - 1)


@cuda.jit
def tiled(x, y, out, barrier):
    a = cuda.shared.array((T, T), float32)
    b = cuda.shared.array((T, T), float32)
    column, row = cuda.grid(2)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for t in range(x.shape[1] // T):
        a[i, j] = x[row, t * T + j]
        b[i, j] = y[t * T + i, column]
        cuda.syncthreads()
        for k in range(T):
            total += a[i, k] * b[k, j]
        if barrier:
            cuda.syncthreads()
    out[row, column] = total


@cuda.jit
def scattered(places, out):
    found = cuda.shared.array(64, int32)
    own = cuda.local.array(4, int32)
    i = cuda.threadIdx.x
    found[i] = 0
    cuda.syncthreads()
    for k in range(places.shape[1]):
        place = places[cuda.grid(1), k]
        own[place % 4] = place
        cuda.atomic.add(found, place, 1)
        if k % 4 == 0:
            cuda.syncthreads()
            own[0] += found[place]
            cuda.syncthreads()
    cuda.syncthreads()
    cuda.atomic.add(out, i, found[i])


def product(barrier=True, n=32):
    x = np.arange(n * n, dtype=np.float32).reshape(n, n)
    return trace(tiled)[(n // T, n // T), (T, T)](x, x, np.zeros_like(x), barrier)


def histogram():
    places = np.random.default_rng(0).integers(0, 64, (256, 40)).astype(np.int32)
    return trace(scattered)[4, 64](places, np.zeros(64, np.int32))


def test_the_log_grows_by_what_is_new_in_a_turn():
    entries = [e for kept in product().launch.log.sites.values() for e in kept]
    patterns = {id(e.pattern): e.pattern.nbytes for e in entries}
    assert sum(patterns.values()) < sum(e.place.nbytes for e in entries) / 10


@pytest.mark.parametrize("launch_of", [product, lambda: product(barrier=False), histogram])
def test_a_log_reduced_as_it_grows_tells_the_same(launch_of, monkeypatch):
    whole = launch_of()
    monkeypatch.setattr(launch, "LARGE", 0)
    monkeypatch.setattr(log, "LARGE", 0)
    monkeypatch.setattr("warplens.report.streaming.EARLY", 10)
    reduced = launch_of()
    assert reduced == whole
    assert reduced.races(1000) == whole.races(1000)

    def kept(found):
        return sum(len(entries) for entries in found.launch.log.sites.values())

    assert kept(reduced) < kept(whole)


def test_a_log_that_does_not_fit_says_which_blocks_would(monkeypatch):
    monkeypatch.setattr(log, "MEMORY_LIMIT", 10_000)
    with pytest.raises(Unsupported, match=r"blocks=range\(\d+\)"):
        product()


def test_a_grid_of_too_many_blocks_is_refused_but_not_some_of_them():
    with pytest.raises(Unsupported, match=r"2,000,000,000 blocks at once.*blocks=\{0\}"):
        trace(idle)[2_000_000_000, 32](np.zeros(1), 3)
    assert trace(idle, blocks={7})[2_000_000_000, 32](np.zeros(1), 3).blocks == 1


def test_barriers_keep_apart_what_is_searched_for_races():
    assert not product().races()
    racy = product(barrier=False).races(10_000)
    assert {race.array for race in racy} == {"a", "b"}
