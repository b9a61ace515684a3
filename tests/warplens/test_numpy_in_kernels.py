"""NumPy's functions in kernels: in Numba's types, on numbers and on arrays."""

import itertools

import numpy as np
import pytest
from numba import cuda
from warplens.lanes.ufuncs import UFUNCS, loop

from warplens import Unsupported, trace

numpy_support = pytest.importorskip("numba.cuda.np.numpy_support")
NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
NUMBERS += "complex128"
DTYPES = [np.dtype(name) for name in NUMBERS.split()]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_a_function_computes_in_the_types_that_numba_chooses(ufunc):
    for given in itertools.product(DTYPES, repeat=ufunc.nin):
        theirs = numpy_support.ufunc_find_matching_loop(ufunc, numba_types(given))
        ours = loop(ufunc, given)
        assert (ours is None) == (theirs is None), given
        if ours is not None:
            assert list(map(numpy_support.from_dtype, ours)) == theirs.inputs, given


def numba_types(dtypes):
    return tuple(map(numpy_support.from_dtype, dtypes))


def test_numba_cuda_has_every_one_of_them_and_no_other():
    from numba.cuda import target, ufuncs

    target.CUDATargetContext  # noqa: B018  (it brings what the database needs)
    assert set(ufuncs.ufunc_db()) == set(UFUNCS)


@cuda.jit
def by_row(x, by, out, whole):
    i = cuda.grid(1)
    np.hypot(x[i], by, out[i])
    np.logical_not(x[i], whole[i])


def test_arrays_are_gone_through_element_by_element():
    x, by = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([0.5], np.float32)
    out, whole = np.zeros((3, 4), np.float32), np.ones((3, 4), bool)
    t = trace(by_row)[1, 3](x, by, out, whole)
    np.testing.assert_allclose(out, np.hypot(x, by), rtol=1e-6)
    assert (whole == (x == 0)).all()
    assert t.flops == 12 and t.coalescing("out").requests == 4


@cuda.jit
def of_arrays_alone(x, out):
    out[0] = np.sin(x)[0]


@cuda.jit
def that_numba_lacks(x, out):
    out[0] = np.exp(x[0])


@pytest.mark.parametrize(
    "kernel, words",
    [(of_arrays_alone, "np.sin of arrays without"), (that_numba_lacks, "np.exp.* write math.exp")],
)
def test_what_numba_cuda_cannot_do_is_refused_by_name(kernel, words):
    with pytest.raises(Unsupported, match=words):
        trace(kernel)[1, 1](np.ones(1), np.ones(1))
