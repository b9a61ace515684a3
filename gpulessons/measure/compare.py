"""measured(): the timings of an op as a Comparison, with a progress bar, recordings beside them."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from gpulessons import units
from gpulessons.backends import gpu
from gpulessons.hardware import machine
from gpulessons.hardware.budget import note
from gpulessons.operation import Op
from gpulessons.progress import progress_bar

from . import recordings
from .results import INTERRUPTED, Absent, Comparison, Timing
from .rounds import ballast_bytes
from .timings import timings


def measured(
    op: Op, sizes: Any = None, versions: Any = None, *, budget: float = 1.0, cold: bool = False,
    recorded: Iterable[Comparison] | None = None,
) -> Comparison:  # fmt: skip
    """Time versions of an op in turn, on this machine, now: what compare() does of that."""
    here = machine()
    entries: list[Timing | Absent] = []
    notes = [words] if (words := note()) else []
    beside = recordings.shipped(op.name) if recorded is None else tuple(recorded)
    try:
        if here.interrupted:
            raise KeyboardInterrupt
        with progress_bar(f"comparing {op.name}") as advance:
            for entry in timings(op, sizes, versions, budget=budget, cold=cold, advance=advance):
                entries.append(entry)  # one by one: Ctrl-C keeps what there is
    except KeyboardInterrupt:
        notes.append(INTERRUPTED)
    name = here.name
    if any(isinstance(e, Timing) and e.backend == "gpu" for e in entries) and gpu.remark():
        notes, name = [*notes, gpu.remark()], gpu.named(name)
    notes += not_cold(entries, cold and not note())
    today = date.today().isoformat()
    return Comparison(
        op.name, tuple(entries), name, today, notes=tuple(notes), unit=op.unit, beside=beside
    )


def not_cold(entries: Iterable[Timing | Absent], cold: bool) -> Iterator[str]:
    """Why figures that were to be cold are none, where memory was too short to empty the caches."""
    warm = {e.version: None for e in entries if isinstance(e, Timing) and cold and not e.cold}
    if warm:
        yield (
            f"not cold: {'; '.join(warm)} (to empty the caches takes "
            f"{units.size(ballast_bytes())}, more than a quarter of the memory that is free)"
        )
