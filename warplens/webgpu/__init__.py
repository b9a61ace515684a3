"""Numba-CUDA kernels, unedited, on any GPU: translated to WGSL, run by WebGPU.

    with webgpu.running():          # Metal, DirectX 12 or Vulkan, by wgpu-py
        kernel[grid, block](x, y)   # `from numba import cuda` means this machine's GPU

Right or refused: what WGSL cannot do as Numba means it raises `Refused`, with line and reason,
before anything runs; float64 first of all. What only shows while a kernel runs (threads that do not
agree at a barrier, integers that need 64 bits) raises `Found` at the next wait, with its line. What
a kernel does outside of its arrays is as undefined as on any GPU: ask `warplens.trace`.

    module, statements, expressions, calls    how a kernel becomes WGSL
    library.wgsl, text                        what WGSL has not, and what a module takes of it
    numbers, values, writer                   types, what is known of an expression, of a variable
    launches, arrays                          arguments, pipelines, device arrays
    native, browser                           wgpu-py, and a page's own WebGPU in its place

What differs from CUDA, and no result shows: shuffles and votes go through workgroup memory; four
neighbours are four reads; an integer literal beside a float32 is a float32; integers of 8, 16 and
64 bits take 4 bytes; workgroup memory begins as zeros; NaN and infinity are kept as the driver
likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .. import device
from ..programs import meaning
from .values import Refused

__all__ = ["Refused", "found", "running", "why_not"]


@cache
def why_not() -> str:
    """ "" where a GPU, or a driver that stands for one, is reached; else one sentence."""
    try:
        from . import arrays

        arrays.gpu()
    except ImportError:
        return "wgpu is not installed; try: pip install wgpu"
    except Exception as trouble:  # a driver's troubles have no class of their own
        return f"WebGPU reaches no GPU here ({str(trouble).splitlines()[0]})"
    return ""


def found() -> Any:
    """The device: its `name`, whether it is `software`, how it keeps time."""
    from . import arrays

    return arrays.gpu()


class Event:
    """A moment in the stream of work."""

    moment: Any = None

    def record(self, stream: Any = 0) -> None:
        self.moment = found().mark()

    def synchronize(self, stream: Any = 0) -> None:
        from .arrays import synchronize

        synchronize()

    wait = synchronize

    def elapsed_time(self, later: Event) -> float:
        return found().seconds(self.moment, later.moment) * 1e3


class Device(device.Device):
    compute_capability = (0, 0)  # what needs one of NVIDIA's says so itself
    name = b"by WebGPU"


def names() -> dict[str, Any]:
    """What numba.cuda's names mean."""
    from .arrays import PLACING, synchronize

    return device.NAMES | PLACING.names | {
        "synchronize": synchronize, "event": lambda timing=True: Event(),
        "get_current_device": Device, "select_device": lambda device_id: Device(),
        "list_devices": lambda: [Device()], "gpus": [Device()],
    }  # fmt: skip


@contextmanager
def running() -> Iterator[None]:
    """Inside, `from numba import cuda` means the GPU that WebGPU reaches; launches run there."""
    from .launches import configure

    if why := why_not():
        raise RuntimeError(why)
    with meaning(names(), configure):
        yield
