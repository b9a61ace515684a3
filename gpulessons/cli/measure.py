"""`gpulessons compare` and `gpulessons record`: measure now; show it, or keep it in a file."""

from __future__ import annotations

import platform
import re
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import gpulessons

from .copies import can_write
from .terminal import Misspelled, Parser, find_op, known, op_names, say, seconds, size

if TYPE_CHECKING:
    from gpulessons.measure.recordings import Recording
    from gpulessons.measure.results import Comparison
    from gpulessons.operation import Op


def describe(comparing: Parser, recording: Parser) -> None:
    """Add what `compare` and `record` take to their parsers."""
    comparing.add_argument("op", metavar="OP", nargs="*", help="to time here")
    comparing.add_argument("--version", metavar="NAME", nargs="+", help="only these versions")
    comparing.add_argument(
        "--with", dest="files", metavar="FILE", nargs="+", default=(),
        help="recordings to lay beside; without an OP nothing is timed, and only they are compared",
    )  # fmt: skip
    recording.add_argument("op", metavar="OP", nargs="*", help="all, unless named")
    recording.add_argument("--out", metavar="FILE", help="default: recording-HOST-DATE.json")
    for parser in (comparing, recording):
        sizes = "default: each op's own sizes"
        parser.add_argument("--size", metavar="N", nargs="+", type=size, help=sizes)
        each = "for each version at each size; default: 1"
        parser.add_argument("--seconds", metavar="S", type=seconds, default=1.0, help=each)


def compare(options: Namespace) -> int:
    """time ops on this machine, now; lay recordings of other machines beside them, or only those"""
    ops = [find_op(name) for name in dict.fromkeys(options.op)]
    if not ops and len(options.files) < 2:
        raise Misspelled(
            "Name an op to measure here, or two recordings after --with, or both. "
            "Try: gpulessons compare --help"
        )
    for op in ops:
        for name in options.version or ():
            known(name, op.versions, f"{op.name} has no version")
    beside = [read(file, options) for file in options.files]
    here: list[Comparison] = []
    for op in ops:
        shipped = asked_for(gpulessons.recordings.shipped(op.name), options)
        here.append(measured(op, options, versions=options.version, recorded=shipped))
        print(here[-1], end="\n\n" if options.files else "\n", flush=True)
        if here[-1].interrupted:
            return 130
    if options.files:
        print(gpulessons.recordings.side_by_side(*here, *beside))
    return 0


def record(options: Namespace) -> int:
    """time ops on this machine and keep every sample in a file, written after each op"""
    chosen = [find_op(name) for name in dict.fromkeys(options.op or op_names())]
    path = Path(options.out or default_file()).absolute()
    if path.exists():
        raise ValueError(f"{path} is there already. It stays as it is; name another with --out.")
    can_write(path.parent)
    recording = gpulessons.recordings.Recording(gpulessons.machine(), ())
    for op in chosen:
        comparison = measured(op, options, recorded=(), modelled=())
        print(comparison, flush=True)
        if comparison.timings:
            recording = gpulessons.recordings.joined(recording, comparison)
            gpulessons.recordings.save(recording, path)
            say(f"{op.name} is recorded in {path}")
        if comparison.interrupted:
            return 130
    return 0


def measured(op: Op, options: Namespace, **how) -> Comparison:
    say(
        f"Timing {op.name}, up to {options.seconds:g} s for each version at each size. "
        "Ctrl-C stops and keeps what there is."
    )
    return gpulessons.compare(op, options.size, budget=options.seconds, **how)


def read(file: str, options: Namespace) -> Recording:
    """The recording in a file, as far as it was asked for; BadRecording when it cannot be read."""
    recording = gpulessons.recordings.load(file)
    found = asked_for(recording.comparisons, options)
    for name in options.op:
        if name not in [each.op for each in found]:
            asked = " of these versions and sizes" if options.version or options.size else ""
            say(f"{file} holds no {name}{asked}.")
    return replace(recording, comparisons=tuple(found))


def asked_for(comparisons: Iterable[Comparison], options: Namespace) -> list[Comparison]:
    """These comparisons, of the ops, versions and sizes on the command line alone."""
    found = [
        gpulessons.recordings.only(each, options.version, options.size)
        for each in comparisons if each.op in (options.op or [each.op])
    ]  # fmt: skip
    return [each for each in found if each.entries]


def default_file() -> str:
    host = re.sub(r"[^\w.-]+", "-", platform.node()) or "machine"
    return f"recording-{host}-{datetime.now():%Y-%m-%d-%H%M%S}.json"
