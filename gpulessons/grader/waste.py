"""Right is not enough: loops, sectors, bank conflicts, idle threads; exercises ask for few."""

from collections.abc import Callable, Sequence

import numpy as np

from warplens import Trace

from .diagnosis import Wasteful


def total(launches: Sequence[Trace], access: str, what: str = "accesses") -> int:
    """How often all threads of all launches read or write global memory; of how many bytes."""
    return sum(launch.coalescing(access=access).total(what) for launch in launches)


def check_threads(launches: Sequence[Trace], most: int, first: Callable | None = None) -> None:
    """No thread may do the work of many: a line writes at most so many numbers in each."""
    if first:
        first(launches)
    for launch in launches:
        for site, entries in launch.launch.log.sites.items():
            threads = [1024 * e.moment.blocks[e.lanes // 32] + 32 * e.moment.warp + e.lanes % 32
                       for e in entries]  # fmt: skip
            times = np.unique(np.concatenate(threads), return_counts=True)[1]
            if site.array.space == "global" and site.access != "read" and times.max() > most:
                raise Wasteful(f"with {len(times):,} of {launch.threads:,} threads writing, up to "
                               f"{times.max():,} numbers each: {most} will do.", "who writes.")
        block = launch.threads // launch.blocks
        if block < 32 and launch.blocks * len(launches) > 1:
            raise Wasteful(f"in blocks of {block}: {32 - block} of a warp's 32 lanes do nothing.",
                           "the brackets: kernel[blocks, threads].")  # fmt: skip


def check_sectors(
    launches: Sequence[Trace], hint: str, access: str | None = None, most: float = 4
) -> None:
    """Requests may touch no more than the four sectors that 32 float32 neighbors fill, or as many
    as they use: 32 wide loads side by side fill sixteen.
    """
    for launch in launches:
        for site in launch.coalescing(access=access).sites:
            if site.sectors > max(most * site.requests, site.ideal_sectors):
                raise Wasteful(
                    f"each {site.access} of {site.array} touches "
                    f"{site.sectors / site.requests:.3g} sectors, where at most {most:g} would do.",
                    hint,
                )


def check_conflicts(launches: Sequence[Trace], hint: str) -> None:
    """Lanes of a warp may not want different words of one bank."""
    worst = max(launch.banks().worst for launch in launches)
    if worst > 1:
        waits = f"a warp waits {worst} times for one bank of shared memory."
        raise Wasteful(f"with bank conflicts, up to {worst}-way: {waits}", hint)


def check_shared(launches: Sequence[Trace]) -> None:
    """Something must pass through shared memory."""
    if not any(launch.banks().requests for launch in launches):
        raise Wasteful("without shared memory.", "cuda.shared.array: who fills it?")


def remark_doubles(launches: Sequence[Trace]) -> str:
    """A sentence, for nobody asked, where a kernel asks for float64 though no array is."""
    warnings = (warning for launch in launches for warning in launch.warnings)
    lines = sorted({each.line for each in warnings if each.kind == "double precision"})
    return bool(lines) * (
        f"It asks for float64 (line {', '.join(map(str, lines))}), which most GPUs do more "
        "slowly: an int or a Python float does that; np.float32(…) keeps it single."
    )
