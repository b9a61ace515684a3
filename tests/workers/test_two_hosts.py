"""The programs on two hosts, which are network namespaces: by torchrun, as they are."""

import sys
from pathlib import Path

import pytest

from gpulessons import launch

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import two_hosts

RUNS = [
    {"program": "check_collectives", "lengths": [60]}, {"program": "tensor_parallel"},
    {"program": "pipeline"}, {"how": "ring", "steps": 4}, {"how": "DDP", "steps": 4},
]  # fmt: skip


@pytest.mark.nightly
def test_two_hosts_compute_what_two_workers_of_one_do():
    if missing := two_hosts.why_not():
        pytest.skip(missing)
    with two_hosts.joined(1000) as names:
        apart = two_hosts.launched(names, "several", runs=RUNS)
    together = launch("several", workers=2, runs=RUNS)
    for one, other in zip(apart, together, strict=True):
        assert [row[:4] for row in one[0]] == [row[:4] for row in other[0]]  # and bytes sent
        assert all(equal for _, _, equal, *_ in one[0])
        assert one[1].loss == pytest.approx(other[1].loss)
        assert all(map(lambda a, b: a.equal(b), one[2].gradients, other[2].gradients))
        for here, there in zip(one[3:], other[3:], strict=True):
            assert here.losses == pytest.approx(there.losses, rel=1e-4)
