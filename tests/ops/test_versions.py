"""Every version of every op is right: in edge cases, on wild values, within its bounds."""

import re
from operator import attrgetter

import numpy as np
import pytest

import gpulessons
from gpulessons import conv2d
from gpulessons.backends import NotHere, allow_tf32, host, torch_cpu
from gpulessons.operation import Case, as_tuple, fetched
from gpulessons.ops import activations, common

OPS = [getattr(gpulessons, name) for home, names in gpulessons.HOMES.items()
       for name in names.split() if home.startswith("ops.")]  # fmt: skip
VERSIONS = [version for op in OPS for version in op.versions.values()]
INTERPRETED = [v for v in VERSIONS if "compiled" not in v.name]  # torch.compile takes seconds
ELEMENTWISE = [gpulessons.relu, gpulessons.leaky_relu, gpulessons.sigmoid, gpulessons.tanh,
               gpulessons.gelu]  # fmt: skip
ON_CPU = [v for v in INTERPRETED if v.backend in (host, torch_cpu) and v.op in ELEMENTWISE]

# Less than a vector, a warp, a block, four elements a thread; one more than each; primes.
SIZES = (1, 2, 31, 33, 255, 257, 1009, 1025, 4099)
DENORMAL = np.float32(1e-40)

LAYERS = dict(zip(SIZES, [conv2d.edge_cases[n].axes for n in (5, 4, 5, 2)], strict=False))
UNEVEN = {  # axes that no version may mix up, by size: more of an op's edge cases
    "matmul": lambda n: {"k": max(1, n // 2), "n": n + 3},
    "dense": lambda n: {"inputs": n + 6, "outputs": n // 2 + 1},
    "softmax_layer": lambda n: {"inputs": 65},
    "conv2d": lambda n: {**LAYERS[n], "width": n + 16},
    "lstm_cell": lambda n: {"batch": 3, "inputs": n + 2},
    "lstm_sequence": lambda n: {"batch": 3, "steps": 5, "inputs": n + 2},
    "lstm_layers": lambda n: {"batch": 3, "steps": 5},
    "attention": lambda n: {"keys": n + 3, "heads": 2, "width": 20, "causal": n % 2 == 1},
    "neighbours": lambda n: {"queries": 37, "dim": 41},
    "forest_search": lambda n: {"queries": 9, "dim": 37, "trees": 3, "leaf": 5, "cells": 7},
    "embedding": lambda n: {"width": 37, "bag": 3, "kind": "int64"},
    "tree_softmax": lambda n: {"examples": n, "dim": 37},
}
UNEVEN |= {"lstm_backward": UNEVEN["lstm_sequence"], "tree_search": UNEVEN["tree_softmax"],
           "embedding_update": UNEVEN["embedding"], "conv2d_backward": UNEVEN["conv2d"],
           "dense_backward": UNEVEN["dense"],
           "softmax_layer_backward": UNEVEN["softmax_layer"]}  # fmt: skip


def each(versions):
    return pytest.mark.parametrize(
        "version", versions, ids=[f"{v.op.name}: {v.name}" for v in versions]
    )


def run(version, *inputs):
    """The version's answer to NumPy inputs, as NumPy; skips where its backend cannot be."""
    if why := version.backend.why_not():
        pytest.skip(why)
    try:
        with np.errstate(all="ignore"):
            return fetched(version.backend, version(*map(version.backend.put, inputs)))
    except NotHere as why:
        pytest.skip(str(why))


def truth(op, *inputs):
    with np.errstate(all="ignore"):
        return op.reference(*inputs)


def assert_right(version, *inputs):
    op, got = version.op, run(version, *inputs)
    assert [(y.shape, y.dtype) for y in as_tuple(got)] == op.outputs(*inputs)
    error = op.error(got, truth(op, *inputs))
    assert error <= version.rtol, f"{version}: off by {error:.2g} at {inputs[0].shape}"


def problems(op):
    if op.unit == "elements":
        return *op.edge_cases, *SIZES
    return *op.edge_cases, 2, *(Case(n, **UNEVEN[op.name](n)) for n in SIZES[:4])


@each(INTERPRETED)
def test_every_version_is_right_in_edge_cases(version):
    op = version.op
    for case in problems(op):
        assert_right(version, *op.inputs(case, seed=case))


@each([v for v in INTERPRETED if v.op in ELEMENTWISE])
def test_an_elementwise_version_takes_matrices(version):
    for rows, columns in ((1, 1), (3, 7), (31, 33), (257, 2)):
        (x,) = version.op.inputs(rows * columns, seed=rows)
        assert_right(version, x.reshape(rows, columns))


@each([v for v in INTERPRETED if v.op is gpulessons.bias_gelu])
def test_the_bias_goes_along_the_columns(version):
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (5, 3), (2, 257), (257, 2)):
        x = rng.normal(0, 3, (rows, columns)).astype(np.float32)
        assert_right(version, x, rng.normal(0, 3, columns).astype(np.float32))


@each(ON_CPU)
def test_a_nan_stays_a_nan_wherever_it_stands(version):
    """Also in the middle of a vector: minimum and maximum instructions are apt to lose it."""
    (x,) = version.op.inputs(67)
    x[::5] = np.nan
    assert np.array_equal(np.isnan(run(version, x)), np.isnan(x))


@each(ON_CPU)
def test_the_ends_of_float32_come_out_as_in_float64(version):
    largest = np.finfo(np.float32).max
    x = np.array([0.0, -0.0, DENORMAL, -DENORMAL, 1e-45, 87, 88, 88.5, 89, 100, 1e10, largest,
                  np.inf], np.float32)  # fmt: skip
    for values in (x, -x, np.resize(np.concatenate([x, -x]), 101)):
        assert_right(version, values)


@each([v for v in ON_CPU if v.op in (gpulessons.relu, gpulessons.leaky_relu)])
def test_a_selection_keeps_denormals(version):
    assert run(version, np.array([DENORMAL]))[0] == DENORMAL


@pytest.mark.parametrize(
    "version", [v for v in VERSIONS if "compiled" in v.name and v.backend is torch_cpu], ids=str
)
def test_the_compiled_version_is_right(version):
    assert_right(version, *version.op.inputs(2 * 1009, seed=1))


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
    "momentum_step": [(800,)] * 3,
    "adam_step": [(800,)] * 4,
    "softmax": [(5, 800)],
    "softmax_backward": [(5, 800)] * 2,
    "layer_norm": [(5, 800), (800,), (800,)],
    "layer_norm_backward": [(5, 800), (800,), (5, 800)],
    "dense": [(20, 2), (300, 2), (300,)],
    "dense_backward": [(20, 2), (300, 2), (20, 300), (20, 300)],
    "softmax_layer": [(20, 2), (300, 2), (300,)],
    "softmax_layer_backward": [(20, 2), (300, 2), (20, 300)],
    "lstm_cell": [(3, 2), (3, 5), (3, 5), (20, 2), (20, 5), (20,)],
    "lstm_sequence": [(4, 3, 2), (3, 5), (3, 5), (20, 2), (20, 5), (20,)],
    "lstm_layers": [(4, 3, 5), (2, 3, 5), (2, 3, 5), (2, 20, 5), (2, 20, 5), (2, 20)],
}


@pytest.mark.parametrize("name", LONG_ROWS)
def test_flops_are_what_the_specification_does(name):
    op, rng = getattr(gpulessons, name), np.random.default_rng(0)
    inputs = [rng.random(shape).view(Counted) for shape in LONG_ROWS[name]]
    if name == "softmax_layer_backward":
        inputs.append(rng.integers(0, 300, 20))
    if name == "adam_step":
        inputs.append(10)
    Counted.done = 0
    op(*inputs)
    assert Counted.done == pytest.approx(op.flops(*inputs), rel=0.01)


# -- PyTorch as a user may have set it.


@pytest.mark.parametrize("user_s", [False, True])
@pytest.mark.parametrize(
    "name, version, library, home, calls",
    [
        ("conv2d", "PyTorch on CPU", "cudnn", "", "conv2d"),
        ("conv2d_backward", "PyTorch on CPU", "cudnn", "nn.grad", "conv2d_input"),
        ("conv2d_backward", "PyTorch on CPU", "cudnn", "nn.grad", "conv2d_weight"),
        ("lstm_sequence", "PyTorch, nn.LSTM, CPU", "cudnn", "", "lstm"),
        ("lstm_layers", "PyTorch, nn.LSTM, CPU", "cudnn", "", "lstm"),
        ("lstm_backward", "PyTorch, autograd, CPU", "cudnn", "", "lstm"),
        ("lstm_backward", "PyTorch, autograd, CPU", "cudnn", "autograd", "grad"),
        ("attention", "PyTorch, fused, CPU", "cuda.matmul", "nn.functional",
         "scaled_dot_product_attention"),
    ],
)  # fmt: skip
def test_torch_rounds_no_factor_to_tf32(name, version, library, home, calls, user_s, monkeypatch):
    """The flag matters on a GPU only, but it is the same function that is called there."""
    torch = pytest.importorskip("torch")
    flags = attrgetter(f"backends.{library}")(torch)
    home, seen = attrgetter(home)(torch) if home else torch, []
    function = getattr(home, calls)

    def watched(*inputs, **options):
        seen.append(flags.allow_tf32)
        return function(*inputs, **options)

    monkeypatch.setattr(home, calls, watched)
    op = getattr(gpulessons, name)
    with allow_tf32(flags, user_s):
        run(op.versions[version], *op.inputs(1))
        assert seen == [False] and flags.allow_tf32 == user_s


# -- exp32 and tanh32: their stated errors, over all of float32, and the vectors they exist for.


@pytest.fixture(scope="module")
def loops():
    """exp32 and tanh32 in the loop that the versions run."""
    return {
        function: activations.element_loop(getattr(common, function), common.SERIAL)
        for function in ("exp32", "tanh32")
    }


def over(loop, x):
    out = np.empty_like(x)
    loop(x, out)
    return out


def float32s(low, high, step=251):
    """Every 251st float32 from low to high, by its bits: all binades alike, none left out."""
    patterns = np.arange(0, 2**31 - 2**23, step, dtype=np.int32).view(np.float32)
    both = np.concatenate([-patterns, patterns])
    return both[(both >= low) & (both <= high)]


def test_exp32_keeps_its_stated_error(loops):
    for x in (float32s(-87, 88), np.linspace(-87, 88, 1_000_003).astype(np.float32)):
        exact = np.exp(x.astype(np.float64))
        assert np.abs(over(loops["exp32"], x) / exact - 1).max() < 2e-7


def test_exp32_beyond_float32_is_infinite_above_and_all_but_zero_below(loops):
    x = np.array([89, 1e10, np.inf, -88, -1e10, -np.inf], np.float32)
    high, low = np.split(over(loops["exp32"], x), 2)
    assert np.all(np.isposinf(high)) and np.all((low >= 0) & (low < 2e-38))


def test_tanh32_keeps_its_stated_error(loops):
    for x in (float32s(-np.inf, np.inf), np.linspace(-9, 9, 1_000_003).astype(np.float32)):
        got = over(loops["tanh32"], x)
        assert np.abs(got - np.tanh(x.astype(np.float64))).max() < 5e-7
        assert np.abs(got).max() <= 1


PACKED = r"\bv?(mul|add|fn?m(add|sub)\d*)ps\b|\bf(mul|add|mla)\t?.*v\d+\.4s|\bf(mul|mla)\s+z\d+\.s"


@pytest.mark.parametrize("function", ["exp32", "tanh32"])
def test_the_loop_contains_packed_vector_instructions(loops, function):
    """x86's `mulps`, or Arm's `fmul v0.4s`: an instruction that multiplies several floats."""
    over(loops[function], np.zeros(4, np.float32))
    (assembly,) = loops[function].inspect_asm().values()
    assert re.search(PACKED, assembly), "only scalar instructions: the loop was not vectorized"
