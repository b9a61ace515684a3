"""What a comparison says where no GPU was measured: modelled times, apart from all that was timed.

A version that has a time, taken here or recorded, is never modelled; nor is one that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from gpulessons.backends import NotHere
from gpulessons.hardware import gpu_count
from gpulessons.hardware.timer import Advance
from gpulessons.operation import Op, Version, several
from warplens.model import devices
from warplens.model.devices import GPU
from warplens.model.modelling import CannotModel

from .modelled import modelled_version, stored_result
from .results import Absent, Comparison, Entry, ModelledTiming, Timing
from .rounds import sentence

SWITCH = ("A100", "RTX 3090", "T4")  # the best judged first; a consumer's; free in hosted notebooks


def chosen_gpus(modelled: Any) -> list[GPU]:
    """The GPUs to model for: those named, or the switch's where no GPU is present."""
    if modelled is None:
        modelled = () if gpu_count() else SWITCH
    return [devices.named(each) for each in several(modelled)]


def modelled_beside(
    op: Op, entries: Iterable[Entry], recorded: Iterable[Comparison], gpus: Iterable[GPU],
    advance: Advance | None = None, named: bool = True,
) -> tuple[Comparison, ...]:  # fmt: skip
    """A comparison for each GPU, of the CUDA versions without a time; () where none has one then.

    entries: what was measured here, and what could not be. named: whether somebody asked for these
    GPUs: else what is not stored is modelled for the first alone, since it takes seconds for each.
    """
    gpus, entries = list(gpus), list(entries)
    missing = list(without_a_time(entries, recorded)) if gpus else []
    costs = {t.size: (t.flops, t.bytes) for t in entries if isinstance(t, Timing)}
    today, found = date.today().isoformat(), []
    for done, gpu in enumerate(gpus):
        made: list[Entry] = []
        for entry in missing:
            if advance:
                advance(done * len(missing) + len(made), len(gpus) * len(missing), entry.version)
            version = op.versions[entry.version]
            if done and not named and stored_result(version, entry.size, gpu.name) is None:
                why = f'not modelled: ask for it with modelled="{gpu.name}"'
                made.append(replace(entry, why=why))
                continue
            made.append(modelled_entry(op, entry, gpu, costs))
        found.append(Comparison(op.name, tuple(made), gpu.name, today, "modelled", unit=op.unit))
    return tuple(each for each in found if each.estimates)


def without_a_time(entries: Iterable[Entry], recorded: Iterable[Comparison]) -> Iterator[Absent]:
    """The CUDA versions that no GPU was timed with, here or in a recording, and that may be right.

    A version that has a time at one size has none modelled at another: lines are not patched.
    """
    entries = list(entries)
    timed = {entry.version for entry in entries if isinstance(entry, Timing)}
    timed |= {timing.version for one in recorded for timing in one.timings}
    for entry in entries:
        if not isinstance(entry, Absent) or entry.version in timed:
            continue
        if entry.backend == "gpu" and not entry.wrong:
            yield entry


def modelled_entry(
    op: Op, entry: Absent, gpu: GPU, costs: dict[int, tuple[int, int]]
) -> ModelledTiming | Absent:
    """The modelled time of one version at one size, or why there is none.

    costs: size -> (FLOPs, bytes), completed here: making the inputs of a large problem takes long.
    """
    version: Version = op.versions[entry.version]
    where = (op.name, version.name, version.backend.name, entry.size)
    try:
        found = modelled_version(version, entry.size, gpu)
    except (CannotModel, NotHere) as why:
        return Absent(*where, f"not modelled: {why}", entry.arithmetic)
    except Exception as trouble:  # a learner's kernel may do what nobody has thought of
        return Absent(*where, f"not modelled: {sentence(trouble)}", entry.arithmetic)
    if entry.size not in costs:
        inputs = op.inputs(entry.size)
        costs[entry.size] = int(op.flops(*inputs)), op.bytes(*inputs)
    return ModelledTiming(
        *where, gpu.name, found.seconds, found.low, found.high, found.limiter, found.runner_up,
        found.counted_from, *costs[entry.size], peak(gpu), gpu.dram_rate,
        entry.arithmetic,
    )  # fmt: skip


def peak(gpu: GPU) -> float:
    """float32 FLOP/s by the data sheet: each lane multiplies and adds once a clock."""
    return 2 * gpu.multiprocessors * gpu.fp32_lanes * gpu.boost
