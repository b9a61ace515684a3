"""Whole programs: `with tracing()` stands in for a GPU and leaves the process as it was."""

import math

import numpy as np
import pytest
from numba import cuda, float32
from numba.core import sigutils
from numba.core.errors import TypingError

from warplens import LaunchError, OutOfBounds, trace, tracing


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def everything():
    """The state of the process that tracing() touches."""
    return dict(vars(cuda)), dict(vars(type(axpy)))


def program(n=100):
    stream = cuda.stream()
    start, end = cuda.event(), cuda.event(timing=True)
    pinned = cuda.pinned_array(n, dtype=np.float32)
    pinned[:] = np.arange(n)
    with stream.auto_synchronize():
        start.record(stream)
        x = cuda.to_device(pinned, stream=stream)
        y = cuda.device_array_like(x, stream=stream)
        y.copy_to_device(np.ones(n, np.float32), stream=stream)
        axpy[math.ceil(n / 32), 32, stream](float32(2), x, y)
        end.record(stream)
    end.synchronize()
    cuda.synchronize()
    assert math.isnan(cuda.event_elapsed_time(start, end)) and cuda.is_available()
    host = np.empty(n, np.float32)
    y.copy_to_host(host, stream=stream)
    axpy.forall(n)(float32(1), x, y)
    return host, y.copy_to_host()


def test_a_program_runs_and_its_launches_are_kept_in_order():
    with tracing() as launches:
        once, twice = program()
    assert np.array_equal(once, 2 * np.arange(100) + 1) and np.array_equal(
        twice, 3 * np.arange(100) + 1
    )
    assert [(t.kernel, t.grid[0], t.block[0]) for t in launches] == [
        ("axpy", 4, 32),
        ("axpy", 1, 256),
    ]
    assert launches[0].coalescing("x").sectors == 13


def test_the_process_is_as_it_was():
    before = everything()
    with tracing():
        program()
        assert everything() != before
    assert everything() == before


def test_the_process_is_as_it_was_after_an_exception():
    before = everything()
    with pytest.raises(OutOfBounds), tracing():
        wrong = cuda.jit(lambda_free_kernel)
        wrong[1, 32](np.zeros(3))
    assert everything() == before


def lambda_free_kernel(x):
    x[cuda.grid(1)] = 1


def test_nested_tracing_keeps_to_the_inner_list():
    with tracing() as outer:
        with tracing() as inner:
            axpy[1, 8](1, np.ones(8), np.ones(8))
        axpy[1, 8](1, np.ones(8), np.ones(8))
    assert (len(outer), len(inner)) == (1, 1)


def test_kernels_with_explicit_signatures_compile_lazily_and_type_their_arguments():
    with tracing() as launches:

        @cuda.jit("void(float32[:], float32, float32[:])")
        def scaled(x, a, out):
            i = cuda.grid(1)
            out[i] = a * x[i]

        @cuda.jit(["void(float32[:])", "void(float64[:])"])
        def either(x):
            x[cuda.grid(1)] = 1

        x = cuda.to_device(np.ones(8, np.float32))
        out = cuda.device_array(8, np.float32)
        scaled[1, 8](x, 0.1, out)
        assert (out.copy_to_host() == np.float32(0.1)).all()
        assert not launches[0].warnings  # 0.1 is a float32 here, so nothing is double
        either[1, 8](np.zeros(8))
        with pytest.raises(TypeError, match="do not match the kernel's signature"):
            scaled[1, 8](np.ones(8), 0.1, out)
        with pytest.raises(TypeError, match="do not match"):
            scaled[1, 8](x, 0.1)


def test_kernels_bound_to_a_signature_type_their_arguments_in_trace_too():
    class Bound:  # as on a machine with a GPU, where an explicit signature compiles at once
        py_func = staticmethod(axpy.py_func)
        _can_compile = False

        def __init__(self, *signatures):
            self.overloads = {sigutils.normalize_signature(s)[0]: None for s in signatures}

    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    t = trace(Bound("void(float32, float32[:], float32[:])"))[1, 8](0.1, x, y)
    assert (y == np.float32(0.1)).all() and not t.warnings
    with pytest.raises(TypeError, match="do not match"):
        trace(Bound("void(float32, float64[:], float64[:])"))[1, 8](0.1, x, y)


def test_slices_of_device_arrays_share_memory_and_keep_their_alignment():
    with tracing() as launches:
        x = cuda.to_device(np.zeros(100, np.float32))
        axpy[2, 32](float32(1), cuda.to_device(np.ones(64, np.float32)), x[1:65])
        assert x.copy_to_host()[:66].tolist() == [0] + [1] * 64 + [0]
    assert launches[0].coalescing("y", "write").sectors_per_request == 5
    assert launches[0].coalescing("x").sectors_per_request == 4


def test_mapped_managed_and_pinned_memory():
    with tracing(), cuda.pinned(np.zeros(3)), cuda.defer_cleanup():
        mapped = cuda.mapped_array(8, dtype=np.float32)
        mapped[:] = 1
        axpy[1, 8](float32(2), cuda.mapped_array_like(mapped) * 0 + 1, mapped)
        assert (mapped.copy_to_host() == 3).all() and (cuda.managed_array(3) * 0 == 0).all()


def test_random_numbers_of_numba_run_from_their_own_source():
    from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32

    @cuda.jit
    def noise(states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_normal_float32(states, i)

    with tracing() as launches:
        states = create_xoroshiro128p_states(2048, seed=1)
        out = np.zeros(2048, np.float32)
        noise[16, 128](states, out)
    assert abs(out.mean()) < 0.1 and abs(out.std() - 1) < 0.1 and len(set(out.tolist())) > 2000
    assert launches[-1].races().cells == 0


def test_a_kernel_without_sizes_says_so():
    with tracing():
        with pytest.raises(ValueError, match="grid and a block"):
            axpy(1, np.ones(3), np.ones(3))
        with pytest.raises(ValueError, match="at least a grid and a block"):
            axpy[1](1, np.ones(3), np.ones(3))


def test_a_device_function_is_not_launched():
    with (
        tracing() as launches,
        pytest.raises(LaunchError, match="axpy is a device function"),
    ):
        cuda.jit(device=True)(axpy.py_func)[1, 32](float32(2), np.ones(3), np.ones(3))
    assert not launches


def test_a_configured_kernel_is_launched_any_number_of_times():
    launch = trace(axpy)[1, 8]
    x, y = np.ones(8), np.zeros(8)
    assert launch(1.0, x, y) == launch(1.0, x, y) and (y == 2).all()


def test_traces_of_plain_functions_need_no_patching():
    before = everything()
    y = np.zeros(8)
    trace(axpy)[1, 8](2.0, np.ones(8), y)
    assert (y == 2).all() and everything() == before


# -- What NVIDIA's own tests ask of a program.


def test_what_numba_cuda_refuses_to_type_is_refused_where_the_signature_stands():
    with tracing():
        with pytest.raises(TypingError, match="RequireLiteralValue"):

            @cuda.jit("void(int32)")
            def which_axis(ndim):
                cuda.grid(ndim)

        with pytest.raises(TypingError, match="Invalid NumPy dtype specified: 'int33'"):

            @cuda.jit("void(int32[:])")
            def unknown_dtype(x):
                x[0] = cuda.shared.array(3, dtype="int33")[0]

        with pytest.raises(TypingError, match="Predicate must be an integer or boolean"):

            @cuda.jit("void(float32[:])")
            def vote(x):
                x[0] = cuda.all_sync(-1, x[0])


def test_of_several_signatures_the_one_that_fits_best_is_taken():
    with tracing():

        @cuda.jit(["(float64[::1], float32, float32)", "(float64[::1], float64, float64)"])
        def total(out, a, b):
            out[0] = a + b

        out = np.zeros(1)
        total[1, 1](out, np.float32(1), np.float32(2**-25))
        assert out[0] == 1
        total[1, 1](out, 1, 2**-25)
        assert out[0] == 1 + 2**-25

        @cuda.jit("(int32[::1], int32)")
        def whole(out, a):
            out[0] = a

        with pytest.raises(TypeError, match="No matching definition"):
            whole[1, 1](np.zeros(1, np.int32), 45.6j)


def test_a_launch_of_no_sense_is_refused_in_numba_s_words():
    with tracing():
        with pytest.raises(ValueError, match="Can't create ForAll with negative task count"):
            axpy.forall(-1)
        with pytest.raises(ValueError, match="launch configuration was not specified"):
            axpy(1, 2, 3)
        with pytest.raises(TypeError, match=r"griddim must be a sequence of integers, got \[2.0\]"):
            axpy[2.0, 3]


def test_what_only_goes_in_does_not_come_back():
    class OnlyIn:
        def prepare_args(self, kind, value, **_):
            return kind, cuda.In(value)

    with tracing():

        @cuda.jit
        def three(x):
            x[0] = 3

        x = np.zeros(1)
        three[1, 1](cuda.In(x))
        assert x[0] == 0
        three[1, 1](cuda.InOut(x))
        assert x[0] == 3
        x[0] = 0
        three.extensions.append(OnlyIn())
        three[1, 1](x)
        assert x[0] == 0


def test_a_device_array_is_transposed_into_one_of_its_own_and_knows_its_layout():
    with tracing():
        a = np.arange(120).reshape(10, 12)
        d = cuda.to_device(a)
        turned = d[::2, ::2].T
        assert turned.strides == (40, 8) and (turned.copy_to_host() == a[::2, ::2].T).all()
        assert turned.flags["C_CONTIGUOUS"] and d.view(np.uint64).gpu_data == d.gpu_data
        f = cuda.device_array((3, 4), order="F")
        likes = cuda.device_array_like(f), cuda.mapped_array_like(f), cuda.pinned_array_like(f)
        assert all(like.strides == f.strides for like in likes)
        with pytest.raises(NotImplementedError, match="non-2D"):
            cuda.to_device(np.zeros((2, 2, 2))).T  # noqa: B018


def test_kernels_that_a_program_makes_with_exec_have_their_source():
    with tracing():
        names = {"cuda": cuda}
        exec("@cuda.jit\ndef doubled(x):\n    i = cuda.grid(1)\n    x[i] *= 2\n", names)
        exec("def a_half(x):\n    x[0] = 0.5\n")
        x = np.arange(4.0)
        names["doubled"][1, 4](x)
        assert x.tolist() == [0, 2, 4, 6]
        cuda.jit(locals()["a_half"])[1, 1](x)
        assert x[0] == 0.5
    assert exec.__module__ == "builtins" and exec.__name__ == "exec"


def test_a_device_function_with_a_signature_converts_what_it_is_given():
    with tracing():

        @cuda.jit("int32(int32, float32)", device=True)
        def product(a, b):
            return a * b

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            out[i] = product(x[i], 0.1)

        x, out = np.array([10.9, 29.2, -35.0]), np.zeros(3)
        kernel[1, 3](x, out)
    assert out.tolist() == [int(int(v) * np.float32(0.1).astype(float)) for v in x]


def test_a_kernel_may_be_specialized_for_its_arguments():
    with tracing() as launches:

        @cuda.jit
        def double(x, y):
            i = cuda.grid(1)
            if i < x.size:
                y[i] = 2 * x[i]

        x, y = np.arange(8.0), np.zeros(8)
        for_doubles = double.specialize(x, y)
        for_doubles[1, 8](x, y)
        assert y.tolist() == (2 * x).tolist() and len(launches) == 1
        assert double.specialize(y, x) is for_doubles and len(double.specializations) == 1
        assert double.specialize(x, y.astype(np.int32)) is not for_doubles
        with pytest.raises(RuntimeError, match="already specialized"):
            for_doubles.specialize(x, y)
        with pytest.raises(TypeError, match="do not match"):
            for_doubles[1, 8](x, y.astype(np.int32))
