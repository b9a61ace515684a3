"""modelled(kernel, on="A100")[grid, block](x, y): how long it would take, and waiting for what."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from warplens.code.cuda import CannotCompile, ptx_of, types_of
from warplens.code.sass import Code, machine_code
from warplens.faults import KernelFault, NoProgress, TooMuchShared, Unsupported
from warplens.lanes.launch import extent
from warplens.programs import tracing
from warplens.report.traces import Trace
from warplens.runner import trace

from .bounds import RESIDENT_IN_L2, bounds, l2_sectors, latency
from .costs import REGISTERS, from_machine_code, from_source
from .devices import GPU, GPUS, named, present
from .occupancy import occupancy
from .sampling import ITERATIONS, Sample, chosen, sampled
from .value import LAUNCH, LAUNCH_RANGE, Modelled, together

# The interval: published over modelled times, beside the launch. Nine of ten, each source counting
# alike, and a tenth further out, which is assumed: docs/judged.md says how often this holds for a
# source or a GPU that is left out. By what a kernel waits for it held less often there.
SPREAD = 0.71, 1.41
# And where nobody knows what the compiler made of the source: assumed.
SOURCE_ALONE = 2.0
UNLIKE = 2.5  # times the work: a triangle's last block has twice that of the one in its middle
OLDEST = (7, 5)  # that compilers of today know; the instructions of Volta, 7.0, are as Turing's
ALIKE = 4  # launches that are traced, of those that differ in nothing but their data


class CannotModel(RuntimeError):
    """Nothing can be said of this kernel; the text says why."""


def modelled(kernel: Any, on: str | GPU | None = None) -> Modelling:
    """A kernel ready to be modelled: give it a grid, a block and arguments, as if to launch it.

        modelled(kernel, on="H100")[grid, block](x, y)

    on: the GPU; unless named, the one in this machine where its figures are known, else an A100.
    A few blocks are run under the microscope, and of long loops a few iterations: a large grid
    takes no longer than a small one; the arrays hold no result afterwards. These blocks lie in the
    middle, and all others are taken to do the same, but for the first and the last, which are asked
    how much they have to do. Raises CannotModel where the kernel does what
    the model has no bound for.
    """
    gpu = (present() or GPUS["A100"]) if on is None else named(on)
    return Modelling(kernel, gpu)


class Modelling:
    """What `modelled(kernel)` gives: it waits for a grid and a block."""

    def __init__(self, kernel: Any, gpu: GPU) -> None:
        self.kernel, self.gpu = kernel, gpu

    def __getitem__(self, sizes: Any) -> Callable[..., Modelled]:
        blocks = None
        if isinstance(sizes, tuple) and sizes:  # else `trace` says how to launch
            blocks = chosen(extent(sizes[0], "the grid"))
        launch = trace(self.kernel, blocks=blocks, iterations=ITERATIONS)[sizes]

        def model(*arguments: Any) -> Modelled:
            try:
                return of_trace(launch(*arguments), self.gpu)
            except (Unsupported, NoProgress, TooMuchShared) as refusal:
                raise CannotModel(str(refusal)) from refusal

        return model


def modelled_call(call: Callable[[], Any], name: str, *gpus: GPU) -> list[Modelled]:
    """The time of all that call() launches, on each GPU; it puts its arrays on the device itself.

    Traced once, as on the oldest of them. A launch that needs the result of the one before finds a
    part of it only, and may be led astray; of many launches that are alike a few stand for all.
    name: of what is modelled. Raises CannotModel with a sentence.
    """
    oldest = min(gpu.capability for gpu in gpus)
    try:
        with tracing(oldest, blocks=chosen, iterations=ITERATIONS, alike=ALIKE) as launches:
            call()
    except (Unsupported, KernelFault, ValueError) as trouble:  # a program may refuse a size
        raise CannotModel(f"{name}: {trouble}") from trouble
    if not launches:
        raise CannotModel(f"{name} launches no kernel")
    alone = {id(launch): launch for launch in launches}  # one may stand for others too
    answers = [{key: of_trace(launch, gpu) for key, launch in alone.items()} for gpu in gpus]
    return [together(name, [on[id(launch)] for launch in launches]) for on in answers]


def of_trace(found: Trace, gpu: GPU) -> Modelled:
    """The time of a launch of which `chosen` blocks were traced."""
    launch = found.launch
    if found.tensor_core_flops:
        raise CannotModel(f"{found.kernel} uses tensor cores, which the model leaves out")
    try:
        code = code_of(launch.function, types_of(launch.arguments), gpu.capability)
    except CannotCompile as trouble:
        if type(trouble.__cause__).__module__.startswith("numba."):
            raise CannotModel(f"Numba refuses this kernel. {trouble}") from trouble
        code = None
    return of_sample(sampled(found), code, gpu)


@lru_cache(maxsize=64)
def code_of(function: Any, types: tuple, capability: tuple[int, int]) -> Code:
    """A kernel's machine code, kept for its other launches. CannotCompile where it is not had."""
    capability = max(capability, OLDEST)
    return machine_code(ptx_of(function, types, capability), capability)


def of_sample(sample: Sample, code: Code | None, gpu: GPU) -> Modelled:
    """The time of a launch from its Sample and its machine code; None: from its source alone."""
    registers, launch = code.registers if code else REGISTERS, sample.trace.launch
    shared = code.shared + launch.dynamic_shared if code else launch.shared_bytes
    held = occupancy(launch.threads, registers, shared, gpu)
    if not held.blocks:
        name = sample.trace.kernel
        raise CannotModel(f"not one block of {name} fits on {gpu.name}: {held.reason}")
    parts = times(gpu, sample, code, held.blocks)
    why = unknown_above(gpu, sample, code)
    seconds = cubes(parts) + LAUNCH
    low, high = interval(gpu, parts, code is not None)
    again = None
    if sample.array_bytes <= RESIDENT_IN_L2 * gpu.l2_bytes:
        found = times(warm(gpu), sample, code, held.blocks)
        again, low = cubes(found) + LAUNCH, min(low, interval(gpu, found, code is not None)[0])
    waves = sample.blocks / (gpu.multiprocessors * held.blocks)
    idle = gpu.multiprocessors - sample.blocks
    return Modelled(
        *(sample.trace.kernel, gpu.name, None if why else seconds, low, None if why else high),
        {**parts, "launch": LAUNCH},
        *(held.share, held.limiter, waves, "machine code" if code else "source", why),
        idle=f"{idle} of {gpu.multiprocessors} multiprocessors have no block" * (idle > 0),
        again=None if why else again,
    )


def times(gpu: GPU, sample: Sample, code: Code | None, resident: int) -> dict[str, float]:
    """{part: seconds}; resident: the blocks that a multiprocessor holds at a time."""
    wait = partial(latency, gpu, sample, resident)
    cost = from_machine_code(gpu, sample, code, wait) if code else from_source(gpu, sample, wait)
    return bounds(gpu, sample, cost, resident)


def cubes(parts: dict[str, float]) -> float:
    return sum(part**3 for part in parts.values()) ** (1 / 3)


def warm(gpu: GPU) -> GPU:
    """The GPU for a launch whose arrays are all in L2, from the one before it."""
    return replace(gpu, dram_rate=math.inf, dram_latency=gpu.l2_latency)


def interval(gpu: GPU, parts: dict[str, float], from_code: bool) -> tuple[float, float]:
    """(low, high): as far from the modelled time as published ones were.

    Where it does not wait for memory, both ends are another clock's too: a GeForce may run above
    its boost; and under load a card may run between base and boost, as gpu-roofline's L40 (0.74 and
    2.49 GHz) fell to 1.32 GHz, their geometric mean.
    """
    limiter = max(parts, key=lambda part: parts[part])
    low, high = SPREAD
    if limiter not in ("DRAM", "latency"):
        low, high = low / (gpu.headroom or 1.0), high * math.sqrt(gpu.boost / gpu.base)
    alone = cubes(parts)
    low, high = LAUNCH_RANGE[0] + low * alone, LAUNCH_RANGE[1] + high * alone
    return (low, high) if from_code else (low / SOURCE_ALONE, SOURCE_ALONE * high)


def unknown_above(gpu: GPU, sample: Sample, code: Code | None) -> str:
    """Why nothing but the lower end of the interval is known; "" where both are."""
    if code and code.local:
        return "At least: its threads keep arrays in local memory, whose traffic is left out."
    if (times := sample.unlike) > UNLIKE:
        return f"At least: its first or last block has {times:.3g} times the work of others."
    for line in sample.lines:
        if line.access == "atomic" and line.contended:
            return f"At least: threads wait for each other at the atomic in line {line.line}."
        far = line.access == "write" or sample.array_bytes > RESIDENT_IN_L2 * gpu.l2_bytes
        most = sample.blocks * sample.warps * line.sectors > l2_sectors(sample) / 2
        if far and most and sample.scatters(line):
            return f"At least: line {line.line} scatters its {line.access}s over memory."
    return ""
