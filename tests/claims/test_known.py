"""Counts and bounds: each against what it is to be by another way."""

import math

import numpy as np
import pytest
from numba import cuda

from gpulessons import claims
from gpulessons.claims import known
from gpulessons.ops.reduce import total
from warplens import trace, tracing

CARDS = 50.34, 26.3, 56.54, 15.89  # milliseconds in DeepBench
FLOPS = [51.76 / card for card in CARDS]
ALONE = 211.918  # GFLOP/s of a Zen 4 core by itself, FMAs and sums; of eight, FMAs, and in 16 bits
PRICES = [699 / (16 * ALONE) / (1499 / 35_580), 699 / (16 * ALONE) / (1599 / 82_580)]  # of FLOP/s
NETWORKS = [8495.48 / 128.14, 8495.48 / 182.79, 8495.48 / 522.82, 6627.25 / 101.21,
            6627.25 / 149.82, 6627.25 / 277.47, 6627.25 / 311.18]  # fmt: skip
RATE = 2 * 7000 * 4096**2 / 15.89  # of a V100's product, in FLOPs a millisecond
ANSWERS = {
    "19b": [1.095 * RATE / (25 * 2 * 16 * 512 * 2048), 10.01 * RATE / (25 * 2 * 16 * 4096 * 16384)],
    "2a": PRICES, "26b": [1499 / 1599 * 82.58 / 35.58, 1599 / 1499 * 936.2 / 1008],
    "9b": [-math.inf, -math.inf, 365 / 6], "22a": [-math.inf], "22b": [3.5, -math.inf],
    "4b": [*FLOPS, 2.5],
    "4c": [*FLOPS, 2.5, 51.762 / 5.531, 51.762 / 2.092, *NETWORKS[:2], *NETWORKS[3:5]],
    "20a": [8740 / 4992 / ALONE, ALONE / (8740 / 26)], "20c": [312 * 699 / 5000],
    "6a": [*NETWORKS, 30.8 / 16.2],
    "25a": [(81 + 41.91) / 81, (81 + 63.91) / 81, (81 + 72.39) / 81,
            1.0806, 1.1317, 1.1962],
    "1a": [1.0], "5a": [11 / 2, 65],
    "10b": [0.01025, 0.4995 / 0.875],
    "10c": [1.0, 0.859], "12b": [0.37],
    "12a": [(13.65e6 + 272.6e6) / 2**23, 16 * 60e6 / 2**23],
    "14a": [1.0], "16a": [8 / (1 + 8 * 18.20 / 894.8)], "18a": [0.1, 1.0],
    "21c": [0.0],
    "24a": [15971.7 / 1986.5, 15.7e9 / RATE, 2.092 * 125e9 / (2 * 7000 * 4096**2), 312 / 271.2],
}  # fmt: skip


@pytest.mark.parametrize("name", known.EVIDENCE)
def test_what_is_known_is_what_it_was_counted_to_be(name):
    found = [figure.low for figure in claims.evidence(name)]
    assert found == pytest.approx(ANSWERS[name], rel=0.01)


@pytest.mark.parametrize(("name", "most"), [
    ("9b", 209.5e12 * 31_536_000 / 3.14e23), ("22a", 405 / (405 - 2.097)),
    ("2a", 699 / (16 * 162.3554) / (1499 / 35_580)),
])  # fmt: skip
def test_the_other_end_of_a_range(name, most):
    assert claims.evidence(name)[0].high == pytest.approx(most, rel=0.001)


def test_the_parameters_of_resnet_56_layer_by_layer():
    """Its convolutions, two numbers for each of their channels, and ten outputs."""
    widths = [(3, 16), *[(16, 16)] * 18, (16, 32), *[(32, 32)] * 17, (32, 64), *[(64, 64)] * 17]
    assert sum(9 * a * b + 2 * b for a, b in widths) + 65 * 10 == 853_018


@cuda.jit
def naive_softmax(x, out):
    i, every = cuda.grid(1), 0.0
    for each in x:
        every += math.exp(each)
    out[i] = math.exp(x[i]) / every


@cuda.jit
def neighbors(x, out):
    i = cuda.grid(1)
    x[i] += x[(i + 1) % x.size]


@pytest.mark.parametrize(("kernel", "share"), [(naive_softmax, 1 / 66), (neighbors, 0)])
def test_of_accesses_those_count_as_own_that_no_other_thread_needs(kernel, share):
    x = np.ones(64, np.float32)
    assert known.own_share(trace(kernel)[2, 32](x, x.copy())) == pytest.approx(share, rel=0.02)
    with tracing() as launches:
        total.versions["CUDA, warp shuffles"](x)  # tells by shared memory
    assert known.own_share(launches[-1]) < 1


@pytest.mark.parametrize(("refused", "share"), [(None, 0), ("walk", 1 / 2)])
def test_without_a_compiler_no_kernel_is_called_faulty(refused, share, monkeypatch):
    """One that refuses the walks is another matter."""

    def compiles(traced):
        name = traced.launch.function.__name__
        return refused is not None and ("two_ways" in name or "update" in name)

    monkeypatch.setattr(known, "compiles", compiles)
    (figure,) = known.faults_of_a_trees_kernels()
    assert figure.low == share
    assert ("no compiler" in figure.what) == (refused is None)
