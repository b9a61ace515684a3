"""`gpulessons compare` and `gpulessons record`: measure now; show it, or keep it in a file."""

from __future__ import annotations

import platform
import re
import tempfile
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import gpulessons

from .copies import writing
from .terminal import find_op, known, op_names, say

if TYPE_CHECKING:
    from gpulessons.measure.recordings import Recording
    from gpulessons.measure.results import Comparison
    from gpulessons.operation import Op

# Fields of a machine that two of its cards may disagree about: read or measured anew each time.
PASSING = {"date", "accelerator", "memory", "ceilings", "ceiling_threads"}


def compare(options: Namespace) -> int:
    """time an op's versions on this machine, now, and print the table"""
    op = find_op(options.op)
    for version in options.version or ():
        known(version, op.versions, f"{op.name} has no version")
    beside = [*asked_for(gpulessons.recordings.shipped(op.name), options), *read(options)]
    comparison = measured(op, options, versions=options.version, cold=options.cold, recorded=beside)
    print(comparison)
    return 130 if comparison.interrupted else 0


def record(options: Namespace) -> int:
    """time ops on this machine and keep every sample in a file, written after each op"""
    chosen = [find_op(name) for name in dict.fromkeys(options.op or op_names())]
    path = Path(options.out or default_file()).absolute()
    recording = opened(path)
    for op in chosen:
        comparison = measured(op, options, recorded=())
        print(comparison, flush=True)
        recording = kept(recording, comparison, path)
        if comparison.interrupted:
            return 130
    return 0


def measured(op: Op, options: Namespace, **how) -> Comparison:
    say(
        f"Timing {op.name}, up to {options.seconds:g} s for each version at each size. "
        "Ctrl-C stops and keeps what there is."
    )
    return gpulessons.compare(op, options.size, budget=options.seconds, **how)


def read(options: Namespace) -> Iterator[Comparison]:
    """What the files have of the op, as far as it was asked for; each says which file it is from.

    BadRecording when a file cannot be read.
    """
    for file in options.files:
        found = asked_for(gpulessons.recordings.load(file).of(options.op), options)
        if not found:
            asked = " of these versions and sizes" if options.version or options.size else ""
            say(f"{file} holds no {options.op}{asked}.")
        for each in found:
            yield replace(each, notes=(*each.notes, f"recorded in {file}"))


def asked_for(comparisons: Iterable[Comparison], options: Namespace) -> list[Comparison]:
    """These comparisons, of the versions and sizes on the command line alone."""
    found = [gpulessons.recordings.only(c, options.version, options.size) for c in comparisons]
    return [each for each in found if each.entries]


def default_file() -> str:
    host = re.sub(r"[^\w.-]+", "-", platform.node()) or "machine"
    return f"recording-{host}-{date.today().isoformat()}.json"


def opened(path: Path) -> Recording:
    """The recording to add to, the file's own or a new one. Nothing was measured yet.

    ValueError when the file is damaged or another machine's, or nothing can be written there.
    """
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    here = gpulessons.machine()
    if not path.exists():
        return gpulessons.recordings.Recording(here, ())
    try:
        recording = gpulessons.recordings.load(path)
    except gpulessons.recordings.BadRecording as trouble:
        raise ValueError(f"{trouble} It stays as it is; name another file with --out.") from trouble
    there = vars(recording.machine)
    if other := [k for k, v in vars(here).items() if k not in PASSING and there[k] != v]:
        raise ValueError(
            f"{path} was recorded under other conditions ({', '.join(other)} differ); a recording "
            "holds one machine as it was. Name another file with --out."
        )
    return recording


def kept(recording: Recording, comparison: Comparison, path: Path) -> Recording:
    """The recording with the comparison, saved; an interrupted one never replaces a whole one."""
    whole = {
        size for each in recording.of(comparison.op) if not each.interrupted for size in each.sizes
    }
    if not comparison.timings or (comparison.interrupted and whole & set(comparison.sizes)):
        say(f"{comparison.op} was not recorded; {path} is as it was.")
        return recording
    recording = gpulessons.recordings.joined(recording, comparison)
    with writing(path.parent):
        gpulessons.recordings.save(recording, path)
    say(f"{comparison.op} is recorded in {path}")
    return recording
