"""Irregular kernels by the hundred: no clean one is accused, and what is planted is found."""

import functools
from typing import NamedTuple

import numpy as np
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


def test_no_clean_kernel_is_accused():
    answers = {recipe: run(recipe) for recipe in CLEAN}
    assert not {str(r): a for r, a in answers.items() if a.races.cells or a.warnings}


def test_planted_races_are_found_where_they_are():
    missed = []
    for recipe in RACY:
        arrays = {"s"} if recipe.bug in OF_BARRIERS else {"result", "more"}
        found = {race.array for race in run(recipe).races}
        if not found or found - arrays:
            missed.append((str(recipe), found))
    assert not missed


def test_accesses_past_the_end_are_found():
    missed = []
    for recipe in BEYOND:
        try:
            run(recipe)
            missed.append(str(recipe))
        except OutOfBounds as fault:
            assert fault.array == "neighbors"
    assert not missed


def test_clean_kernels_compute_what_one_thread_computes():
    """So that they are indeed clean."""
    for recipe in CLEAN:
        serial = recipe._replace(worker="thread", persistent=True, dtype="int64")
        assert (np.sort(run(recipe).result) == alone(serial)).all(), recipe


def test_two_accesses_race_exactly_where_the_definition_says_so():
    wrong = []
    for hazard in hazards():
        kernel = compiled(hazard_source(hazard), f"<{hazard}>")
        found = trace(kernel)[2, THREADS](np.zeros(8, np.int32)).races()
        if bool(found.cells) != hazard.races:
            wrong.append(hazard)
    assert not wrong
