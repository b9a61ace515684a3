"""What the microscope does not follow it refuses, by name and with the line."""

import math

import numpy as np
import pytest
from numba import cuda

from warplens import Unsupported, trace, tracing

SIZE = 8


def plain_helper(x):
    return x + 1


def a_list(x):
    a = [1, 2]
    x[0] = a[0]


def a_comprehension(x):
    x[0] = sum([v + 1 for v in x])


def a_try(x):
    try:
        x[0] = 1
    finally:
        pass


def a_with(x):
    with x:
        pass


def a_matrix_product(x):
    x[0] = x @ x


def an_array_method(x):
    x[0] = x.max()


def whole_array_arithmetic(x):
    y = x + 1
    x[0] = y[0]


def a_slice_assignment(x):
    x[1:3] = x[:2]


def a_plain_function(x):
    x[0] = plain_helper(x[0])


def a_numpy_function(x):
    x[0] = np.linalg.norm(x)


def an_unknown_cuda_name(x):
    x[0] = cuda.no_such_thing()


def libdevice(x):
    x[0] = cuda.libdevice.j0f(x[0])


def a_computed_shared_shape(x):
    s = cuda.shared.array((SIZE, SIZE + 1), np.float32)
    s[0, 0] = x[0]


def a_shared_shape_from_an_argument(x):
    s = cuda.shared.array(x.shape[0], np.float32)
    s[0] = x[0]


def a_shared_shape_from_the_block(x):
    s = cuda.shared.array(cuda.blockDim.x, np.float32)
    s[0] = x[0]


def a_ufunc_that_numba_cuda_lacks(x):
    x[0] = np.sqrt(x[0])


def too_many_indices(x):
    x[0] = x[0, 1]


def an_exception(x):
    raise ValueError


def an_assertion(x):
    assert x[0] > 0


def a_function_inside(x):
    def f(v):
        return v

    x[0] = f(1)


def a_lambda(x):
    f = lambda v: v  # noqa: E731
    x[0] = f(1)


@cuda.jit(device=True)
def again(n):
    return again(n - 1)


def recursion(x):
    x[0] = again(3)


def a_complex_number(x):
    x[0] = 1j


def a_vector_type(x):
    x[0] = cuda.float32x2(1, 2).x


def halves(x):
    x[0] = cuda.fp16.hadd(x[0], x[0])


def a_cache_hint(x):
    x[0] = cuda.ldcg(x, 0)


def pairs(x):
    for i, v in enumerate(x):
        x[i] = v


def membership(x):
    x[0] = 1 in (1, 2)


def an_index_of_a_tuple_that_varies(x):
    x[0] = (1, 2)[cuda.threadIdx.x % 2]


def two_arrays_under_one_name(x):
    own = cuda.local.array(4, np.float32)
    for i in range(4):
        own[i] = 0
    y = x
    if cuda.threadIdx.x % 2:
        y = own
    y[0] = 1


def star_arguments(*x):
    pass


def an_undefined_name(x):
    x[0] = nowhere  # noqa: F821


def a_variable_that_was_never_set(x):
    if x.size < 0:
        y = 1
    x[0] = y


def a_math_function_without_a_gpu_form(x):
    x[0] = math.factorial(3)


CASES = {
    a_list: "a list",
    a_comprehension: "",
    a_try: "try",
    a_with: "with",
    a_matrix_product: "@",
    an_array_method: ".max()",
    whole_array_arithmetic: "arithmetic on",
    a_slice_assignment: "slice",
    a_plain_function: "cuda.jit(device=True)",
    a_numpy_function: "norm",
    an_unknown_cuda_name: "no_such_thing",
    libdevice: "j0f",
    a_computed_shared_shape: "no constant",
    a_shared_shape_from_an_argument: "no constant",
    a_shared_shape_from_the_block: "no constant",
    a_ufunc_that_numba_cuda_lacks: "write math.sqrt",
    too_many_indices: "2 indices",
    an_exception: "raise",
    an_assertion: "assert",
    a_function_inside: "a function inside a kernel",
    a_lambda: "lambda",
    recursion: "calls itself",
    a_complex_number: "1j",
    a_vector_type: "cuda.float32x2",
    halves: "cuda.fp16.hadd",
    a_cache_hint: "cuda.ldcg",
    pairs: "enumerate",
    membership: "the operator in",
    an_index_of_a_tuple_that_varies: "the index of a tuple",
    two_arrays_under_one_name: "one name for two arrays",
    star_arguments: "*args",
    an_undefined_name: "nowhere",
    a_variable_that_was_never_set: "before it is set",
    a_math_function_without_a_gpu_form: "factorial",
}


def test_unsupported_features_are_refused_by_name_and_line():
    for kernel, words in CASES.items():
        with pytest.raises(Unsupported) as caught:
            trace(kernel)[1, 4](np.ones(4, np.float32))
        assert words in str(caught.value), kernel
        first = kernel.__code__.co_firstlineno
        own = kernel.__name__ in str(caught.value)
        assert kernel is recursion or (own and first <= caught.value.line < first + 9), kernel
        assert isinstance(caught.value, NotImplementedError)


def test_devices_are_refused_what_they_have_not():
    with tracing():
        for name in ("mapped_array", "managed_array", "as_cuda_array"):
            with pytest.raises(Unsupported, match=f"cuda.{name}"):
                getattr(cuda, name)(3)
        with pytest.raises(Unsupported, match="a device array of complex64"):
            cuda.device_array(3, np.complex64)


def test_a_kernel_without_source_is_refused():
    space = {"cuda": cuda}
    exec("def kernel(x):\n    x[0] = 1", space)
    with pytest.raises(Unsupported, match="source cannot be found"):
        trace(space["kernel"])[1, 1](np.zeros(1))


def test_what_is_no_kernel_at_all():
    with pytest.raises(TypeError, match="takes a kernel"):
        trace(3)
    with pytest.raises(TypeError, match="grid and a block"):
        trace(a_list)(np.zeros(3))
    with pytest.raises(TypeError, match="grid, block"):
        trace(a_list)[3](np.zeros(3))
    with pytest.raises(TypeError, match="takes 1 arguments, not 2"):
        trace(a_slice_assignment)[1, 1](np.zeros(3), 2)
