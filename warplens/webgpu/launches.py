"""Launches: a kernel's arguments as WebGPU takes them, and its pipeline."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ..arguments import host_array
from ..faults import LaunchError
from ..lanes.launch import Size
from ..programs import call, forall, item, sizes, specialize
from ..signatures import matched, signatures_of
from ..source.names import python_function, source_of
from .arrays import LAUNCHED, Remote, gpu, synchronize, to_device
from .module import Module
from .values import Array, Refused, Scalar

FORMS = {"f32": "<f", "i32": "<i", "u32": "<I", "bool": "<I"}
BUCKETS = 2**16, 2**20, 2**31 - 1  # of blocks along an axis: fewer take fewer checks
PIPELINES: dict[tuple, tuple[Module, Any]] = {}


def kind_of(argument: Any, buffers: dict[int, int]) -> Array | Scalar:
    if isinstance(argument, Remote):
        number = buffers.setdefault(id(argument.whole), len(buffers))
        layout = argument.ndim, bool(argument.flags.c_contiguous)
        return Array(argument.dtype.name, *layout, number)
    if isinstance(argument, (bool, np.bool_)):
        return Scalar("bool")
    if isinstance(argument, (int, np.signedinteger)):
        return Scalar("i32")
    if isinstance(argument, np.unsignedinteger):
        return Scalar("u32")
    if isinstance(argument, np.float32):
        return Scalar("f32")
    if isinstance(argument, (float, np.floating)):
        raise Refused(f"the argument {argument!r}, a float64: pass np.float32(…)")
    raise Refused(f"an argument of type {type(argument).__name__}")


def packed(arguments: list, kinds: tuple, grid: Size, groups: int) -> bytes:
    """What the struct of parameters holds, in its order."""
    parts = [struct.pack("<Iiiii", 0, groups, *grid)]
    for argument, kind in zip(arguments, kinds, strict=True):
        if isinstance(kind, Scalar):
            try:
                parts.append(struct.pack(FORMS[kind.type], argument))
            except struct.error:
                raise Refused(f"the argument {argument}, which needs 64 bits") from None
            continue
        steps = [step // argument.dtype.itemsize for step in argument.strides]
        numbers = [argument.offset]
        for axis, (length, step) in enumerate(zip(argument.shape, steps, strict=True)):
            last = kind.contiguous and axis == kind.ndim - 1
            numbers += [length] if last else [length, step]
        parts.append(struct.pack(f"<{len(numbers)}i", *numbers))
    data = b"".join(parts)
    return data + b"\0" * (-len(data) % 16)


def pipeline_of(function: FunctionType, kinds: tuple, block: Size, blocks: int) -> tuple:
    """The module and its pipeline; made at the first launch with such types, as Numba does."""
    here = gpu()
    most = next(bucket for bucket in BUCKETS if blocks <= bucket)
    key = function, kinds, block, most
    if key not in PIPELINES:
        module = Module(function, kinds, block, most, here.most_turns)
        refuse_if_too_large(module)
        PIPELINES[key] = module, here.pipeline(module.text, len(module.bindings) + module.faults)
    return PIPELINES[key]


def refuse_if_too_large(module: Module) -> None:
    here, where = gpu(), (source_of(module.function).first_line, module.function.__name__)
    if module.lanes > here.threads:
        raise Refused(
            f"a workgroup of {module.lanes} threads: this GPU takes {here.threads}", *where
        )
    arrays = len(module.bindings) + module.faults
    if arrays > here.buffers:
        raise Refused(f"{arrays} arrays at once: this GPU takes {here.buffers}", *where)
    shared = sum(4 * root.size for root in module.roots.values() if root.space == "workgroup")
    if shared > here.shared:
        text = f"{shared:,} bytes of shared memory in a block: this GPU has {here.shared:,}"
        raise Refused(text, *where)


def launch(kernel: Any, grid: Size, block: Size, given: tuple) -> None:
    function = python_function(kernel)
    assert function is not None
    if math.prod(block) > 1024:
        raise LaunchError(f"a block of {math.prod(block):,} threads: a GPU allows at most 1,024")
    write_backs: list[Callable[[], Any]] = []
    arguments = [placed(each, write_backs) for each in matched(given, signatures_of(kernel))]
    buffers: dict[int, int] = {}
    kinds = tuple(kind_of(each, buffers) for each in arguments)
    module, pipeline = pipeline_of(function, kinds, block, max(grid))
    groups = math.prod(grid) * module.parts
    if groups > 65_535**2 or any(g * b >= 2**31 for g, b in zip(grid, block, strict=True)):
        raise Refused(f"a grid of {grid} blocks")
    memories = {f"b{buffers[id(a.whole)]}": a.whole for a in arguments if isinstance(a, Remote)}
    bound = [gpu().parameters(packed(arguments, kinds, grid, groups))]
    bound += [gpu().faults] * module.faults
    bound += [memories[name].buffer for name in module.bindings]
    gpu().dispatch(pipeline, bound, groups)
    for called in {function, *module.uses} if module.faults else ():
        LAUNCHED[called.__code__.co_firstlineno] = called
    for write_back in write_backs:
        write_back()


def placed(value: Any, write_backs: list[Callable[[], Any]]) -> Any:
    """An argument on the GPU; an array of the host's comes back after the launch, as Numba's do."""
    if isinstance(value, Remote) or np.ndim(value) == 0:
        return value[()] if isinstance(value, np.ndarray) else value
    if isinstance(value, tuple):
        raise Refused("a tuple as an argument")
    host = host_array(value, "given", write_backs)
    there = to_device(host)

    def back() -> None:
        synchronize()
        there.copy_to_host(host)

    write_backs.insert(0, back)
    return there


def configure(
    kernel: Any,
    griddim: Any,
    blockdim: Any,
    stream: Any = 0,
    sharedmem: int = 0,
    *_: Any,
    **__: Any,
) -> Callable[..., None]:
    grid, block = sizes(kernel, griddim, blockdim)
    if sharedmem:
        raise Refused("shared memory whose size the launch says")
    return lambda *given: launch(kernel, grid, block, given)


LAUNCHERS = {
    "__getitem__": item, "configure": configure, "forall": forall, "specialize": specialize,
    "__call__": call,
}  # fmt: skip
