"""Two hosts joined by a slow link: network namespaces of this machine, and a limit between them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpulessons.workers import Sample

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import two_hosts

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
        return [(*each.communicate(timeout=600), each.returncode) for each in started]
    finally:
        for each in started:
            each.kill()  # its launch ends with it


def sent(host):
    """Bytes that a host has put on the wire so far, every header included."""
    counter = "/sys/class/net/wire/statistics/tx_bytes"
    return int(subprocess.check_output(["ip", "netns", "exec", host, "cat", counter]))


@pytest.mark.nightly
@pytest.mark.parametrize("hosts", [200, 1000], ids="{} Mbit/s".format, indirect=True)
def test_all_reduces_between_hosts_send_their_bytes_once_each_way_and_no_faster_than_the_link(
    hosts, request
):
    """How much slower they are than the link is, a busy machine decides, and `make bench` says."""
    limit = request.node.callspec.params["hosts"] * two_hosts.MEGABIT
    options = f"sizes=[{MEGABYTE},{4 * MEGABYTE}]", "rounds=5"
    said = on_both(hosts, "measure_links", *options)
    assert [status for _, _, status in said] == [0, 0], said
    samples = [returned(words, rank) for rank, (words, _, _) in enumerate(said)]
    assert samples[0] == samples[1]
    crossings = {"backend": 1, "ring": 1, "naive": 2, "tree": 2}  # that wait for each other
    rounds = 1 + 5  # one warms up
    due = len(crossings) * rounds * (MEGABYTE + 4 * MEGABYTE)
    for host in hosts:
        assert due < sent(host) < 1.1 * due
    large = {one.algorithm: one.seconds for one in samples[0] if one.bytes == 4 * MEGABYTE}
    for algorithm, times in crossings.items():
        assert large[algorithm] > 0.9 * times * 4 * MEGABYTE / limit, algorithm


def returned(words, rank):
    """The samples that a worker returned, from their reprs."""
    (line,) = [line for line in words.splitlines() if line.startswith(f"worker {rank} returned ")]
    return eval(line.removeprefix(f"worker {rank} returned "), {"Sample": Sample})


@pytest.mark.nightly
@pytest.mark.parametrize("hosts", [1000], indirect=True)
def test_a_crash_is_told_where_it_was_and_the_other_host_tells_that_it_lost_it(hosts):
    here, there = on_both(hosts, "failing", "how=raises")
    assert here[2] == there[2] == 1
    assert "gpulessons: worker 0 lost the others at " in here[1]
    assert "failing.py, line " in here[1]
    assert "gpulessons: worker 1 raised\n" in there[1]
    assert "ZeroDivisionError" in there[1]
