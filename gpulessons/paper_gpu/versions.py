"""A CUDA version of an op, or a launcher, modelled: every launch of one call, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpulessons.microscope import KernelFault, Unsupported, tracing

from .devices import GPU, named
from .modelling import CannotModel, of_trace
from .sampling import TURNS, chosen
from .value import Modelled, together


def modelled_version(version: Any, size: int, gpu: str | GPU) -> Modelled:
    """The time of one call of an operation.Version at this size, without its transfers.

    Raises CannotModel with a sentence where it launches nothing that can be modelled. A launch that
    needs the result of the one before finds a part of it only, and may be led astray.
    """
    if version.backend.name != "gpu":
        raise CannotModel(f"{version.name} is no CUDA kernel of this course, whose code is known")

    def call() -> None:
        version(*map(version.backend.put, version.op.inputs(size)))

    return modelled_call(call, gpu, version.name)


def modelled_call(call: Callable[[], Any], gpu: str | GPU, name: str) -> Modelled:
    """The time of all that call() launches; it must put its arrays on the device itself.

    name: of what is modelled. Raises CannotModel with a sentence, as `modelled_version` does.
    """
    gpu = named(gpu)
    try:
        with tracing(gpu.capability, blocks=chosen, turns=TURNS) as launches:
            call()
    except (Unsupported, KernelFault) as trouble:
        raise CannotModel(f"{name}: {trouble}") from trouble
    if not launches:
        raise CannotModel(f"{name} launches no kernel")
    return together(name, [of_trace(launch, gpu) for launch in launches])
