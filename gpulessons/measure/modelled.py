"""The time of a CUDA version of an op on a GPU that is not here.

`modelled.csv` holds the times of the taught kernels on the GPUs that pages show: to model a page
of them would take minutes. `python tools/model_kernels.py` writes it.
"""

from __future__ import annotations

import csv
import importlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from gpulessons.operation import Op, Version
from warplens.model.devices import GPU, GPUS, named
from warplens.model.modelling import CannotModel, modelled_call
from warplens.model.value import Modelled

FILE = Path(__file__).with_name("modelled.csv")
Key = tuple[str, str, str, str]  # op, version, inputs, GPU


class Stored(NamedTuple):
    """A modelled time from the file, in seconds: what a comparison shows of one."""

    seconds: float | None
    low: float
    high: float | None  # None where only the lower end is known
    limiter: str
    runner_up: str
    counted_from: str = "machine code"


def modelled_version(version: Version, size: int, gpu: str | GPU) -> Modelled | Stored:
    """The time of one call of a version at this size, without its transfers.

    Raises CannotModel with a sentence where it launches nothing that can be modelled.
    """
    gpu = named(gpu)
    known = stored_result(version, size, gpu.name) if gpu == GPUS.get(gpu.name) else None
    if isinstance(known, str):
        raise CannotModel(known)
    return known or modelled_anew(version, size, gpu)[0]


def modelled_anew(version: Version, size: int, *gpus: GPU) -> list[Modelled]:
    """The same for several GPUs, whatever is stored."""
    if version.backend.name != "gpu":
        raise CannotModel(f"{version.name} is no CUDA kernel of this course, whose code is known")
    arguments = version.op.inputs(size)

    def call() -> None:
        version(*map(version.backend.put, arguments))

    return modelled_call(call, version.name, *gpus)


# -- The file.


def stored_result(version: Version, size: int, gpu: str) -> Stored | str | None:
    """What the file has of a version at a size on a GPU: its time, or why it has none.

    None where it has nothing: of a learner's version, of other inputs.
    """
    original = taught(version)
    if original is None:
        return None
    own = original.make_inputs is version.op.make_inputs
    inputs = str(size) if own else shapes_of(version.op, size)
    return stored().get((original.name, version.name, inputs, gpu))


def taught(version: Version) -> Any:
    """The op of the course's own that this is a version of, itself or with other inputs; or None.

    None for a learner's version, whatever its name.
    """
    home, name = version.op.function.__module__, version.op.function.__name__
    if not all(where.startswith("gpulessons.") for where in (home, version.function.__module__)):
        return None
    original = getattr(importlib.import_module(home), name, None)
    return original if getattr(original, "function", None) is version.op.function else None


@lru_cache(maxsize=64)
def shapes_of(op: Op, size: int) -> str:
    """The inputs of an op at a size as text: types and shapes of arrays, and plain numbers."""
    return " ".join(
        f"{x.dtype}{list(x.shape)}" if hasattr(x, "dtype") and x.shape else repr(x)
        for x in op.inputs(size)
    )


@cache
def stored() -> dict[Key, Stored | str]:
    """All that the file holds: a time, or why there is none."""
    with open(FILE, encoding="utf-8", newline="") as lines:
        next(lines)  # when, with which commit and compilers
        return {
            (row["op"], row["version"], row["inputs"], row["gpu"]): row["why"] or stored_from(row)
            for row in csv.DictReader(lines)
        }


def stored_from(row: dict[str, str]) -> Stored:
    seconds, high = (float(row[end]) if row["high"] else None for end in ("seconds", "high"))
    return Stored(seconds, float(row["low"]), high, row["limiter"], row["runner_up"])
