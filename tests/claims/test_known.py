"""Counts and bounds: each against what it is to be by another way."""

import pytest

from gpulessons import claims
from gpulessons.claims import known

ANSWERS = {
    "1a": [1.0], "3b": [2.0, pytest.approx(2.74, abs=0.01)], "5a": [11 / 2, 65], "10a": [1.0],
    "10b": [pytest.approx(28 / 32 / (512 / 6), rel=0.05)],
    "10c": [1.0, 1.0, pytest.approx(0.86, abs=0.01)],
    "12a": [16 * 853_018 / 2**23, 16 * 60_000_000 / 2**23], "18a": [288 / 575],
    "24b": [pytest.approx(0.997, abs=0.001)],
}  # fmt: skip


@pytest.mark.parametrize("name", known.EVIDENCE)
def test_what_is_known_is_what_it_was_counted_to_be(name):
    assert [figure.low for figure in claims.evidence(name)] == ANSWERS[name]


def test_a_message_from_thread_to_thread_would_be_counted():
    from gpulessons.ops.reduce import total
    from warplens import tracing

    with tracing() as launches:
        total.versions["CUDA, warp shuffles"](total.inputs(1_000)[0])
    assert known.own_share(launches[-1]) < 1
