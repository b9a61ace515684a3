"""A CUDA version of an op, modelled: every launch of one call, one after the other."""

from __future__ import annotations

from typing import Any

from gpulessons.microscope import KernelFault, Trace, Unsupported, tracing

from .devices import GPU, named
from .modelling import CannotModel, of_trace
from .sampling import TURNS, chosen
from .value import Modelled, together

ALIKE = 4  # launches that are traced, of those that differ in nothing but their data


def modelled_version(version: Any, size: int, gpu: str | GPU) -> Modelled:
    """The time of one call of an operation.Version at this size, without its transfers.

    Raises CannotModel with a sentence where it launches nothing that can be modelled. A launch that
    needs the result of the one before finds a part of it only, and may be led astray. Of many
    launches that are alike a few stand for all.
    """
    gpu = named(gpu)
    if version.backend.name != "gpu":
        raise CannotModel(f"{version.name} is no CUDA kernel of this course, whose code is known")
    arguments = version.op.inputs(size)
    try:
        with tracing(gpu.capability, blocks=chosen, turns=TURNS, alike=ALIKE) as launches:
            version(*map(version.backend.put, arguments))
    except (Unsupported, KernelFault, ValueError) as trouble:  # a version may refuse a size
        raise CannotModel(f"{version.name}: {trouble}") from trouble
    if not launches:
        raise CannotModel(f"{version.name} launches no kernel")
    answers = {id(launch): of_trace(launch, gpu) for launch in alone(launches)}
    return together(version.name, [answers[id(launch)] for launch in launches])


def alone(launches: list[Trace]) -> list[Trace]:
    """Each one once, of those that stand for others too."""
    return list({id(launch): launch for launch in launches}.values())
