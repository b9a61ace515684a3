"""Two hosts joined by a slow link: network namespaces of this machine, and a limit between them."""

import os
import shutil
import subprocess
import sys
from uuid import uuid4

import pytest

from gpulessons.workers import Sample, fit

pytestmark = pytest.mark.alone
MEGABYTE = 1 << 20
HERE = os.pathsep.join([os.getcwd(), *sys.path])


@pytest.fixture
def hosts(request):
    """Two names for `ip netns exec`; 10.77.0.1 and .2, joined at so many Mbit/s each way."""
    if not (hasattr(os, "geteuid") and os.geteuid() == 0 and all(map(shutil.which, ("ip", "tc")))):
        pytest.skip("only root, with iproute2 installed, can make network namespaces")
    names = [f"gpulessons-{uuid4().hex[:8]}" for _ in range(2)]
    try:
        join(*names, request.param)
        yield names
    except subprocess.CalledProcessError as trouble:
        pytest.skip(f"this system makes no such network: {trouble.stderr.strip()}")
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def join(one, other, megabits):
    for words in (f"netns add {one}", f"netns add {other}",
                  f"link add wire netns {one} type veth peer name wire netns {other}"):  # fmt: skip
        system("ip", words)
    for number, name in enumerate((one, other), 1):
        system("ip", f"-n {name} addr add 10.77.0.{number}/24 dev wire")
        system("ip", f"-n {name} link set lo up")
        system("ip", f"-n {name} link set wire up")
        limit = f"rate {megabits}mbit burst 128kb latency 50ms"
        system("tc", f"-n {name} qdisc add dev wire root tbf {limit}")


def system(command, words):
    subprocess.run([command, *words.split()], check=True, capture_output=True, text=True)


def on_both(hosts, *words):
    """`gpulessons workers …` on both hosts: [(what it printed, what it complained, its status)]."""
    several = ["--workers=1", "--nnodes=2", "--master-addr=10.77.0.1", "--master-port=29400"]
    command = [sys.executable, "-m", "gpulessons", "workers", *words, *several]
    started = [
        subprocess.Popen(
            ["ip", "netns", "exec", name, *command, f"--node-rank={rank}"],
            env={**os.environ, "PYTHONPATH": HERE},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank, name in enumerate(hosts)
    ]  # fmt: skip
    return [(*each.communicate(timeout=90), each.returncode) for each in started]


@pytest.mark.parametrize("hosts", [200, 1000], ids="{} Mbit/s".format, indirect=True)
def test_an_all_reduce_between_hosts_takes_what_its_bytes_take_on_their_link(hosts, request):
    limit = request.node.callspec.params["hosts"] * 1e6 / 8  # bytes/s
    options = f"sizes=[{MEGABYTE},{4 * MEGABYTE}]", "rounds=3"
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
