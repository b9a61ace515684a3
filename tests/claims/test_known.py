"""Counts and bounds: each against what it is to be by another way."""

import pytest

from gpulessons import claims
from gpulessons.claims import known

CARDS = 50.34, 26.3, 56.54, 15.89, 5.531, 2.092  # milliseconds in DeepBench
FLOPS = [51.76 / card for card in CARDS]
PRICES = [  # of a TFLOP/s, a Ryzen's at its boost over a card's: dollars over sheets' rates
    699 / (16 * 32 * 5.7) / (1499 / (10496 * 2 * 1.7)),
    699 / (16 * 32 * 5.7) / (1599 / (16384 * 2 * 2.52)),
]
RATE = 2 * 7000 * 4096**2 / 15.89  # of a V100's product, in FLOPs a millisecond
ANSWERS = {
    "19b": [1.095 * RATE / (25 * 2 * 16 * 512 * 2048), 10.01 * RATE / (25 * 2 * 16 * 4096 * 16384)],
    "1b": [0.298, 0.411, 0.567], "2a": PRICES,
    "26b": [1499 / 1599 * 41.29 / 17.84, 1599 / 1499 * 936 / 1008],
    "4b": FLOPS, "4c": FLOPS, "9a": [25_000 / 2.86 / (3 * 8760)], "20c": [312 * 699 / 5000],
    "6a": [8495.48 / 182.79, 8495.48 / 522.82, 6627.25 / 149.82, 6627.25 / 311.18,
           0.3379 / 0.404],
    "25a": [(81 + 41.91) / 81, (81 + 63.91) / 81, (81 + 72.39) / 81, 1 / 0.9],
    "1a": [1.0], "3b": [2.0, 2.74], "5a": [11 / 2, 65], "10a": [1.0],
    "10b": [0.01023],
    "10c": [1.0, 1.0, 0.859], "12a": [(13.65e6 + 272.6e6) / 2**23, 16 * 60e6 / 2**23],
    "18a": [0.1, 1.0],
    "21c": [0.0], "24b": [1.0],
    "24a": [15.7e9 / RATE, 2.092 * 125e9 / (2 * 7000 * 4096**2), 312 / 271.2],
}  # fmt: skip


@pytest.mark.parametrize("name", known.EVIDENCE)
def test_what_is_known_is_what_it_was_counted_to_be(name):
    found = [figure.low for figure in claims.evidence(name)]
    assert found == pytest.approx(ANSWERS[name], rel=0.01)


def test_a_message_from_thread_to_thread_would_be_counted():
    from gpulessons.ops.reduce import total
    from warplens import tracing

    with tracing() as launches:
        total.versions["CUDA, warp shuffles"](total.inputs(1_000)[0])
    assert known.own_share(launches[-1]) < 1


@pytest.mark.parametrize(("refused", "share"), [(None, 0), ("walk", 3 / 4)])
def test_without_a_compiler_no_kernel_is_called_faulty(refused, share, monkeypatch):
    """One that refuses the walks is another matter."""

    def compiles(traced):
        name = traced.launch.function.__name__
        return refused is not None and ("two_ways" in name or "update" in name)

    monkeypatch.setattr(known, "compiles", compiles)
    (figure,) = known.faults_of_a_trees_kernels()
    assert figure.low == share
    assert ("no compiler" in figure.what) == (refused is None)
