"""compare(): what was measured, what a learner's kernel computes, and what a GPU would need.

Measuring, checking and modelling know nothing of each other; here they become one Comparison.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .grader.check import check
from .measure.compare import measured
from .measure.on_paper import chosen_gpus, modelled_beside
from .measure.results import INTERRUPTED, Absent, Comparison, Entry
from .operation import Op
from .progress import progress_bar


def compare(
    op: Op, sizes: Any = None, versions: Any = None, *, budget: float = 1.0, cold: bool = False,
    recorded: Iterable[Comparison] | None = None, modelled: Any = None,
) -> Comparison:  # fmt: skip
    """Time versions of an op in turn, on this machine, now. Returns a Comparison.

    budget: seconds for each version at each size. cold: empty the caches before every call, where
    there is the memory for it; a cold figure that beats the memory all the same is left out.
    recorded: comparisons from other machines to lay beside, unless given those shipped with the
    course. modelled: the GPUs, by name, that CUDA versions without a time are modelled for, () for
    none. Unless given, where no GPU is present, these are an A100, an RTX 3090 and a T4; what is
    not stored with the course is then modelled for the A100 alone. Ctrl-C stops; what was measured
    stays.
    """
    gpus = chosen_gpus(modelled)
    found = measured(op, sizes, versions, budget=budget, cold=cold, recorded=recorded)
    if found.interrupted:
        return found
    try:
        entries = tuple(checked_anyway(op, entry) for entry in found.entries)
        found = replace(found, entries=entries)
        with progress_bar(f"modelling {op.name}") as advance:
            named = modelled is not None
            on_paper = modelled_beside(op, entries, found.beside, gpus, advance, named)
        return replace(found, modelled=on_paper)
    except KeyboardInterrupt:
        return replace(found, notes=(*found.notes, INTERRUPTED))


def checked_anyway(op: Op, entry: Entry) -> Entry:
    """A learner's own CUDA version: without a GPU it has no time, but it is right or wrong."""
    if not isinstance(entry, Absent) or entry.backend != "gpu":
        return entry
    version = op.versions[entry.version]
    if version.function.__module__.startswith("gpulessons.") or not version.backend.why_not():
        return entry
    verdict = check(op, version)
    found = "right, thread by thread" if verdict.passed else f"wrong: {verdict.trouble}"
    return replace(entry, why=f"{entry.why}; {found}", wrong=not verdict.passed)
