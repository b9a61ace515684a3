"""Occupancy is what NVIDIA's own calculator (cuda_occupancy.h) finds, in a table of its answers."""

import json
from pathlib import Path

import pytest

from warplens.model.devices import devices
from warplens.model.occupancy import KIB, occupancy

HERE = Path(__file__).parent
TABLE = json.loads((HERE / "nvidia_occupancy.json").read_text())["rows"]


def ours(major, minor, threads, registers, shared):
    """What NVIDIA's calculator answers too: blocks, four limits, who limits, the carve-out."""
    gpu = devices()["A100"].but("a card", capability=(major, minor))
    found = occupancy(threads, registers, shared, on=gpu)
    limits = [found.limits[name] for name in ("registers", "shared memory", "warps", "blocks")]
    return [found.blocks, *limits, sorted(found.limiters), found.carve_out]


def test_occupancy_is_nvidia_s_in_the_table():
    for asked, answer in TABLE:
        assert ours(*asked) == answer, asked


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


WRONG = (
    ({"threads": 1025}, "threads of a block are a whole number from 1 to 1,024, not 1025"),
    ({"threads": 0}, "threads of a block"),
    ({"threads": 32.0}, "threads of a block"),
    ({"threads": True}, "threads of a block"),
    ({"threads": 32, "registers": 256}, "registers of a thread are a whole number from 1 to 255"),
    ({"threads": 32, "registers": "many"}, "registers of a thread"),
    ({"threads": 32, "shared": -1}, "shared memory a block are a whole number of at least 0"),
    ({"threads": 32, "on": "A1000"}, "No GPU is called 'A1000'"),
    ({"threads": 32, "on": None}, "No GPU is called None"),
)


def test_what_no_gpu_can_launch_is_refused_by_name():
    for wrong, words in WRONG:
        with pytest.raises(ValueError, match=words):
            occupancy(**wrong)


def test_a_capability_without_known_limits_is_refused():
    with pytest.raises(ValueError, match=r"old card: .* capabilities 7\.0, 7\.5.*, not for 3\.5"):
        occupancy(32, on=devices()["T4"].but("old card", capability=(3, 5)))
