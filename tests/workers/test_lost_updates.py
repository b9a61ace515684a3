"""Additions without a lock: never more than were made, and all of them where nothing is shared."""

import numpy as np
import pytest

from gpulessons import launch
from gpulessons.workers.memory import APART
from gpulessons.workers.programs import hogwild
from gpulessons.workers.programs.lost_updates import (
    ATOMIC,
    DRAWN,
    FEWER,
    ROUNDS,
    bump_atomically,
)


@pytest.fixture(scope="module")
def found():
    return launch("lost_updates", workers=2, cells=[1, 64], additions=1_000_000)


def test_every_worker_tells_the_same_counts(found):
    assert {name: one.found for name, one in found[0].items()} == {
        name: one.found for name, one in found[1].items()
    }


def test_what_is_found_is_at_most_what_was_made(found):
    for name, one in found[0].items():
        shared = isinstance(name, int)
        assert one.made == max(2_000_000 // (1 if shared else FEWER), 2 * DRAWN)
        assert 0 < one.found <= one.made
        assert len(one.seconds) == (1 if shared else ROUNDS)


@pytest.mark.parametrize("name", ["side by side", "apart", ATOMIC])
def test_nothing_vanishes_from_a_cell_of_ones_own_nor_from_one_that_all_add_to_atomically(
    found, name
):
    assert found[0][name].lost == 0


def test_what_is_called_atomic_is_so_in_the_compiled_code_too():
    cells, places = np.zeros(3, np.int64), np.array([1, 2, 1])  # two processes may never meet
    bump_atomically(cells, places, 2)
    assert cells.tolist() == [0, 4, 2]
    weights, clock = np.zeros(3, np.float32), np.zeros(APART, np.int64)
    hogwild.learn(weights, clock, 0, places[None], np.ones(1), 0.5, True)
    assert weights.tolist() == [0, 0.5, 0.25]  # half of 0.5, once for each time it occurs
    for compiled, instruction in ((bump_atomically, "add"), (hogwild.learn, "fadd")):
        made = "".join(compiled.inspect_llvm().values())
        assert f"atomicrmw {instruction} " in made or "cmpxchg" in made
