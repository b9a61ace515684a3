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
from ..lanes.launch import THREAD_LIMIT, Size
from ..programs import sizes
from ..signatures import matched, signatures_of
from ..source.names import python_function
from .arrays import LAUNCHED, PLACING, Remote, gpu, synchronize
from .module import Module
from .values import Array, Refused, Scalar

NUMBERS: list[tuple[Any, str]] = [((bool, np.bool_), "bool"), ((int, np.int32, np.int64), "i32"),
           (np.uint32, "u32"), (np.float32, "f32")]  # fmt: skip
FORMS = {"f32": "<f", "i32": "<i", "u32": "<I", "bool": "<I"}
BUCKETS = 2**16, 2**20, 2**31 - 1  # of blocks along an axis: fewer take fewer checks
PIPELINES: dict[tuple, tuple[Module, Any]] = {}


def kind_of(argument: Any, buffers: dict[int, int]) -> Array | Scalar:
    if isinstance(argument, Remote):
        number = buffers.setdefault(id(argument.whole), len(buffers))
        layout = argument.ndim, bool(argument.flags.c_contiguous)
        return Array(argument.dtype.name, *layout, number)
    for types, kind in NUMBERS:
        if isinstance(argument, types):
            return Scalar(kind)
    if isinstance(argument, (float, np.floating)):
        raise Refused(f"the argument {argument!r}, a float64: pass np.float32(…)")
    raise Refused(f"an argument of type {type(argument).__name__}")


def packed(argument: Any, kind: Array | Scalar) -> bytes:
    """What the struct of parameters holds of an argument."""
    if isinstance(kind, Scalar):
        try:
            return struct.pack(FORMS[kind.type], argument)
        except struct.error:
            raise Refused(f"the argument {argument}, which needs 64 bits") from None
    numbers = [argument.offset]
    for length, step in zip(argument.shape, argument.strides, strict=True):
        numbers += [length, step // argument.dtype.itemsize]
    if kind.contiguous and kind.ndim:
        numbers.pop()  # the last step, which is 1
    return struct.pack(f"<{len(numbers)}i", *numbers)


def pipeline_of(function: FunctionType, kinds: tuple, block: Size, blocks: int) -> tuple:
    """The module and its pipeline; made at the first launch with such types, as Numba does."""
    most = next(bucket for bucket in BUCKETS if blocks <= bucket)
    key = function, kinds, block, most
    if key not in PIPELINES:
        module = Module(function, kinds, block, most, gpu().most_turns)
        refuse_if_too_large(module)
        PIPELINES[key] = module, gpu().pipeline(module.text)
    return PIPELINES[key]


def refuse_if_too_large(module: Module) -> None:
    here = gpu()
    for needed, most, what in (
        (module.lanes, here.threads, "threads in a workgroup"),
        (len(module.bindings), here.buffers, "arrays at once"),
        (module.shared, here.shared, "bytes of shared memory in a block"),
    ):
        if needed > most:
            module.refuse(f"{needed:,} {what}: this GPU takes {most:,}")


def launch(kernel: Any, grid: Size, block: Size, given: tuple) -> None:
    function = python_function(kernel)
    assert function is not None
    if math.prod(block) > THREAD_LIMIT:
        raise LaunchError(f"a block of {math.prod(block):,} threads: a GPU allows at most 1,024")
    write_backs: list[Callable[[], Any]] = []
    arguments = [placed(each, write_backs) for each in matched(given, signatures_of(kernel))]
    buffers: dict[int, int] = {}
    kinds = tuple(kind_of(each, buffers) for each in arguments)
    module, pipeline = pipeline_of(function, kinds, block, max(grid))
    groups = math.prod(grid) * module.parts
    if groups > 65_535**2 or any(g * b >= 2**31 for g, b in zip(grid, block, strict=True)):
        raise Refused(f"a grid of {grid} blocks")
    parameters = struct.pack("<Iiiii", 0, groups, *grid)
    parameters += b"".join(map(packed, arguments, kinds))
    there = {f"b{buffers[id(a.whole)]}": a.whole.buffer for a in arguments if isinstance(a, Remote)}
    there["faults"] = gpu().faults
    bound = [gpu().parameters(parameters), *(there[name] for name in module.bindings)]
    gpu().dispatch(pipeline, bound, groups)
    if "faults" in module.bindings:
        LAUNCHED.update((called.__code__.co_firstlineno, called)
                        for called in (function, *module.uses))  # fmt: skip
    for write_back in write_backs:
        write_back()


def placed(value: Any, write_backs: list[Callable[[], Any]]) -> Any:
    """An argument on the GPU; an array of the host's comes back after the launch, as Numba's do."""
    if isinstance(value, (Remote, tuple)) or np.ndim(value) == 0:
        return value[()] if isinstance(value, np.ndarray) else value
    host = host_array(value, "given", write_backs)
    there = PLACING.to_device(host)

    def back() -> None:
        synchronize()
        there.copy_to_host(host)

    write_backs.insert(0, back)
    return there


def configure(
    kernel: Any, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0, **_: Any
) -> Callable[..., None]:
    grid, block = sizes(kernel, griddim, blockdim)
    if sharedmem:
        raise Refused("shared memory whose size the launch says")
    return lambda *given: launch(kernel, grid, block, given)
