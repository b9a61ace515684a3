"""compare(): the timings of an op, gathered with a progress bar, recordings beside them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from gpulessons import units
from gpulessons.grader.check import check
from gpulessons.hardware import machine
from gpulessons.hardware.budget import note
from gpulessons.operation import Op
from gpulessons.progress import progress_bar

from . import recordings
from .on_paper import WRONG, chosen_gpus, modelled_beside
from .results import INTERRUPTED, Absent, Comparison, Timing
from .rounds import ballast_bytes
from .timings import timings


def compare(
    op: Op, sizes: Any = None, versions: Any = None, *, budget: float = 1.0, cold: bool = False,
    recorded: Iterable[Comparison] | None = None, modelled: Any = None,
) -> Comparison:  # fmt: skip
    """Time versions of an op in turn, on this machine, now. Returns a Comparison.

    budget: seconds for each version at each size. cold: empty the caches before every call, where
    there is the memory for it; a cold figure that beats the memory all the same is left out.
    recorded: comparisons from other machines to lay beside; those shipped with the course unless
    told. modelled: the GPUs, by name, that CUDA versions without a time are modelled for, () for
    none. Unless told, where no GPU is present, these are a T4, an RTX 3090 and an A100; what is not
    kept with the course is then modelled for the T4 alone. Ctrl-C stops; what was measured stays.
    """
    gpus = chosen_gpus(modelled)
    here = machine()
    entries: list[Timing | Absent] = []
    notes = [words] if (words := note()) else []
    beside = recordings.shipped(op.name) if recorded is None else tuple(recorded)
    on_paper: tuple[Comparison, ...] = ()
    try:
        if here.interrupted:
            raise KeyboardInterrupt
        with progress_bar(f"comparing {op.name}") as tell:
            for entry in timings(op, sizes, versions, budget=budget, cold=cold, tell=tell):
                entries.append(checked_anyway(op, entry))
        with progress_bar(f"modelling {op.name}") as tell:
            asked = modelled is not None
            on_paper = modelled_beside(op, entries, beside, gpus, tell, asked)
    except KeyboardInterrupt:
        notes.append(INTERRUPTED)
    notes += not_cold(entries, cold and not note())
    return Comparison(
        op.name, tuple(entries), here.name, date.today().isoformat(), notes=tuple(notes),
        unit=op.unit, beside=beside, modelled=on_paper,
    )  # fmt: skip


def checked_anyway(op: Op, entry: Timing | Absent) -> Timing | Absent:
    """A learner's own CUDA version: without a GPU it has no time, but it is right or wrong."""
    if not isinstance(entry, Absent) or entry.backend != "gpu":
        return entry
    version = op.versions[entry.version]
    if version.function.__module__.startswith("gpulessons.") or not version.backend.why_not():
        return entry
    verdict = check(op, version)
    found = "right, thread by thread" if verdict.passed else f"{WRONG}{verdict.trouble}"
    return replace(entry, why=f"{entry.why}; {found}")


def not_cold(entries: Iterable[Timing | Absent], cold: bool) -> Iterator[str]:
    """Why figures that were to be cold are none, where memory was too short to empty the caches."""
    warm = {e.version: None for e in entries if isinstance(e, Timing) and cold and not e.cold}
    if warm:
        yield (
            f"not cold: {'; '.join(warm)} (to empty the caches takes "
            f"{units.size(ballast_bytes())}, more than a quarter of the memory that is free)"
        )
