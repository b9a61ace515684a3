"""Modelled against measured: every CUDA version of the course, on the GPU that is here.

A step of `make gpu`. The largest size of every op comes first, then four times as much, where a GPU
is really busy, then a size in the middle. modelled.json is written after every kernel, and a step
that is started again goes on where it ended:

    python benchmarks/gpu.py --out DIR --step modelled --seconds 3000
"""

import json
import re
import signal
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from time import monotonic

import turnover

import gpulessons
from gpulessons.backends import BACKENDS
from gpulessons.hardware import files, gpu_load, gpu_rates, machine
from gpulessons.measure.problem import Problem
from gpulessons.measure.results import Absent
from gpulessons.measure.timings import Progress, at_one_size, refuse_too_large
from warplens.model.confirming import Confirmation, Unjudged, load, row_of
from warplens.model.modelling import CannotModel
from warplens.model.present import present
from warplens.model.versions import modelled_anew

NAME = "modelled.json"
BUDGET = 0.3  # seconds to time one version at one size
LOST = -1  # an error took this process's use of the GPU away: another process may go on
RAISED = re.compile(r"[A-Z]\w*: ")  # what the harness says of an exception begins with its name
UNENDED = "its measurement did not end"


def judge(ops, out, end):
    """0; 1 when a kernel failed or the largest sizes were not all judged; LOST."""
    here = machine()
    try:
        gpu, taken_for = present(here.gpu, gpu_rates())
    except ValueError as unknown:
        print(f"Nothing is modelled: {unknown}.")
        return 0
    path = out / NAME
    kept = resumed(path, here, gpu, taken_for)
    print(kept.taken_for)
    if kept.turnover is None:
        kept = with_turnover(kept, gpu)
        files.write(path, kept.to_json())
        if lost():
            return LOST
    launch = launching()
    for op, size, versions in plan(ops):
        done = {(row.op, row.version, row.size) for row in kept.rows}
        todo = [v for v in versions if (op.name, v.name, size) not in done]
        problem = Problem(op, size)
        for version in todo:
            if monotonic() > end:
                print(f"No time was left for {op.name} at {size} and what follows.")
                return finish(kept, ops)
            row = None
            unended = Unjudged(op.name, version.name, size, UNENDED, fault=True)
            files.write(path, with_row(kept, unended).to_json())  # should it take us along
            try:
                with until(end):
                    row = judged_version(problem, version, gpu, launch)
            except OutOfTime:
                pass  # it may have another try
            finally:
                kept = with_row(kept, row)
                files.write(path, kept.to_json())
            if row:
                print(*row.cells(), sep="  ", flush=True)
            if lost():
                return LOST
    return finish(kept, ops)


def finish(kept, ops):
    print(kept)
    found = {(row.op, row.version, row.size) for row in kept.rows}
    wanted = {(op.name, v.name, largest(op)) for op in ops for v in cuda_versions(op)}
    faults = [row for row in kept.rows if isinstance(row, Unjudged) and row.fault]
    for row in faults:
        print(f"FAILED {row.op}: {row.version}, at {row.size}: {row.why}")
    return int(bool(faults) or not wanted <= found)


def plan(ops):
    """(op, size, its CUDA versions) in order of importance."""
    for size_of in (largest, busy, middle):
        for op in ops:
            if size_of is not middle or middle(op) != largest(op):
                yield op, size_of(op), cuda_versions(op)


def cuda_versions(op):
    return [version for version in op.versions.values() if version.backend.name == "gpu"]


def largest(op):
    return op.sizes[-1]


def busy(op):
    return 4 * op.sizes[-1]


def middle(op):
    return op.sizes[(len(op.sizes) - 1) // 2]


# -- What was found before.


def resumed(path, here, gpu, taken_for):
    """What an earlier process found on this GPU with this version of the course, or a new start."""
    new = Confirmation(
        json.loads(here.to_json()), date.today().isoformat(), gpulessons.__version__, gpu.name,
        taken_for,
    )  # fmt: skip
    with suppress(ValueError):
        kept = load(path)
        if identity(kept) == identity(new):
            return kept
    return new


def identity(kept):
    named = {key: (kept.machine.get("gpu") or {}).get(key) for key in ("name", "driver")}
    return named, kept.machine.get("commit"), kept.machine.get("libraries"), kept.gpulessons


def with_row(kept, row):
    return replace(kept, rows=(*kept.rows, row)) if row else kept


def with_turnover(kept, gpu):
    try:
        found, notes = turnover.turnovers(gpu), ()
    except Exception as trouble:
        found, notes = (), (f"The block turnover was not measured: {sentence(trouble)}",)
    clock = gpu_load().get("gpu_hertz")
    if clock and found:
        words = f"{clock / 1e9:.2f} GHz after it, where the model reckons with"
        notes = (f"The block turnover was measured at {words} {gpu.told('boost')}.",)
    return replace(kept, turnover=found, notes=kept.notes + notes)


# -- One kernel.


def judged_version(problem, version, gpu, launch):
    """The row of one version at one size; whatever goes wrong with it is told in its row."""
    op, size = problem.op, problem.size
    try:
        refuse_too_large(op, size)
    except ValueError as why:
        return Unjudged(op.name, version.name, size, one_line(str(why)))
    try:
        found = measured(problem, version)
        if isinstance(found, Absent):
            why = one_line(found.why)
            return Unjudged(op.name, version.name, size, why, fault=bool(RAISED.match(why)))
        (answer,) = modelled_anew(version, size, gpu)  # a kept one tells no launches
        times = found.median, found.quartiles
        return row_of(op.name, version.name, size, *times, launch, answer)
    except CannotModel as why:
        return Unjudged(op.name, version.name, size, one_line(str(why)))
    except Exception as trouble:
        return Unjudged(op.name, version.name, size, sentence(trouble), fault=True)


def measured(problem, version):
    """Its Timing by the harness of the course, alone: an error must not be another version's."""
    (entry,) = at_one_size(problem, [version], {}, BUDGET, False, Progress(None, 1))
    return entry


def launching():
    try:
        return turnover.launching()
    except Exception as trouble:
        print(f"What a launch takes its caller was not measured: {sentence(trouble)}")
        return 0.0


def lost():
    """Did an error (an address that is not there, say) end this process's use of the GPU?"""
    try:
        BACKENDS["gpu"].sync()
    except Exception:
        return True
    return False


class OutOfTime(BaseException):
    """The step's time is up; no handler for a kernel's own faults may catch it."""


@contextmanager
def until(end):
    """Inside, OutOfTime comes when the time is up: a large kernel takes a minute to trace."""

    def stop(*_):
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, min(max(0.01, end - monotonic()), 1e6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def sentence(trouble):
    return one_line(f"{type(trouble).__name__}: {trouble}")


def one_line(words):
    return " ".join(words.split())
