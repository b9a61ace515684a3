"""Occupancy is what NVIDIA's own calculator finds, in a table and compiled anew."""

import itertools
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warplens.model.devices import devices
from warplens.model.occupancy import KIB, LIMITS, occupancy

HERE = Path(__file__).parent
TABLE = json.loads((HERE / "nvidia_occupancy.json").read_text())["rows"]
NONE = 2**31 - 1  # how NVIDIA's calculator says that something limits nothing
BITS = {1: "warps", 2: "registers", 4: "shared memory", 8: "blocks"}


def ours(major, minor, threads, registers, shared):
    """What NVIDIA's calculator answers too: blocks, four limits, who limits, the carve-out."""
    gpu = devices()["A100"].but("a card", capability=(major, minor))
    found = occupancy(threads, registers, shared, on=gpu)
    limits = [found.limits[name] for name in ("registers", "shared memory", "warps", "blocks")]
    return [found.blocks, *limits, sorted(found.limiters), found.carve_out]


def nvidias(configurations, folder):
    """The same from cuda_occupancy.h, compiled now; skips the test where that cannot be."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    wheels = (Path(path).glob("nvidia/*/include/cuda_occupancy.h") for path in sys.path if path)
    installed = Path("/usr/local").glob("cuda/include/cuda_occupancy.h")
    header = next(itertools.chain(*wheels, installed), None)
    if not (compiler and header):
        pytest.skip("needs a C++ compiler and cuda_occupancy.h, which comes with CUDA's runtime")
    program = folder / "calculator"
    subprocess.run([compiler, f"-I{header.parent}", HERE / "calculator.cpp", "-o", program],
                   check=True, capture_output=True)  # fmt: skip
    lines = "\n".join(" ".join(map(str, each)) for each in configurations)
    told = subprocess.run([program], input=lines, check=True, capture_output=True, text=True)
    return [read(line) for line in told.stdout.splitlines()]


def read(line):
    """An answer of calculator.cpp in the form of `ours`."""
    *counts, bits, carve_out = map(int, line.split())
    limiters = sorted(name for bit, name in BITS.items() if bits & bit)
    return [*(None if count == NONE else count for count in counts), limiters, carve_out]


def test_occupancy_is_nvidia_s_in_the_table():
    for asked, answer in TABLE:
        assert ours(*asked) == answer, asked


def test_the_table_has_every_capability_every_limiter_and_launches_that_do_not_fit():
    rows = TABLE
    assert len(rows) >= 30
    assert {tuple(asked[:2]) for asked, _ in rows} == set(LIMITS)
    assert {name for _, answer in rows for name in answer[-2]} == set(BITS.values())
    assert {1, 33, 96, 160, 768, 1024} <= {asked[2] for asked, _ in rows}
    assert sum(answer[0] == 0 for _, answer in rows) >= 5


@pytest.mark.nightly
def test_occupancy_is_nvidia_s_for_launches_taken_at_random(tmp_path):
    rng = random.Random(13)
    shared = [0, 0, 1, 1024, 4096, 33 * KIB, 48 * KIB, 48 * KIB + 1, 99 * KIB, 163 * KIB, 227 * KIB]
    asked = [
        (*rng.choice(list(LIMITS)), rng.choice([1, 32, 33, 96, 160, 768, rng.randint(1, 1024)]),
         rng.randint(1, 255), rng.choice([*shared, rng.randint(0, 240 * KIB)]))
        for _ in range(600)
    ]  # fmt: skip
    answers = nvidias(asked, tmp_path)
    assert len(answers) == len(asked)
    assert [ours(*each) for each in asked] == answers


def test_the_share_counts_warps_and_says_what_limits_it():
    found = occupancy(threads=256, registers=40, shared=8192, on="A100")
    assert (found.blocks, found.warps, found.most_warps, found.share) == (6, 48, 64, 0.75)
    assert found.limits == {"registers": 6, "shared memory": 18, "warps": 8, "blocks": 32}
    assert found.limiter == "registers"
    assert "6 blocks, 48 of 64 warps (75 %), limited by registers" in repr(found)
    assert "a block takes 10,240 of the 65,536 registers" in found._repr_html_()


def test_what_does_not_fit_at_all_has_no_blocks_and_a_reason():
    found = occupancy(threads=1024, registers=255, shared=200 * KIB)
    assert found.blocks == found.share == 0
    assert found.limiters == ("registers", "shared memory")
    assert "a block takes 201 KiB of the 164 KiB of shared memory" in found.reason
    assert not occupancy(32).reason


def test_more_than_48_kib_a_block_carries_a_note():
    assert "asked for before the launch" in repr(occupancy(256, shared=48 * KIB + 1))
    assert "asked for before the launch" not in repr(occupancy(256, shared=48 * KIB))


WRONG = (
    ({"threads": 1025}, "threads of a block are a whole number from 1 to 1,024, not 1025"),
    ({"threads": 0}, "threads of a block"),
    ({"threads": 32.0}, "threads of a block"),
    ({"threads": True}, "threads of a block"),
    ({"threads": 32, "registers": 256}, "registers of a thread are a whole number from 1 to 255"),
    ({"threads": 32, "registers": "many"}, "registers of a thread"),
    ({"threads": 32, "shared": -1}, "shared memory a block are a whole number of at least 0"),
    ({"threads": 32, "on": "A1000"}, "Did you mean 'A100'"),
    ({"threads": 32, "on": None}, "No GPU is called None"),
)


def test_what_no_gpu_can_launch_is_refused_by_name():
    for wrong, words in WRONG:
        with pytest.raises(ValueError, match=words):
            occupancy(**wrong)


def test_a_capability_without_known_limits_is_refused():
    with pytest.raises(ValueError, match=r"old card: .* capabilities 7\.5, 8\.0.*, not for 3\.5"):
        occupancy(32, on=devices()["T4"].but("old card", capability=(3, 5)))
