"""Our all-reduces: equal to the backend's for every size and world, and as cheap as they claim."""

import pytest

from gpulessons import launch

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 60, 1009]
WORLDS = [1, 2, 3, 4, 5]
NUMBER = 4  # bytes


@pytest.fixture(scope="module")
def found():
    """Each worker's {world: [check_collectives, ring_halves, …]}."""
    halves = [("ring_halves", {"length": length}) for length in LENGTHS]
    jobs = [("gpulessons.workers.programs.check_collectives", {"lengths": LENGTHS}), *halves]
    return launch("many_worlds", workers=5, worlds=WORLDS, jobs=jobs)


@pytest.mark.parametrize("world", WORLDS)
def test_each_all_reduce_is_the_backends_on_every_worker_for_every_length(found, world):
    checked = [entry for worker in found[:world] for entry in worker[world][0]]
    assert len(checked) == world * len(LENGTHS) * 3
    assert not [entry for entry in checked if not entry[2]]


@pytest.mark.parametrize("world", WORLDS)
def test_each_all_reduce_sends_the_bytes_of_its_closed_form(found, world):
    forms = {"naive": naive, "tree": tree, "ring": ring}
    for rank, worker in enumerate(found[:world]):
        for name, length, _, sent in worker[world][0]:
            assert sent == NUMBER * forms[name](length, rank, world), (name, length, rank)


@pytest.mark.parametrize("world", WORLDS)
def test_the_halves_of_the_ring_leave_each_worker_its_piece_and_then_everybody_all(found, world):
    halves = [half for worker in found[:world] for half in worker[world][1:]]
    assert len(halves) == world * len(LENGTHS)
    assert set(halves) == {(True, True)}


def test_a_worker_of_the_ring_sends_less_than_two_vectors_however_many_there_are():
    assert [ring(60, 0, world) for world in WORLDS] == [0, 60, 80, 90, 96]  # 2 (n − 1)/n of 60


def naive(length, rank, world):
    return length * (1 if rank else world - 1)


def tree(length, rank, world):
    """Up once, unless it is the root; down once to each child, rank + 2^k."""
    lowest = rank & -rank if rank else 2**10
    children = [2**k for k in range(10) if 2**k < lowest and rank + 2**k < world]
    return length * ((rank > 0) + len(children))


def ring(length, rank, world):
    """Every piece twice, but for the one it ends up owning, and the one its neighbor owns."""
    pieces = [length // world + (number < length % world) for number in range(world)]
    return 2 * length - pieces[(rank + 1) % world] - pieces[(rank + 2) % world]
