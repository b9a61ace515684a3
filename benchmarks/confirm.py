"""Modelled beside measured: every CUDA version of the course, on the GPU that is here.

A step of `make gpu`. The largest size of every op comes first, then four times as much, where a GPU
is really busy. modelled.csv is written after every kernel, and a step that is started again goes on
where it ended:

    python benchmarks/gpu.py --out DIR --step modelled --seconds 3000
"""

import csv
from statistics import median
from time import monotonic

import turnover

from gpulessons.backends import BACKENDS
from gpulessons.measure.modelled import modelled_anew
from gpulessons.measure.problem import Problem
from gpulessons.measure.results import Absent
from gpulessons.measure.timings import Progress, at_one_size
from gpulessons.units import percent
from warplens.model.devices import present
from warplens.model.modelling import CannotModel

NAME = "modelled.csv"
COLUMNS = ("op", "version", "size", "measured", "launching", "modelled", "low", "high", "limiter",
           "counted_from", "why")  # fmt: skip
BUDGET = 0.3  # seconds to time one version at one size
LOST = -1  # an error took this process's use of the GPU away: another process may go on
HIDDEN = 2.0  # what takes less than this many times its launches' own time may have waited for them


def judge(ops, out, end):
    """0; 1 when the largest sizes were not all tried; LOST."""
    device = present()
    if device is None:
        print("Nothing is modelled: this GPU is not in warplens/model/devices.toml.")
        return 0
    file = out / NAME
    rows = read(file)
    print(*turnover.turnovers(device), sep="\n")
    launch = turnover.launching()
    for op, version, size in plan(ops):
        key = op.name, version.name, str(size)
        if key in rows:
            continue
        if monotonic() > end:
            print(f"No time was left for {op.name} at {size} and what follows.")
            break
        rows[key] = {"why": "its measurement did not end"}  # should it take this process along
        write(file, rows)
        rows[key] = judged(op, version, size, device, launch)
        write(file, rows)
        print(*key, *rows[key].values(), sep="  ", flush=True)
        if lost():
            return LOST
    print(summary(rows.values()))
    largest = {(op.name, version.name, str(size)) for op, version, size in plan(ops)
               if size == op.sizes[-1]}  # fmt: skip
    return int(not largest <= set(rows))


def plan(ops):
    """(op, version, size) in order of importance."""
    for times in (1, 4):
        for op in ops:
            for version in op.versions.values():
                if version.backend.name == "gpu":
                    yield op, version, times * op.sizes[-1]


def judged(op, version, size, device, launch):
    """The row of one version at one size; whatever goes wrong with it is told there."""
    try:
        (entry,) = at_one_size(Problem(op, size), [version], {}, BUDGET, False, Progress(None, 1))
        if isinstance(entry, Absent):
            return {"why": one_line(entry.why)}
        (found,) = modelled_anew(version, size, device)
    except CannotModel as why:
        return {"why": one_line(why)}
    except Exception as trouble:  # it is one kernel's, and the others go on
        return {"why": one_line(f"{type(trouble).__name__}: {trouble}")}
    return {
        "measured": entry.median, "launching": launch * max(1, len(found.launches)),
        "modelled": found.seconds, "low": found.low, "high": found.high,
        "limiter": found.limiter, "counted_from": found.counted_from,
    }  # fmt: skip


def summary(rows):
    """How far off the model was, where the launches alone do not explain the time."""
    closed = [row for row in rows if row.get("high")]  # an "at least" is not off by anything
    times = [{name: float(row[name]) for name in COLUMNS[3:8]} for row in closed]
    shown = [row for row in times if row["measured"] >= HIDDEN * row["launching"]]
    if not shown:
        return "No time says anything of the model."
    error = median(abs(row["modelled"] / row["measured"] - 1) for row in shown)
    held = sum(row["low"] <= row["measured"] <= row["high"] for row in shown) / len(shown)
    return (f"Off by {percent(error)} (the median of {len(shown)}); "
            f"{percent(held)} lie in their interval.")  # fmt: skip


def lost():
    """Did an error (an address that is not there, say) end this process's use of the GPU?"""
    try:
        BACKENDS["gpu"].sync()
    except Exception:
        return True
    return False


def one_line(text):
    return " ".join(str(text).split())


def read(file):
    """{(op, version, size): row} of what an earlier process found."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {tuple(row[name] for name in COLUMNS[:3]): row for row in csv.DictReader(lines)}


def write(file, rows):
    with file.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, COLUMNS)
        table.writeheader()
        for key, row in rows.items():
            table.writerow(row | dict(zip(COLUMNS, key, strict=False)))
