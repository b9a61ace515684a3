"""Softmax and layer norm: by float64, at the ends of float32, by their laws; broken on purpose.

Shares may be tiny, so they are compared relative to themselves here: op.error would call any share
of a long row right.
"""


import numpy as np

from gpulessons import layer_norm, softmax
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.ops.layer_norm import EPS
from warplens import tracing

SHAPES = ((1, 1), (3, 1), (1, 7), (9, 33), (3, 257))
TINY = 1e-36  # exp32 stops at 1.6e-38: what should be zero may be that


def versions(op, *backends):
    return [v for v in op.versions.values() if v.backend in (backends or (host, torch_cpu, gpu))]


def run(version, *inputs):
    """A version's answer; a GPU's in the microscope."""
    put, get = version.backend.put, version.backend.get
    with np.errstate(all="ignore"):
        if version.backend is not gpu:
            return get(version(*map(put, inputs)))
        with tracing():
            return get(version(*map(put, inputs)))


def assert_close(got, want, rtol=2e-6):
    assert np.all(np.abs(got - want) <= rtol * np.abs(want) + TINY)


def scores(shape, scale, seed=0):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)


def test_every_share_is_that_of_float64():
    for shape in SHAPES:
        x = scores(shape, 10, seed=shape[1])
        for version in versions(softmax):
            assert_close(run(version, x), softmax.reference(x), rtol=1e-5)


def test_scores_of_hundreds_and_masked_ones_neither_overflow_nor_vanish():
    x = np.array([[300, 299, -300], [-300, -301, -299], [88, 89, 90], [3e38, -3e38, 0],
                  [5, -np.inf, -np.inf]], np.float32)  # fmt: skip
    for version in versions(softmax):
        got = run(version, x)
        assert_close(got, softmax.reference(x))
        assert np.allclose(got.sum(axis=1), 1)


def test_a_nan_spoils_its_own_row_and_no_other():
    for version in versions(softmax, host, torch_cpu):
        for at in (0, 33, 69):
            x = scores((3, 70), 3)
            x[1, at] = np.nan
            assert np.isnan(run(version, x)).all(axis=1).tolist() == [False, True, False]


def test_a_warp_per_row_is_coalesced():
    for version in versions(softmax, gpu):
        with tracing() as launches:
            version(gpu.put(scores((64, 256), 1)))
        assert launches[0].coalescing("x").sectors_per_request == 4


# -- Layer norm.


def problem(shape, scale=1):
    """x, gain, bias: float32, with no two columns alike."""
    rng = np.random.default_rng(shape[1])
    parts = rng.normal(0, scale, shape), rng.normal(1, 0.3, shape[1]), rng.normal(0, 1, shape[1])
    return tuple(a.astype(np.float32) for a in parts)


def test_every_number_is_that_of_float64():
    for shape in SHAPES:
        for scale in (1, 300):
            inputs = problem(shape, scale)
            for version in versions(layer_norm):
                error = layer_norm.error(run(version, *inputs), layer_norm.reference(*inputs))
                assert error < 3e-6, version


def test_equal_numbers_become_the_bias_and_a_small_spread_around_a_large_mean_survives():
    """The mean of squares minus the square of the mean would be all rounding here."""
    _, gain, bias = problem((1, 37))
    equal = np.repeat(np.float32([[0], [-7], [300], [1e5]]), 37, axis=1)
    spread = 1e4 + np.random.default_rng(0).integers(-4, 5, (3, 333)).astype(np.float32)
    ones = np.ones(333, np.float32)
    want = layer_norm(spread - 1e4, ones, 0 * ones)
    for version in versions(layer_norm):
        assert np.abs(run(version, equal, gain, bias) - bias).max() < 1e-5 / np.sqrt(EPS)
        assert np.abs(run(version, spread, ones, 0 * ones) - want).max() < 2e-3


