"""A family of irregular kernels, clean and with a bug planted, put together from few parts.

The patterns, the ways through a graph and the bugs are those of Indigo (Y. Liu, N. Azami,
C. Walters, M. Burtscher, "The Indigo Program-Verification Microbenchmark Suite of Irregular
Parallel Code Patterns", ISPASS 2022), by which HiRace was judged too (J. Jacobson, M. Burtscher,
G. Gopalakrishnan, SC 2024, arXiv:2401.04701); they are written anew here, for Numba. A kernel is a
pattern × who works on a vertex × in what order its neighbors come × a type of numbers × a bug.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

THREADS = 64
TYPES = ("int32", "int64", "float32", "float64")
SCAN = ("forward", "reverse")
ONE_BY_ONE = (*SCAN, "until", "first", "last")


class Worker(NamedTuple):
    """Who works on a vertex: its number, how many there are, and the lanes that share the work."""

    number: str
    count: str
    lane: str
    lanes: str
    barrier: str  # of these lanes
    half: str  # of the number of lanes
    threads: int
    orders: tuple[str, ...]


WORKERS = {
    "thread": Worker("cuda.grid(1)", "cuda.gridsize(1)", "0", "1", "", "0", 1, ONE_BY_ONE),
    "warp": Worker("cuda.grid(1) // 32", "cuda.gridsize(1) // 32", "cuda.threadIdx.x % 32", "32",
                   "cuda.syncwarp()", "16", 32, SCAN),
    "block": Worker("cuda.blockIdx.x", "cuda.gridDim.x", "cuda.threadIdx.x", "cuda.blockDim.x",
                    "cuda.syncthreads()", "cuda.blockDim.x // 2", THREADS, SCAN),
}  # fmt: skip


class Recipe(NamedTuple):
    pattern: str
    worker: str
    order: str
    persistent: bool  # few workers, each of which takes every so many-th vertex
    dtype: str
    bug: str = ""

    def __str__(self) -> str:
        ways = (self.pattern, self.worker, self.order, "persistent" * self.persistent, self.dtype)
        return ", ".join(filter(None, (*ways, self.bug and f"bug: {self.bug}")))


# Bugs. "atomic", "guard" and "race" are of the update, "sync" and "scope" of the barriers,
# "bounds" goes past the end of an array.

BUGS = {
    "conditional vertex": ("atomic", "guard", "bounds", "sync", "late sync", "scope"),
    "conditional edge": ("atomic", "guard", "bounds", "sync", "late sync", "scope"),
    "pull": ("race", "bounds", "sync", "late sync", "scope"),
    "push": ("atomic", "guard", "bounds"),
    "populate worklist": ("atomic", "guard", "race", "bounds"),
    "path compression": ("atomic", "guard", "race"),
}
OF_BARRIERS = ("sync", "late sync", "scope")
REDUCING = ("conditional vertex", "conditional edge", "pull")


def bugs(pattern: str, worker: str) -> Iterator[str]:
    for bug in BUGS[pattern]:
        shared = pattern in REDUCING and worker != "thread"
        if bug not in OF_BARRIERS or (shared and (bug != "scope" or worker == "block")):
            yield bug


def recipes() -> Iterator[Recipe]:
    """Every composition without a bug, of each type; with each bug that it can have, of one."""
    types = itertools.cycle(TYPES)
    for pattern, (name, worker), persistent in itertools.product(
        BUGS, WORKERS.items(), (False, True)
    ):
        for order in worker.orders:
            if pattern == "path compression" and (name, order) != ("thread", "forward"):
                continue
            yield from (Recipe(pattern, name, order, persistent, dtype) for dtype in TYPES)
            for bug in bugs(pattern, name):
                yield Recipe(pattern, name, order, persistent, next(types), bug)


# Source


def source(recipe: Recipe) -> str:
    worker = WORKERS[recipe.worker]
    reduces = recipe.pattern in REDUCING and worker.barrier
    loop = f"for v in range({worker.number}, n, {worker.count}):"
    head = [loop] if recipe.persistent else [f"v = {worker.number}", "if v < n:"]
    body = ["begin, end = start[v], start[v + 1]", *BODIES[recipe.pattern](recipe)]
    lines = [f"s = cuda.shared.array({THREADS}, np.{recipe.dtype})"] * bool(reduces)
    lines += ["n = start.size - 1", f"lane = {worker.lane}", *head, *inner(body)]
    return "\n".join(["def kernel(start, neighbors, weights, result, more):", *inner(lines), ""])


def inner(lines: list[str]) -> list[str]:
    return indent("\n".join(lines), "    ").split("\n")


def visited(recipe: Recipe, each: list[str]) -> list[str]:
    """What is done with `each` neighbor u of v."""
    lanes = WORKERS[recipe.worker].lanes
    past = " + 1" * (recipe.bug == "bounds")
    if recipe.order in ("first", "last"):
        place = {"first": "begin", "last": "end - 1"}[recipe.order]
        asked = "True" if past else "begin < end"  # the last vertex has no neighbors
        return [f"if {asked}:", *inner([f"u = neighbors[{place}{past}]", *each])]
    turns = f"begin + lane, end{past}, {lanes}"
    if recipe.order == "reverse":
        turns = f"end{past} - 1 - lane, begin - 1, -{lanes}"
    stop = ["if weights[u] > weights[v]:", "    break"] * (recipe.order == "until")
    return [f"for e in range({turns}):", *inner(["u = neighbors[e]", *each, *stop])]


def raised(array: str, place: str, value: str, bug: str) -> list[str]:
    """An element becomes the maximum of itself and a value."""
    element = f"{array}[{place}]"
    if bug == "atomic":
        return [f"{element} = max({element}, {value})"]
    update = f"cuda.atomic.max({array}, {place}, {value})"
    return [f"if {element} < {value}:", f"    {update}"] if bug == "guard" else [update]


def reduced(recipe: Recipe) -> list[str]:
    """The maximum of all lanes' `top`, in that of the first."""
    worker = WORKERS[recipe.worker]
    if not worker.barrier:
        return []
    barrier = ["cuda.syncwarp()" if recipe.bug == "scope" else worker.barrier]
    first, later = barrier * (recipe.bug != "sync"), barrier * (recipe.bug != "late sync")
    halve = ["if lane < step:", "    s[t] = max(s[t], s[t + step])", *later, "step //= 2"]
    return ["t = cuda.threadIdx.x", "s[t] = top", *first, f"step = {worker.half}",
            "while step > 0:", *inner(halve), "top = s[t]"]  # fmt: skip


def vertex(recipe: Recipe) -> list[str]:
    """One update for a vertex that has a heavier neighbor."""
    each = ["if weights[u] > weights[v]:", "    top = max(top, weights[u])"]
    update = raised("result", "0", "top", recipe.bug)
    return ["top = weights[v]", *visited(recipe, each), *reduced(recipe),
            "if lane == 0 and top > weights[v]:", *inner(update)]  # fmt: skip


def edge(recipe: Recipe) -> list[str]:
    """One update for every edge to a heavier neighbor; lanes that share a vertex join theirs."""
    if WORKERS[recipe.worker].barrier:
        return vertex(recipe)
    update = raised("result", "0", "weights[u]", recipe.bug)
    return visited(recipe, ["if weights[u] > weights[v]:", *inner(update)])


def pull(recipe: Recipe) -> list[str]:
    """A vertex takes the greatest of its neighbors' values; the bug works in place."""
    taken = "result" if recipe.bug == "race" else "weights"
    each = [f"top = max(top, {taken}[u])"]
    return ["top = weights[v]", *visited(recipe, each), *reduced(recipe), "if lane == 0:",
            "    result[v] = top"]  # fmt: skip


def push(recipe: Recipe) -> list[str]:
    """A vertex raises its neighbors."""
    return visited(recipe, raised("result", "u", "weights[v]", recipe.bug))


def worklist(recipe: Recipe) -> list[str]:
    """Heavier neighbors are put on a list, whose length so far is more[0]."""
    take = {
        "atomic": ["at = more[0]", "more[0] = at + 1"],
        "race": ["at = more[0]", "cuda.atomic.add(more, 0, 1)"],
    }.get(recipe.bug, ["at = cuda.atomic.add(more, 0, 1)"])
    added = [*take, "result[at] = u"]
    asked = " and more[0] < result.size" * (recipe.bug == "guard")
    return visited(recipe, [f"if weights[u] > weights[v]{asked}:", *inner(added)])


def compression(recipe: Recipe) -> list[str]:
    """Every vertex comes to point at its root; parents have smaller numbers."""
    atomic = recipe.bug in ("", "atomic")
    above = "int(cuda.atomic.max(result, p, 0))" if atomic else "int(result[p])"
    plain = recipe.bug in ("atomic", "race")
    pointed = "result[v] = p" if plain else "cuda.atomic.min(result, v, p)"
    return ["p = v", f"up = {above}", "while up < p:", "    p = up", f"    up = {above}", pointed]


BODIES = {
    "conditional vertex": vertex,
    "conditional edge": edge,
    "pull": pull,
    "push": push,
    "populate worklist": worklist,
    "path compression": compression,
}


def compiled(text: str, name: str) -> Any:
    """A kernel of source text, which tracebacks and the microscope find under `name`."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"cuda": cuda, "np": np}
    exec(compile(text, name, "exec"), names)
    return names["kernel"]


# HiRace's hazards: two accesses to a cell by threads of a warp, of a block, of two blocks


class Hazard(NamedTuple):
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
    "grid": ("cuda.cg.this_grid().sync()", ("warp", "block", "grid")),
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


# Data


def graph() -> tuple[np.ndarray, np.ndarray]:
    """(start, neighbors) of 72 vertices: two heavy ones that all others know, a ring and chords,
    and at last one that knows nobody."""
    n = 72
    known = [sorted({0, n - 2, (v + 1) % (n - 1), v * v % (n - 1)} - {v}) for v in range(n - 1)]
    start = np.r_[0, np.cumsum([len(k) for k in known]), 0]
    start[-1] = start[-2]
    return start.astype(np.int32), np.concatenate(known).astype(np.int32)


def arguments(recipe: Recipe) -> tuple[np.ndarray, ...]:
    """start, neighbors, weights, result, more"""
    start, neighbors = graph()
    n, dtype = start.size - 1, np.dtype(recipe.dtype)
    weights = (np.arange(n) * 5 % n).astype(dtype)
    weights[[0, n - 2]] = 2 * n
    result = np.zeros(neighbors.size + n, dtype)
    if recipe.pattern == "path compression":
        result[:n] = np.arange(n) * 2 // 3
    return start, neighbors, weights, result, np.zeros(1, np.int64)


def blocks(recipe: Recipe) -> int:
    needed = -(-(graph()[0].size - 1) * WORKERS[recipe.worker].threads // THREADS)
    return 2 if recipe.persistent else needed
