"""`gpulessons compare` and `gpulessons record`: measure now; show it, or keep it in a file."""

from __future__ import annotations

import platform
import re
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import gpulessons

from .copies import can_write, writing
from .terminal import Misspelled, Parser, find_op, known, op_names, say, seconds, size

if TYPE_CHECKING:
    from gpulessons.measure.recordings import Recording
    from gpulessons.measure.results import Comparison
    from gpulessons.operation import Op

# Fields of a machine that two of its cards may disagree about: read or measured anew each time.
PASSING = {
    "date", "accelerator", "memory",
    "ceilings", "ceiling_threads", "ceilings_date", "note", "vectors",
}  # fmt: skip
SECONDS = 1.0  # for each version at each size, unless told


def describe(comparing: Parser, recording: Parser) -> None:
    """Add what `compare` and `record` take to their parsers."""
    comparing.add_argument("op", metavar="OP", nargs="*", help="to time here; see: gpulessons ops")
    comparing.add_argument("--version", metavar="NAME", nargs="+", help="only these versions")
    comparing.add_argument("--cold", action="store_true", help="flush the caches before every call")
    comparing.add_argument(
        "--with", dest="files", metavar="FILE", nargs="+", default=(),
        help="recordings to lay beside; without an OP nothing is timed, and only they are compared",
    )  # fmt: skip
    recording.add_argument("op", metavar="OP", nargs="*", help="all, unless named")
    recording.add_argument("--out", metavar="FILE", help="default: recording-HOST-DATE.json")
    for parser in (comparing, recording):
        parser.add_argument(
            "--size", metavar="N", nargs="+", type=size, help="default: each op's own sizes"
        )
        parser.add_argument(
            "--seconds", metavar="S", type=seconds,
            help="for each version at each size; default: 1",
        )  # fmt: skip


def compare(options: Namespace) -> int:
    """time ops on this machine, now; lay recordings of other machines beside them, or only those"""
    ops = [find_op(name) for name in dict.fromkeys(options.op)]
    sensible(ops, options)
    beside = list(read(options))
    here: list[Comparison] = []
    for op in ops:
        names = [name for name in options.version or () if name in op.versions] or None
        shipped = asked_for(gpulessons.recordings.shipped(op.name), options)
        here.append(measured(op, options, versions=names, cold=options.cold, recorded=shipped))
        print(here[-1], end="\n\n" if options.files else "\n", flush=True)
        if here[-1].interrupted:
            break
    stopped = bool(here) and here[-1].interrupted
    if options.files and not (stopped and not any(each.timings for each in here)):
        print(gpulessons.recordings.side_by_side(*here, *beside))
    return 130 if stopped else 0


def sensible(ops: list[Op], options: Namespace) -> None:
    """Misspelled, in a sentence, where the options do not go together."""
    for file in options.files:
        if file in op_names() and not Path(file).exists():
            raise Misspelled(f"{file} is an op: name it before --with.")
    if not ops and len(options.files) < 2:
        raise Misspelled(
            "Name an op to measure here, or two recordings after --with, or both. "
            "Try: gpulessons compare --help"
        )
    if not ops and (options.cold or options.seconds):
        raise Misspelled(
            "--cold and --seconds say how to measure, and without an op nothing is measured."
        )
    if ops and options.version:
        every = dict.fromkeys(name for op in ops for name in op.versions)
        names = ", ".join(op.name for op in ops)
        none = f"None of {names} has a version" if len(ops) > 1 else f"{names} has no version"
        for version in options.version:
            known(version, every, none)
        for op in ops:
            if not set(options.version) & set(op.versions):
                known(options.version[0], op.versions, f"{op.name} has no version")


def record(options: Namespace) -> int:
    """time ops on this machine and keep every sample in a file, written after each op"""
    chosen = [find_op(name) for name in dict.fromkeys(options.op or op_names())]
    path = Path(options.out or default_file()).absolute()
    recording = opened(path)
    for op in chosen:
        comparison = measured(op, options, recorded=(), modelled=())
        print(comparison, flush=True)
        recording = kept(recording, comparison, path)
        if comparison.interrupted:
            return 130
    return 0


def measured(op: Op, options: Namespace, **how) -> Comparison:
    gpulessons.wide_vectors()
    budget = options.seconds or SECONDS
    say(
        f"Timing {op.name}, up to {budget:g} s for each version at each size. "
        "Ctrl-C stops and keeps what there is."
    )
    return gpulessons.compare(op, options.size, budget=budget, **how)


def read(options: Namespace) -> Iterator[Recording]:
    """The recordings in the files, as far as they were asked for.

    BadRecording when a file cannot be read.
    """
    for file in options.files:
        recording = gpulessons.recordings.load(file)
        found = asked_for(recording.comparisons, options)
        for name in options.op:
            if name not in [each.op for each in found]:
                asked = " of these versions and sizes" if options.version or options.size else ""
                say(f"{file} holds no {name}{asked}.")
        yield replace(recording, comparisons=tuple(found))


def asked_for(comparisons: Iterable[Comparison], options: Namespace) -> list[Comparison]:
    """These comparisons, of the ops, versions and sizes on the command line alone."""
    found = [
        gpulessons.recordings.only(each, options.version, options.size)
        for each in comparisons if each.op in (options.op or [each.op])
    ]  # fmt: skip
    return [each for each in found if each.entries]


def default_file() -> str:
    host = re.sub(r"[^\w.-]+", "-", platform.node()) or "machine"
    return f"recording-{host}-{date.today().isoformat()}.json"


def opened(path: Path) -> Recording:
    """The recording to add to, the file's own or a new one. Nothing was measured yet.

    ValueError when the file is damaged or another machine's, or nothing can be written there.
    """
    can_write(path.parent)
    here = gpulessons.machine()
    if not path.exists():
        return gpulessons.recordings.Recording(here, ())
    try:
        recording = gpulessons.recordings.load(path)
    except gpulessons.recordings.BadRecording as trouble:
        raise ValueError(f"{trouble} It stays as it is; name another file with --out.") from trouble
    there = vars(recording.machine)
    other = [k for k, v in vars(here).items() if k not in PASSING and there[k] != v]
    if recording.gpulessons != gpulessons.recordings.version():
        other.append("gpulessons")
    if other:
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
    instead = ", in place of what was there" if whole & set(comparison.sizes) else ""
    recording = gpulessons.recordings.joined(recording, comparison)
    with writing(path.parent):
        gpulessons.recordings.save(recording, path)
    say(f"{comparison.op} is recorded in {path}{instead}")
    return recording
