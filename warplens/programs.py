"""`with tracing() as launches:` runs CUDA programs on the CPU, every launch traced."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import numpy as np

from . import device
from .faults import LaunchError
from .lanes.launch import Size, extent
from .report.traces import Trace
from .runner import Tracer
from .signatures import SIGNATURES

BlocksOf = Callable[[Size], Iterable[Any]]


@contextmanager
def tracing(
    capability: tuple[int, int] = device.Device.compute_capability,
    blocks: BlocksOf | None = None,
    iterations: int | None = None,
    alike: int | None = None,
) -> Iterator[list[Trace]]:
    """Inside, `from numba import cuda` means the microscope: arrays stay on the host, launches
    append a `Trace`.

    `capability` is the compute capability that a program is told when it asks the device. Of every
    launch only some blocks run where `blocks(grid)` names them, and of long loops `iterations` as
    in `trace`; of launches of one kernel with the same sizes and shapes so many as `alike` says,
    whose traces stand for the others in turn. What such a program computes is wrong, and may lead
    it astray.

    Names from outside a kernel mean what they meant when it was first launched with such types: a
    global that changes later changes nothing, as on a GPU.

    Works on a machine with a GPU or without one; behind it, the process is as it was. Kernels that
    were decorated inside with an explicit signature stay kernels that compile when first launched.
    """
    launches: list[Trace] = []
    names = device.NAMES | {"get_current_device": partial(device.Device, capability)}
    with meaning(names, configuring(launches, blocks, iterations, alike)):
        yield launches


@contextmanager
def meaning(names: dict[str, Any], configure: Callable[..., Any]) -> Iterator[None]:
    """Meanwhile numba.cuda's names mean these, and `configure` makes what launches a kernel."""
    from numba import cuda

    kernel_class = type(cuda.jit(lambda: None))
    asked = {"get_current_device": names["get_current_device"]}
    launching = {"__getitem__": item, "configure": configure, "forall": forall,
                 "__call__": call}  # fmt: skip
    with (
        replaced(cuda, names | {"jit": lazy(cuda.jit)}),
        replaced(sys.modules[kernel_class.__module__], asked),  # it compiles device functions
        replaced(kernel_class, launching),
    ):
        yield


@contextmanager
def replaced(owner: Any, names: dict[str, Any]) -> Iterator[None]:
    """Other attributes for a while."""
    before = {name: vars(owner)[name] for name in names if name in vars(owner)}
    for name, value in names.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name in names:
            if name in before:
                setattr(owner, name, before[name])
            else:
                delattr(owner, name)


def lazy(jit: Callable[..., Any]) -> Callable[..., Any]:
    """`cuda.jit` that makes no machine code: a signature is kept for the launch."""

    def lazy_jit(func_or_sig: Any = None, *args: Any, **options: Any) -> Any:
        if func_or_sig is None or (
            callable(func_or_sig) and not hasattr(func_or_sig, "return_type")
        ):
            return jit(func_or_sig, *args, **options)

        def decorate(function: Callable[..., Any]) -> Any:
            kernel = jit(**options)(function)
            SIGNATURES[kernel] = func_or_sig
            kernel._specialized = not isinstance(func_or_sig, list)
            return kernel

        return decorate

    return lazy_jit


def shape_of(argument: Any) -> tuple:
    """What two arguments have in common that mean more or less of the same work."""
    names = "shape", "strides", "dtype"
    count = argument if isinstance(argument, (int, np.integer)) else None
    return type(argument), count, *(str(getattr(argument, name, "")) for name in names)


def sizes(kernel: Any, griddim: Any, blockdim: Any) -> tuple[Size, Size]:
    """(grid, block) of a launch; LaunchError where it is none."""
    if kernel.targetoptions.get("device"):
        name = kernel.__name__
        raise LaunchError(f"{name} is a device function: only kernels call it, no launch does")
    return extent(griddim, "the grid"), extent(blockdim, "the block")


def configuring(
    launches: list[Trace], blocks: BlocksOf | None, iterations: int | None, alike: int | None
) -> Callable[..., Any]:
    """A kernel's method `configure`, by which it is launched."""
    like: dict[tuple, list[Trace]] = defaultdict(list)  # launches, and those that stand for them

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
        tracer = Tracer(kernel, blocks and blocks(grid), iterations, once=True)
        launch = tracer[grid, block, stream, sharedmem]

        def launched(*args: Any) -> None:
            before = like[kernel, grid, block, sharedmem, *map(shape_of, args)]
            if alike is None or len(before) < alike:
                before.append(launch(*args))
            else:
                before.append(before[-alike])
            launches.append(before[-1])

        return launched

    return configure


def item(kernel: Any, sizes: Any) -> Callable[..., None]:
    if not isinstance(sizes, tuple) or len(sizes) < 2:
        raise ValueError("launch as kernel[grid, block](…): it takes at least a grid and a block")
    return kernel.configure(*sizes)


def forall(
    kernel: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0
) -> Callable[..., None]:
    if ntasks < 0:
        raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
    tpb = tpb or 256
    return kernel.configure(max(1, -(-ntasks // tpb)), tpb, stream, sharedmem)


def call(kernel: Any, *args: Any, **_: Any) -> NoReturn:
    raise ValueError(
        "launch configuration was not specified: a kernel needs a grid and a block, "
        "kernel[grid, block](…)"
    )
