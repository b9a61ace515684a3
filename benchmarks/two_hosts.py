"""Two hosts on one machine: network namespaces, joined by a link as slow as you like.

Each host has a core of its own, and an address that only the link leads to. Making them takes
Linux, root and iproute2; `why_not` says what is missing.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
from contextlib import contextmanager
from uuid import uuid4

MASTER = ["--nnodes=2", "--master-addr=10.77.0.1", "--master-port=29400"]  # torchrun's options
MEGABIT = 1e6 / 8  # bytes
SILENT = {"show": lambda line: None, "advance": lambda *progress: None}  # options of launch()


def why_not():
    """ "" where namespaces can be made, else what is missing."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not (root and all(map(shutil.which, ("ip", "tc")))):
        return "only root, with iproute2 installed, can make network namespaces"
    try:
        with joined(1000):
            return ""
    except subprocess.CalledProcessError as trouble:
        return f"this system makes no such network: {trouble.stderr.strip()}"


@contextmanager
def joined(megabits):
    """Two names for `ip netns exec`: 10.77.0.1 and .2, joined at so many Mbit/s each way."""
    names = [f"gpulessons-{uuid4().hex[:8]}" for _ in range(2)]
    try:
        join(*names, megabits)
        yield names
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
        system("ip", f"netns exec {name} true")  # where /sys cannot be mounted, nothing runs there


def system(command, words):
    subprocess.run([command, *words.split()], check=True, capture_output=True, text=True)


def launched(names, program, *, apart=False, **options):
    """[What the worker on each host returned]. apart: both at once, but neither knows the other."""
    started = []
    try:
        for rank, name in enumerate(names):
            hosts = [] if apart else [*MASTER, f"--node-rank={rank}"]
            words = [sys.executable, __file__, str(rank), program, json.dumps([hosts, options])]
            started.append(subprocess.Popen(
                ["ip", "netns", "exec", name, *words], stdout=subprocess.PIPE,
                env={**os.environ, "GLOO_SOCKET_IFNAME": "wire",
                     "CUDA_VISIBLE_DEVICES": ""},  # both would take the same GPU
            ))  # fmt: skip
        said = [process.communicate(timeout=300)[0] for process in started]
    finally:
        for process in started:
            process.kill()  # its launch ends with it
    if any(process.returncode for process in started):
        raise RuntimeError(f"{program} failed on a host; what it said stands above.")
    return [pickle.loads(result) for result in said]


def host(rank, program, words):
    """One host's part of a launch, on a core of its own; the result goes out as bytes."""
    from gpulessons import launch

    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    hosts, options = json.loads(words)
    (result,) = launch(program, workers=1, hosts=hosts, **SILENT, **options)
    sys.stdout.buffer.write(pickle.dumps(result))


if __name__ == "__main__":
    host(int(sys.argv[1]), *sys.argv[2:])
