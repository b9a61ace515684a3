"""An op is a specification and its versions: how they are registered, called, found and judged."""

import math
from contextlib import nullcontext

import numpy as np
import pytest

import warplens
from gpulessons import check, compare, relu
from gpulessons.backends import BACKENDS, gpu, host, torch_cpu
from gpulessons.measure.results import Absent, Timing
from gpulessons.operation import Case, Op, find, op


@pytest.fixture
def double():
    @op(inputs=numbers, flops=lambda x, s: x.size, sizes=(4, 16))
    def double(x, s):
        """2 s x."""
        return 2 * s * x

    return double


def numbers(size, rng):
    return rng.standard_normal(size, np.float32), np.float32(0.5)


def ones(*shape):
    return np.ones(shape, np.float32)


# -- Registering.


def test_the_specification_is_the_op_and_its_first_version(double):
    assert isinstance(double, Op) and double.name == "double" and double.__doc__ == "2 s x."
    assert np.array_equal(double(ones(3), 0.5), ones(3))
    assert list(double.versions) == ["NumPy"]
    assert repr(double) == "op double: NumPy"


def test_an_op_like_another_has_its_versions_and_other_inputs(double):
    @double.version("mine", on=host)
    def mine(x, s):
        return 2 * s * x

    matrices = double.like(lambda size, rng: (rng.random((size, size), np.float32), 1), sizes=(3,))
    assert matrices.inputs(3)[0].shape == (3, 3) and double.inputs(3)[0].shape == (3,)
    assert (matrices.sizes, matrices.name, matrices.unit) == ((3,), "double", "elements")
    assert list(matrices.versions) == list(double.versions)
    assert matrices.versions["mine"].op is matrices and double.versions["mine"].op is double
    assert matrices.versions["mine"].empty(*matrices.inputs(2)).shape == (2, 2)


def test_a_version_that_rounds_by_design_is_held_to_its_own_tolerance(double):
    def rounding(x, s):
        return (2 * s * x).astype(np.float16).astype(np.float32)

    double.version("too coarse", on=host)(rounding)
    double.version("coarse", on=host, rtol=1e-3)(rounding)
    refused, kept = compare(double, 16, ["too coarse", "coarse"], budget=0.02).entries
    assert isinstance(refused, Absent) and "2e-06 is allowed" in refused.why
    assert isinstance(kept, Timing) and 2e-6 < kept.error <= 1e-3
    verdicts = [check(double, double.versions[name]).passed for name in ("too coarse", "coarse")]
    assert verdicts == [False, True]


def test_an_edge_case_is_named_by_what_a_learner_types_to_have_it():
    def table(rows, rng, columns=4, kind="float32"):
        return (np.ones((rows, columns), kind),)

    @op(inputs=table, flops=lambda x: 0, sizes=(4,), edge_cases=(5, Case(3, columns=2)))
    def stay(x):
        return x.copy()

    shapes = [stay.inputs(case)[0].shape for case in (*stay.edge_cases, Case(3, kind="float64"))]
    assert shapes == [(5, 4), (3, 2), (3, 4)]
    assert stay.inputs(3, columns=2)[0].shape == (3, 2)
    assert "Tried on CPU at sizes 5, 3 (columns=2)." in check(stay, lambda x: x.copy()).ran
    wrong = check(stay, lambda x: x + (x.shape[1] == 2)).trouble
    assert wrong.startswith("Wrong at size 3 (columns=2): ")
    assert repr(Case(3, kind="int64")) == "3 (kind='int64')"


# -- Calling.


def test_a_function_with_out_writes_there_and_the_version_returns_it(double):
    @double.version("writes", on=host)
    def writes(x, s, out):
        np.multiply(x, 2 * s, out=out)

    version, room = double.versions["writes"], np.empty(3, np.float32)
    assert version.writes_out
    assert version(ones(3), np.float32(2), out=room) is room and np.all(room == 4)
    made = version(ones(3), np.float32(3))
    assert made.dtype == np.float32 and np.all(made == 6)


# -- What an op knows of its arrays.


def scaled_op():
    @op(inputs=numbers, flops=lambda x, b, s: x.size, sizes=(4,), signature="(m, n), (n,)")
    def scaled(x, b, s):
        return s * x + b

    scaled.version("compiled", on=host)(lambda x, b, s, out: np.add(s * x, b, out=out))
    scaled.version("returns", on=torch_cpu)(lambda x, b, s: s * x + b)
    return scaled


@pytest.mark.parametrize(
    "shapes", [((3, 4), (1,)), ((3, 1), (4,)), ((4,), (4,)), ((2, 3, 4), (4,)), ((3, 4), (4, 4))]
)
def test_arrays_that_would_be_stretched_are_refused_in_a_sentence(shapes):
    op = scaled_op()
    given = ", ".join(map(str, shapes))
    for version in (*op.versions.values(), *op.like(numbers).versions.values()):
        with pytest.raises(ValueError) as refusal:
            version(*(version.backend.put(ones(*shape)) for shape in shapes), 2)
        assert str(refusal.value) == f"scaled takes arrays of shapes (m, n), (n,), not {given}."


def test_the_specification_runs_once_per_kind_of_input():
    runs = []

    @op(inputs=numbers, flops=lambda x, s: 0, sizes=(4,))
    def counted(x, s):
        runs.append(x.shape)
        return x

    for x in (ones(3), ones(3), ones(4), ones(3).astype(np.float64)):
        (kind,) = counted.outputs(x, 2.0)
        assert kind == (x.shape, x.dtype)
    assert runs == [(3,), (4,), (3,)]


def test_an_op_that_looks_at_a_few_rows_says_which_bytes_must_move():
    @op(inputs=numbers, flops=lambda x, s: 0, sizes=(4,), moved=lambda x, s: 8)
    def first(x, s):
        return x[:1]

    assert (first.bytes(ones(10), 1.0), first.footprint(ones(10), 1.0)) == (8, 44)
    assert first.like(sizes=(5,)).bytes(ones(10), 1.0) == 8


def test_the_reference_is_computed_in_float64(double):
    x = np.float32([0.1])
    assert double.reference(x, 1)[0] == 2 * np.float64(x[0])
    assert double.reference(x, 1).dtype == np.float64
    integers = np.array([2**24 + 1])
    assert relu.reference(integers).dtype == integers.dtype


# -- Judging.


@pytest.mark.parametrize(
    "got, want, error",
    [
        ([1, 2], [1, 2], 0),
        ([1, 2.5], [1, 2], 0.25),  # relative above one
        ([0.1, 0.2], [0.1, 0.1], 0.1),  # absolute below
        ([-4], [4], 2),
        ([np.inf], [np.inf], 0),
        ([np.inf], [3], math.inf),
        ([np.nan], [np.nan], 0),
        ([1], [np.nan], math.nan),
        ([1, 2], [1, 2, 3], math.nan),
        (None, [1], math.nan),
    ],
)
def test_an_error_is_a_number_or_nan_and_never_hidden(got, want, error):
    got, want = (x if x is None else np.array(x, np.float64) for x in (got, want))
    assert relu.error(got, want) == pytest.approx(error, nan_ok=True)


# -- Finding, and saying what is wrong.


def test_a_version_that_is_not_there_is_missed_with_those_that_are():
    with pytest.raises(KeyError, match="relu has no version 'Numpy'") as missed:
        find(relu, "Numpy")
    for name in relu.versions:
        assert repr(name) in missed.value.args[0]


# -- Backends.


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=list(BACKENDS))
def test_a_backend_keeps_what_is_put_and_hands_back_a_copy(backend):
    if why := backend.why_not():
        pytest.skip(why)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    placed = backend.put(x)
    x[:] = 0
    assert np.array_equal(backend.get(placed), np.arange(6).reshape(2, 3)), "put() must copy"
    backend.write(placed, x + 7)
    assert np.all(backend.get(placed) == 7)
    assert backend.get(backend.empty((2, 3), np.dtype(np.float32))).shape == (2, 3)
    assert backend.put(3.5) == 3.5 and backend.get(3.5) == 3.5
    backend.write(3.5, 3.5)
    start = backend.mark()
    backend.sync()
    assert backend.elapsed(start, backend.mark()) >= 0


@pytest.mark.parametrize("backend", [host, gpu, torch_cpu], ids=lambda backend: backend.name)
def test_a_backend_lays_scattered_arrays_in_order(backend):
    """Where there is no GPU, the microscope stands in for one."""
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    with warplens.tracing() if backend is gpu else nullcontext():
        for scattered in (x.T, x[::2, ::2], x[::-1]):
            placed = backend.put(scattered)
            assert np.array_equal(backend.get(placed), scattered)
            strides = placed.stride() if backend is torch_cpu else np.array(placed.strides) // 4
            assert tuple(strides) == (placed.shape[1], 1)


# -- A learner's own version joins the table.


@pytest.fixture
def mine():
    yield "mine"
    relu.versions.pop("mine", None)


def test_a_learners_version_joins_the_comparison(mine):
    @relu.version(mine, on=host)
    def version(x):
        return np.where(x < 0, np.float32(0), x)

    both = compare(relu, 1000, ["NumPy", mine], budget=0.02, recorded=())
    assert both.versions == ["NumPy", mine] and isinstance(both.at(mine), Timing)
    assert mine in repr(both) and mine in both._repr_html_()


@pytest.mark.parametrize("guard, verdict", [(True, "right, thread by thread"), (False, "wrong:")])
def test_a_learners_cuda_version_is_a_row_even_without_a_gpu(mine, guard, verdict):
    if not gpu.why_not():
        pytest.skip("there is a GPU: it is timed")
    from numba import cuda

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size or not guard:
            out[i] = max(x[i], np.float32(0))

    @relu.version(mine, on=gpu)
    def version(x):
        out = cuda.device_array_like(x)
        kernel[-(-x.size // 64), 64](x, out)
        return out

    entry = compare(relu, 1000, mine, budget=0.02, recorded=()).at(mine)
    assert isinstance(entry, Absent)
    assert entry.why.startswith(gpu.why_not()) and verdict in entry.why


def test_a_learners_wrong_version_is_a_row_without_a_time(mine):
    relu.version(mine, on=host)(lambda x: x)
    both = compare(relu, 1000, ["NumPy", mine], budget=0.02, recorded=())
    assert "WrongAnswer: off by" in both.at(mine).why and isinstance(both.at("NumPy"), Timing)
    assert "check(relu, …) says where" in repr(both)
