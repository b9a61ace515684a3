"""Additions without a lock: never more than were made, and all of them where nothing is shared."""

import pytest

from gpulessons import launch
from gpulessons.workers.programs.lost_updates import ATOMIC, FEWER


@pytest.fixture(scope="module")
def found():
    return launch("lost_updates", workers=2, cells=[1, 64], additions=1_000_000)


def test_every_worker_tells_the_same_counts(found):
    assert {name: one.found for name, one in found[0].items()} == {
        name: one.found for name, one in found[1].items()
    }


def test_what_is_found_is_at_most_what_was_made(found):
    for name, one in found[0].items():
        assert one.made == 2_000_000 / (FEWER if name == ATOMIC else 1)
        assert 0 < one.found <= one.made


@pytest.mark.parametrize("name", ["side by side", "apart", ATOMIC])
def test_nothing_vanishes_from_a_cell_of_ones_own_nor_from_one_that_all_add_to_atomically(
    found, name
):
    assert found[0][name].lost == 0
