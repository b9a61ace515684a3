"""Irregular kernels by the hundred: no clean one is accused, and what is planted is found."""

import functools
from typing import NamedTuple

import numpy as np
import pytest
from race_family import (
    OF_BARRIERS,
    THREADS,
    Recipe,
    arguments,
    blocks,
    compiled,
    hazard_source,
    hazards,
    recipes,
    source,
)

from warplens import Caution, OutOfBounds, Races, trace

FAMILY = list(recipes())
CLEAN = [recipe for recipe in FAMILY if not recipe.bug]
BEYOND = [recipe for recipe in FAMILY if recipe.bug == "bounds"]
RACY = [recipe for recipe in FAMILY if recipe.bug not in ("", "bounds")]


class Answer(NamedTuple):
    races: Races
    warnings: tuple[Caution, ...]
    result: np.ndarray


@functools.cache
def run(recipe: Recipe) -> Answer:
    given = arguments(recipe)
    kernel = compiled(source(recipe), f"<{recipe}>")
    t = trace(kernel)[blocks(recipe), THREADS](*given)
    return Answer(t.races(), t.warnings, given[3])


@functools.cache
def alone(recipe: Recipe) -> np.ndarray:
    """What a single thread computes, in order of size: the order on a worklist is free."""
    given = arguments(recipe)
    trace(compiled(source(recipe), f"<{recipe}, alone>"))[1, 1](*given)
    return np.sort(given[3])


def test_the_family_is_large_and_half_of_it_is_clean():
    assert len(RACY) >= 200 and len(set(FAMILY)) == len(FAMILY)
    assert 0.45 < len(CLEAN) / len(FAMILY) < 0.55
    assert {recipe.pattern for recipe in RACY} == {recipe.pattern for recipe in CLEAN}


def look_at(recipes: list[Recipe]) -> None:
    """Clean kernels are not accused and compute what one thread computes; planted bugs are found
    where they are."""
    for recipe in recipes:
        if recipe in BEYOND:
            with pytest.raises(OutOfBounds) as caught:
                run(recipe)
            assert caught.value.array == "neighbors", recipe
            continue
        answer = run(recipe)
        found = {race.array for race in answer.races}
        if recipe in CLEAN:
            assert not found and not answer.warnings, recipe
            serial = recipe._replace(worker="thread", persistent=True, dtype="int64")
            assert (np.sort(answer.result) == alone(serial)).all(), recipe
        else:
            arrays = {"s"} if recipe.bug in OF_BARRIERS else {"result", "more"}
            assert found and not found - arrays, recipe


def test_planted_races_are_found_where_they_are():
    look_at(CLEAN[::40] + RACY[::25] + BEYOND[::15])


@pytest.mark.nightly
def test_every_kernel_of_the_family():
    look_at([*CLEAN, *RACY, *BEYOND])


def two_accesses(which: list) -> None:
    for hazard in which:
        kernel = compiled(hazard_source(hazard), f"<{hazard}>")
        t = trace(kernel)[2, THREADS](np.zeros(8, np.int32))
        if all(caution.kind != "fence" for caution in t.warnings):  # whose order is not followed
            assert bool(t.races().cells) == hazard.races, hazard


def test_two_accesses_race_exactly_where_the_definition_says_so():
    two_accesses(list(hazards())[::12])


@pytest.mark.nightly
def test_all_pairs_of_accesses():
    two_accesses(list(hazards()))
