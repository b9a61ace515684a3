"""Records whole and nested, arrays inside them, records as arguments and in arrays of a kernel's
own."""

import numpy as np
import pytest
from numba import cuda, types
from numba.cuda.compiler import compile_cuda
from numba.np.numpy_support import from_dtype

from warplens import Unsupported, trace, tracing

POINT = np.dtype([("x", np.float32), ("y", np.float32)])
SHAPE = np.dtype(
    [("kind", np.int32), ("mid", POINT), ("box", np.float32, (3, 2)), ("rim", POINT, 2)]
)
RECORD = from_dtype(SHAPE)


def shapes(count, seed=0):
    """Records full of different numbers."""
    numbers = np.random.default_rng(seed).permutation(count * SHAPE.itemsize // 4)
    found = numbers.astype(np.float32).view(SHAPE)
    found["kind"] = np.arange(count)
    return found


def compiles(kernel, *arguments):
    try:
        with tracing():
            compile_cuda(kernel, types.void, arguments, cc=(9, 0))
    except Exception:
        return False
    return True


def whole(a, b):
    i = cuda.grid(1)
    a[i] = b[i // 2]


def test_whole_records_are_copied():
    a, b = shapes(40), shapes(20, seed=1)
    assert compiles(whole, RECORD[::1], RECORD[::1])
    t = trace(whole)[2, 20](a, b)
    assert np.array_equal(a, np.repeat(b, 2)) and t.races().cells == 0
    assert t.work().writes == SHAPE.itemsize / 4  # each number of a record once
    assert t.coalescing("a.kind").sectors == sum(
        len({52 * i // 32 for i in warp}) for warp in (range(20), range(20, 40))
    )


def nested(a, out):
    i = cuda.threadIdx.x
    one = a[i]
    one.mid.x = a[i].rim[i % 2].y
    one["mid"]["y"] = one.box[i % 3, -1]
    one.rim[0] = one.mid
    one.box[1, 0] += 100
    out[i] = a.box[i, 2, 1] + a.mid.x[i] + one[0] + len(one.box)
    a["rim"][i, 1].x = a.box.shape[1]


def test_fields_may_be_records_or_arrays_at_any_depth():
    a, out = shapes(8), np.zeros(8, np.float32)
    b = a.copy()
    assert compiles(nested, RECORD[::1], types.float32[::1])
    t = trace(nested)[1, 8](a, out)
    for i in range(8):
        b[i]["mid"]["x"] = b[i]["rim"][i % 2]["y"]
        b[i]["mid"]["y"] = b[i]["box"][i % 3, -1]
        b[i]["rim"][0] = b[i]["mid"]
        b[i]["box"][1, 0] += 100
        b[i]["rim"][1]["x"] = 3
    assert np.array_equal(a, b)
    assert np.array_equal(out, b["box"][:, 2, 1] + b["mid"]["x"] + np.arange(8) + np.float32(3))
    assert t.races().cells == 0 and "uninitialized" not in {w.kind for w in t.warnings}


def test_an_array_inside_a_record_is_set_as_a_whole():
    def kernel(a, one, out):
        i = cuda.threadIdx.x
        a[i].box = a[7 - i].box
        a[i]["rim"] = one.rim
        out[i] = a[i].box.sum()
        a[i].box[1:, :] = 5

    a, one, out = shapes(8), shapes(1, seed=2)[0], np.zeros(8, np.float32)
    b = a.copy()
    trace(kernel)[1, 8](a, one, out)
    assert (a["rim"] == one["rim"]).all() and (a["box"][:, 1:] == 5).all()
    assert np.array_equal(a["box"][:, 0], b["box"][::-1, 0])
    assert np.array_equal(out, [box.ravel().cumsum()[-1] for box in b["box"][::-1]])


def test_a_record_is_an_argument_and_shows_what_was_written_to_it():
    def kernel(one, other, x):
        other.mid.x = one.box[2, 0]
        other["kind"] = x.size
        other["box"] = x
        x[0, 0] = one[0]

    one, other = shapes(1)[0], shapes(1, seed=1)[0]
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    trace(kernel)[1, 1](one, other, x)
    assert other["mid"]["x"] == one["box"][2, 0] and other["kind"] == 6
    assert np.array_equal(other["box"], np.arange(6).reshape(3, 2)) and x[0, 0] == one["kind"]


def test_records_in_shared_and_local_memory():
    def kernel(a):
        i = cuda.threadIdx.x
        s = cuda.shared.array(16, RECORD)
        own = cuda.local.array((2,), dtype=RECORD)
        s[i] = a[i]
        cuda.syncthreads()
        own[1] = s[15 - i]
        own[1].kind = i
        a[i] = own[1]

    a = shapes(16)
    b = a[::-1].copy()
    b["kind"] = np.arange(16)
    t = trace(kernel)[1, 16](a)
    assert np.array_equal(a, b) and t.races().cells == 0 and t.warnings == ()
    assert t.banks("s.kind", "write").wavefronts == 1  # 13 words apart, which is odd
    assert t.banks("s.box", "write").requests == 6


def test_what_was_never_written_is_told_field_by_field():
    def kernel(out):
        s = cuda.shared.array(32, RECORD)
        i = cuda.threadIdx.x
        s[i].mid.x = 1
        s[i].box[0, 1] = 2
        out[i] = s[i].mid.x + s[i].box[0, 1]
        out[i] = s[i].mid.y + s[i].box[1, 1]

    t = trace(kernel)[1, 32](np.zeros(32, np.float32))
    told = {(w.kind, w.line - kernel.__code__.co_firstlineno, w.times) for w in t.warnings}
    assert told == {("uninitialized", 6, 32)} and len(t.warnings) == 2
    assert {w.text.split()[0] for w in t.warnings} == {"s.mid.y", "s.box"}


def test_races_are_told_by_the_number_inside_the_record():
    def kernel(a):
        i = cuda.threadIdx.x
        a[i // 2].box[i % 2, 0] = i
        a[i // 2].box[2, 1] = i

    t = trace(kernel)[1, 8](shapes(4))
    races = t.races()
    assert races.cells == 4 and {race.array for race in races} == {"a.box"}
    assert {race.cell for race in races} == {(i, 2, 1) for i in range(4)}


PACKED = np.dtype([("kind", np.int8), ("mass", np.float32)])


def packed_field(a, out):
    out[0] = a[0].mass


def packed_field_of_all(a, out):
    out[0] = a.mass[0]


def unpacked(a, out):
    out[0] = a[0].mass + a.kind[0]


def test_packed_records_are_refused_as_numba_refuses_them():
    record, aligned = from_dtype(PACKED), np.dtype(PACKED.descr, align=True)
    assert not compiles(packed_field, record[::1], types.float32[::1])
    for kernel in (packed_field, packed_field_of_all):
        with pytest.raises(Unsupported, match="align=True"):
            trace(kernel)[1, 1](np.zeros(1, PACKED), np.zeros(1, np.float32))
    out = np.zeros(1, np.float32)
    trace(unpacked)[1, 1](np.array([(3, 4.5)], aligned), out)
    assert out[0] == 7.5


def other_type(a, b):
    a[0] = b[0]


def a_number(a, b):
    a[0] = 1


def a_number_for_an_array(a, b):
    a[0].box = 1


def another_shape(a, b):
    a[0].box = b[0].rim


def no_such_field(a, b):
    b[0].x = a[0].color


@pytest.mark.parametrize(
    "kernel", [other_type, a_number, a_number_for_an_array, another_shape, no_such_field]
)
def test_what_does_not_fit_a_record_is_refused(kernel):
    record = from_dtype(POINT)
    assert kernel is other_type or not compiles(kernel, RECORD[::1], record[::1])
    with pytest.raises(Unsupported, match=r"record|array|color"):
        trace(kernel)[1, 1](shapes(2), np.zeros(2, POINT))
