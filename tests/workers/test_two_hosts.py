"""Two hosts joined by a slow link: network namespaces of this machine, and a limit between them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpulessons.workers import Sample, fit

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import two_hosts

pytestmark = pytest.mark.alone
MEGABYTE = 1 << 20
HERE = os.pathsep.join([os.getcwd(), *sys.path])


@pytest.fixture
def hosts(request):
    """Two names for `ip netns exec`; 10.77.0.1 and .2, joined at so many Mbit/s each way."""
    if why := two_hosts.why_not():
        pytest.skip(why)
    with two_hosts.joined(request.param) as names:
        yield names


def on_both(hosts, *words):
    """`gpulessons workers …` on both hosts: [(what it printed, what it complained, its status)]."""
    command = [sys.executable, "-m", "gpulessons", "workers", *words, "--workers=1"]
    started = [
        subprocess.Popen(
            ["ip", "netns", "exec", name, *command, *two_hosts.MASTER, f"--node-rank={rank}"],
            env={**os.environ, "PYTHONPATH": HERE, "CUDA_VISIBLE_DEVICES": ""},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank, name in enumerate(hosts)
    ]  # fmt: skip
    try:
        return [(*each.communicate(timeout=90), each.returncode) for each in started]
    finally:
        for each in started:
            each.kill()  # its launch ends with it


@pytest.mark.parametrize("hosts", [200, 1000], ids="{} Mbit/s".format, indirect=True)
def test_an_all_reduce_between_hosts_takes_what_its_bytes_take_on_their_link(hosts, request):
    limit = request.node.callspec.params["hosts"] * two_hosts.MEGABIT
    options = f"sizes=[{MEGABYTE},{4 * MEGABYTE}]", "rounds=5"
    said = on_both(hosts, "measure_links", *options)
    assert [status for _, _, status in said] == [0, 0], said
    samples = [returned(words, rank) for rank, (words, _, _) in enumerate(said)]
    assert samples[0] == samples[1]
    large = {one.algorithm: one.seconds for one in samples[0] if one.bytes == 4 * MEGABYTE}
    for algorithm, crossings in {"engine": 1, "ring": 1, "naive": 2, "tree": 2}.items():
        least = crossings * 4 * MEGABYTE / limit
        assert 0.9 * least < large[algorithm] < 2 * least, algorithm
    link = fit(samples[0])
    assert limit / 2 < link.bandwidth < 1.2 * limit


def returned(words, rank):
    """The samples that a worker returned, from their reprs."""
    (line,) = [line for line in words.splitlines() if line.startswith(f"worker {rank} returned ")]
    return eval(line.removeprefix(f"worker {rank} returned "), {"Sample": Sample})


@pytest.mark.parametrize("hosts", [1000], indirect=True)
def test_a_crash_is_told_where_it_was_and_the_other_host_tells_that_it_lost_it(hosts):
    here, there = on_both(hosts, "failing", "how=raises")
    assert here[2] == there[2] == 1
    assert "gpulessons: worker 0 lost the others at " in here[1]
    assert "failing.py, line " in here[1]
    assert "gpulessons: worker 1 raised\n" in there[1]
    assert "ZeroDivisionError" in there[1]
