"""Every version of every op is right where wrong ones break, and costs what its op says."""

import re
from operator import attrgetter

import numpy as np
import pytest

import gpulessons
from gpulessons.backends import allow_tf32, host, torch_cpu
from gpulessons.operation import as_tuple, fetched

NAMES = [name for home, names in gpulessons.HOMES.items()
         for name in names.split() if home.startswith("ops.")]  # fmt: skip
ELEMENTWISE = ("relu", "gelu")
DENORMAL = np.float32(1e-40)
each_op = pytest.mark.parametrize("name", NAMES)


def on_cpu(op):
    """Its versions that run here."""
    return [version for version in op.versions.values()
            if version.backend in (host, torch_cpu) and not version.backend.why_not()]  # fmt: skip


def quickly(op):
    """Without those for one core, whose bodies are mostly those for every core: each compiles."""
    return [version for version in on_cpu(op) if "one core" not in version.name]


def run(version, *inputs):
    with np.errstate(all="ignore"):
        return fetched(version.backend, version(*map(version.backend.put, inputs)))


def assert_right(version, *inputs):
    op, got = version.op, run(version, *inputs)
    assert [(y.shape, y.dtype) for y in as_tuple(got)] == op.outputs(*inputs)
    with np.errstate(all="ignore"):
        error = op.error(got, op.reference(*inputs))
    assert error <= version.rtol, f"{version}: off by {error:.2g} at {inputs[0].shape}"


@each_op
def test_every_version_is_right_in_edge_cases(name):
    op = getattr(gpulessons, name)
    for case in op.edge_cases:
        inputs = op.inputs(case, seed=case)
        for version in quickly(op):
            assert_right(version, *inputs)


@pytest.mark.nightly
@each_op
def test_every_version_is_right_at_more_sizes(name):
    op = getattr(gpulessons, name)
    sizes = (2, 33, 255, 4099) if op.unit == "elements" else (2, 33)
    for case in (*op.edge_cases, *sizes):
        for version in on_cpu(op):
            assert_right(version, *op.inputs(case, seed=case))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_activation_takes_matrices_nans_and_the_ends_of_float32(name):
    """A NaN also in the middle of a vector: minimum and maximum instructions are apt to lose it."""
    op, largest = getattr(gpulessons, name), np.finfo(np.float32).max
    (matrix,) = op.inputs(31 * 33)
    (some,) = op.inputs(67)
    some[::5] = np.nan
    ends = np.array([0.0, -0.0, DENORMAL, -DENORMAL, 1e-45, 87, 88, 88.5, 89, 100, 1e10, largest,
                     np.inf], np.float32)  # fmt: skip
    for version in quickly(op):
        assert_right(version, matrix.reshape(31, 33))
        assert np.array_equal(np.isnan(run(version, some)), np.isnan(some))
        assert_right(version, np.resize(np.concatenate([ends, -ends]), 101))
        if name == "relu":
            assert run(version, np.array([DENORMAL]))[0] == DENORMAL


# -- What an op says that it costs.


class Counted(np.ndarray):
    """An array that adds up the operations of NumPy's functions on it; maxima are among them."""

    done = 0
    arithmetic = (np.add, np.subtract, np.multiply, np.divide, np.exp, np.tanh, np.negative,
                  np.maximum, np.sqrt)  # fmt: skip

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        inputs = [np.asarray(x) for x in inputs]
        result = np.asarray(getattr(ufunc, method)(*inputs, **options))
        if ufunc is np.matmul:
            Counted.done += 2 * result.size * inputs[0].shape[-1]
        elif ufunc in self.arithmetic:
            Counted.done += max(result.size, inputs[0].size)  # of a sum: what goes in
        return result.view(Counted)


LONG_ROWS = {  # inputs so shaped that the product hides nothing, and a row's own costs are little
    "gelu": [(800,)],
    "bias_gelu": [(5, 800), (800,)],
    "softmax": [(5, 800)],
    "layer_norm": [(5, 800), (800,), (800,)],
    "dense": [(20, 2), (300, 2), (300,)],
    "lstm_cell": [(3, 2), (3, 5), (3, 5), (20, 2), (20, 5), (20,)],
    "lstm_sequence": [(4, 3, 2), (3, 5), (3, 5), (20, 2), (20, 5), (20,)],
}


def test_flops_are_what_the_specification_does():
    rng = np.random.default_rng(0)
    for name, shapes in LONG_ROWS.items():
        op, inputs = getattr(gpulessons, name), [rng.random(n).view(Counted) for n in shapes]
        Counted.done = 0
        op(*inputs)
        assert Counted.done == pytest.approx(op.flops(*inputs), rel=0.01), name


# -- PyTorch as a user may have set it: the flag matters on a GPU only, the function is the same.


@pytest.mark.parametrize("users", [False, True])
@pytest.mark.parametrize("name, version, library, home, calls", [
    ("conv2d", "PyTorch on CPU", "cudnn", "", "conv2d"),
    ("lstm_sequence", "PyTorch, nn.LSTM, CPU", "cudnn", "", "lstm"),
    ("attention", "PyTorch, fused, CPU", "cuda.matmul", "nn.functional",
     "scaled_dot_product_attention"),
])  # fmt: skip
def test_torch_rounds_no_factor_to_tf32(name, version, library, home, calls, users, monkeypatch):
    torch = pytest.importorskip("torch")
    flags = attrgetter(f"backends.{library}")(torch)
    home, seen = attrgetter(home)(torch) if home else torch, []
    function = getattr(home, calls)

    def watched(*inputs, **options):
        seen.append(flags.allow_tf32)
        return function(*inputs, **options)

    monkeypatch.setattr(home, calls, watched)
    op = getattr(gpulessons, name)
    with allow_tf32(flags, users):
        run(op.versions[version], *op.inputs(1))
        assert seen == [False] and flags.allow_tf32 == users


# -- exp32 and tanh32: their stated errors, over all of float32, and the vectors they exist for.

PACKED = r"\bv?(mul|add|fn?m(add|sub)\d*)ps\b|\bf(mul|add|mla)\t?.*v\d+\.4s|\bf(mul|mla)\s+z\d+\.s"


@pytest.fixture(scope="module")
def over():
    """over(function, x): exp32's or tanh32's values, from a loop that consists of vectors."""
    from numba import njit, prange

    from gpulessons.ops import common, vectors

    def loop_of(element):
        @njit(**common.SERIAL)
        def loop(x, out):
            for i in prange(x.size):
                vectors.full_width()
                out[i] = element(x[i])

        return loop

    loops = {name: loop_of(getattr(common, name)) for name in ("exp32", "tanh32")}

    def over(name, x):
        out = np.empty_like(x)
        loops[name](x, out)
        (assembly,) = loops[name].inspect_asm().values()
        assert re.search(PACKED, assembly), "only scalar instructions: the loop was not vectorized"
        return out

    return over


def float32s(low, high, step=2503):
    """Every 2,503rd float32 from low to high, by its bits: all binades alike, none left out."""
    patterns = np.arange(0, 2**31 - 2**23, step, dtype=np.int32).view(np.float32)
    both = np.concatenate([-patterns, patterns])
    return both[(both >= low) & (both <= high)]


def test_exp32_keeps_its_stated_error_and_ends_in_infinity_and_all_but_zero(over):
    x = float32s(-87, 88)
    assert np.abs(over("exp32", x) / np.exp(x.astype(np.float64)) - 1).max() < 2e-7
    ends = over("exp32", np.array([89, 1e10, np.inf, -88, -1e10, -np.inf], np.float32))
    assert np.all(np.isposinf(ends[:3])) and np.all((ends[3:] >= 0) & (ends[3:] < 2e-38))


def test_tanh32_keeps_its_stated_error(over):
    for x in (float32s(-np.inf, np.inf), np.linspace(-9, 9, 100_003).astype(np.float32)):
        got = over("tanh32", x)
        assert np.abs(got - np.tanh(x.astype(np.float64))).max() < 5e-7
        assert np.abs(got).max() <= 1
