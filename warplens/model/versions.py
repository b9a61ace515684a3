"""A CUDA version of an op, modelled: every launch of one call, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warplens import KernelFault, Trace, Unsupported, tracing

from . import kept
from .devices import GPU, GPUS, named
from .modelling import CannotModel, of_trace
from .sampling import TURNS, chosen
from .value import Modelled, together

ALIKE = 4  # launches that are traced, of those that differ in nothing but their data


def modelled_version(version: Any, size: int, gpu: str | GPU) -> Modelled:
    """The time of one call of an operation.Version at this size, without its transfers.

    That of a taught kernel is kept with the course. Raises CannotModel with a sentence where it
    launches nothing that can be modelled.
    """
    gpu = named(gpu)
    known = kept.result_of(version, size, gpu.name) if gpu == GPUS.get(gpu.name) else None
    if isinstance(known, str):
        raise CannotModel(known)
    return known or modelled_anew(version, size, gpu)[0]


def modelled_anew(version: Any, size: int, *gpus: GPU) -> list[Modelled]:
    """The same for several GPUs, whatever is kept."""
    if version.backend.name != "gpu":
        raise CannotModel(f"{version.name} is no CUDA kernel of this course, whose code is known")
    arguments = version.op.inputs(size)

    def call() -> None:
        version(*map(version.backend.put, arguments))

    return modelled_call(call, version.name, *gpus)


def modelled_call(call: Callable[[], Any], name: str, *gpus: GPU) -> list[Modelled]:
    """The time of all that call() launches, on each GPU; it puts its arrays on the device itself.

    Traced once, as on the oldest of them. A launch that needs the result of the one before finds a
    part of it only, and may be led astray; of many launches that are alike a few stand for all.
    name: of what is modelled. Raises CannotModel with a sentence, as `modelled_version` does.
    """
    oldest = min(gpu.capability for gpu in gpus)
    try:
        with tracing(oldest, blocks=chosen, turns=TURNS, alike=ALIKE) as launches:
            call()
    except (Unsupported, KernelFault, ValueError) as trouble:  # a version may refuse a size
        raise CannotModel(f"{name}: {trouble}") from trouble
    if not launches:
        raise CannotModel(f"{name} launches no kernel")
    return [of_launches(name, launches, gpu) for gpu in gpus]


def of_launches(name: str, launches: list[Trace], gpu: GPU) -> Modelled:
    """One after the other; a trace that stands for others too is modelled once."""
    alone = {id(launch): launch for launch in launches}
    answers = {key: of_trace(launch, gpu) for key, launch in alone.items()}
    return together(name, [answers[id(launch)] for launch in launches])
