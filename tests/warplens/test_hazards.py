"""Hazards by name, one planted after the other: docs/hazards.md lists them all."""

import numpy as np
import pytest
from numba import cuda, float32

from warplens import Misaligned, OutOfBounds, PartialBarrier, Trace, trace, tracing

N = 32


def cautions(t: Trace) -> list[tuple[str, int, int]]:
    return [(w.kind, w.line, w.times) for w in t.warnings]


def line(function, offset):
    return getattr(function, "py_func", function).__code__.co_firstlineno + offset


# memcheck


def shared_outside(x):
    s = cuda.shared.array(N, float32)
    s[cuda.threadIdx.x + 1] = x[0]


def local_outside(x):
    a = cuda.local.array(4, float32)
    a[0] = 1
    x[0] = a[cuda.threadIdx.x]


def dynamic_outside(x):
    s = cuda.shared.array(0, float32)
    s[cuda.threadIdx.x * 2] = x[0]


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (shared_outside, "thread 31 of block 0 writes s[32], outside its shape (32,)"),
        (local_outside, "thread 4 of block 0 reads a[4], outside its shape (4,)"),
        (dynamic_outside, "thread 16 of block 0 writes s[32], outside its shape (32,)"),
    ],
)
def test_an_index_outside_is_found_in_every_memory(kernel, text):
    with pytest.raises(OutOfBounds) as caught:
        trace(kernel)[1, N, 0, 4 * N](np.zeros(1, np.float32))
    assert text in str(caught.value) and f"line {caught.value.line}:" in str(caught.value)


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += x[i]


def test_a_view_that_begins_between_two_numbers_is_misaligned():
    with tracing():
        memory = cuda.to_device(np.zeros(33, np.uint8))
        double[1, N](memory[:32].view(np.float32))
        with pytest.raises(Misaligned) as caught:
            double[1, N](memory[1:].view(np.float32))
    fault = caught.value
    assert (fault.array, fault.thread, fault.access) == ("x", (0, 0, 0), "read")
    assert str(fault) == (
        f"line {line(double, 4)}: thread 0 of block 0 reads x, whose elements do not begin at "
        "multiples of 4 bytes (a GPU stops the kernel)"
    )


def test_a_copy_of_another_shape_is_refused():
    with tracing(), pytest.raises(ValueError, match="shape"):
        cuda.to_device(np.zeros(4)).copy_to_host(np.zeros(5))


# initcheck


@cuda.jit
def fill_half(y):
    i = cuda.grid(1)
    if i < y.size // 2:
        y[i] = i


@cuda.jit
def add_up(y, out):
    cuda.atomic.add(out, 0, y[cuda.grid(1)])


def test_a_device_array_that_nobody_filled_is_read():
    with tracing() as launches:
        y = cuda.device_array(N, np.float32)
        out = cuda.to_device(np.zeros(1, np.float32))
        fill_half[1, N](y)
        add_up[1, N](y, out)
        y[N // 2 :] = np.zeros(N // 2, np.float32)  # the host fills the rest
        add_up[1, N](y, out)
    assert [cautions(t) for t in launches] == [[], [("uninitialized", line(add_up, 2), 16)], []]
    assert str(launches[1].warnings[0]) == (
        f"line {line(add_up, 2)}: y is read where nothing has been written to it "
        "(first by thread 16 of block 0)"
    )


@pytest.mark.parametrize("filled", [True, False])
def test_views_of_a_device_array_share_what_has_been_written(filled):
    with tracing() as launches:
        y = cuda.device_array(N, np.float32)
        if filled:
            y.copy_to_device(np.zeros(N, np.float32))
        double[8, N](y[::-1])
    assert [w.kind for w in launches[0].warnings] == ["uninitialized"] * (not filled)


# synccheck


def test_a_barrier_that_some_threads_do_not_reach_names_the_first_of_them():
    def some(x):
        if cuda.threadIdx.x != 5:
            cuda.syncthreads()
        x[cuda.threadIdx.x] = 1

    def a_whole_warp(x):
        if cuda.threadIdx.x < 32:
            cuda.syncthreads()
        while x[0] == 0:
            cuda.syncthreads()

    with pytest.raises(PartialBarrier, match="by 31 of 32 threads of block 0, not by thread 5;"):
        trace(some)[1, N](np.zeros(N))
    with pytest.raises(PartialBarrier) as caught:
        trace(a_whole_warp)[1, 64](np.zeros(64))
    assert caught.value.lines == (line(a_whole_warp, 2), line(a_whole_warp, 4))


def in_half_a_warp(x):
    if cuda.laneid < 16:
        cuda.syncwarp()


def without_itself(x):
    cuda.syncwarp(0xFFFFFFFE)


def at_odds(x):
    cuda.syncwarp(0x3 if cuda.laneid == 0 else 0xFFFFFFFF)


def halves(x):
    cuda.syncwarp(0xFFFF if cuda.laneid < 16 else 0xFFFF0000)


def some_have_returned(x):
    if cuda.laneid >= 20:
        return
    cuda.syncwarp()


@pytest.mark.parametrize(
    ("kernel", "texts"),
    [
        (in_half_a_warp, ["the mask names lanes that do not run this line"]),
        (without_itself, ["a lane is not in its own mask"]),
        (at_odds, ["lanes that name each other differ in their masks"]),
        (halves, []),
        (some_have_returned, []),
    ],
)
def test_masks_that_a_gpu_chokes_on(kernel, texts):
    found = trace(kernel)[1, N](np.zeros(1)).warnings
    assert [w.text for w in found if w.kind == "warp mask"] == [
        f"{text}: a GPU may hang or answer anything (first by thread 0 of block 0)"
        for text in texts
    ]
