"""Two accesses and what lies between them: they race exactly where the definition says so.

The hazards are those by which HiRace is judged (J. Jacobson, M. Burtscher, G. Gopalakrishnan,
SC 2024, arXiv:2401.04701), written anew here, for Numba.
"""

import itertools
import linecache
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import cuda

from warplens import trace

THREADS = 64


class Hazard(NamedTuple):
    """Two accesses to a cell by threads of a warp, of a block, of two blocks."""

    space: str
    apart: str  # what the two threads share
    first: str
    barrier: str
    second: str

    @property
    def races(self) -> bool:
        """By definition."""
        if {self.first, self.second} in ({"read"}, {"atomic"}):
            return False
        if self.apart == "grid" and self.space == "shared":
            return False  # two cells
        return self.apart not in BARRIERS[self.barrier][1]


SECOND = {"warp": 5, "block": 37, "grid": THREADS}  # the second thread; the first is thread 0
ACCESSES = {"read": "kept = s[3]", "write": "s[3] = 1", "atomic": "cuda.atomic.add(s, 3, 1)"}
BARRIERS = {  # and whom they order
    "none": ("pass", ()),
    "two lanes": ("if i == 0 or i == 5:\n        cuda.syncwarp(0x21)", ("warp",)),
    "warp": ("cuda.syncwarp()", ("warp",)),
    "block": ("cuda.syncthreads()", ("warp", "block")),
}


def hazards() -> Iterator[Hazard]:
    ways = ("shared", "global"), SECOND, ACCESSES, BARRIERS, ACCESSES
    yield from itertools.starmap(Hazard, itertools.product(*ways))


def hazard_source(hazard: Hazard) -> str:
    memory = {"shared": "cuda.shared.array(8, np.int32)", "global": "x"}[hazard.space]
    return f"""def kernel(x):
    s, kept = {memory}, 0
    i = cuda.grid(1)
    if i == 0:
        {ACCESSES[hazard.first]}
    {BARRIERS[hazard.barrier][0]}
    if i == {SECOND[hazard.apart]}:
        {ACCESSES[hazard.second]}
"""


def compiled(text: str, name: str) -> Any:
    """A kernel of source text, which tracebacks and the microscope find under `name`."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"cuda": cuda, "np": np}
    exec(compile(text, name, "exec"), names)
    return names["kernel"]


def look_at(which: list) -> None:
    for hazard in which:
        kernel = compiled(hazard_source(hazard), f"<{hazard}>")
        t = trace(kernel)[2, THREADS](np.zeros(8, np.int32))
        if all(caution.kind != "fence" for caution in t.warnings):  # whose order is not followed
            assert bool(t.races().cells) == hazard.races, hazard


def test_planted_races_are_found_where_they_are():
    look_at(list(hazards())[::7])  # coprime to the number of every way


@pytest.mark.nightly
def test_all_pairs_of_accesses():
    look_at(list(hazards()))
