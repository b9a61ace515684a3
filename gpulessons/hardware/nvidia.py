"""NVIDIA GPUs, asked of the driver itself: no import, 0.2 ms, and no simulator can answer for it.

The driver is asked, rather than NVML, for everything that it knows: it obeys CUDA_VISIBLE_DEVICES
and MIG, so what it says is what a kernel gets. NVML adds the driver's version.
"""

import ctypes
import sys
from functools import partial
from glob import glob
from importlib.util import find_spec
from typing import Any

from warplens.code.driver import (
    MAJOR,
    MINOR,
    MULTIPROCESSORS,
    attribute_of,
    driver,
    first_device,
)

L2_BYTES = 38  # attribute numbers, as in warplens.code.driver


def gpu_count() -> int:
    """How many GPUs CUDA can use here; 0 without a driver. Never true of a simulator."""
    return driver()[1]


def why_no_gpu() -> str:
    """One sentence: what was looked for, and what to do. Empty where there is a GPU."""
    return driver()[2]


def other_gpu() -> str:
    """One sentence where a GPU seems to be that WebGPU would reach, if it were asked; else ""."""
    seen = sys.platform in ("darwin", "win32") or bool(glob("/dev/dri/renderD*"))
    if not seen or not why_no_gpu() or find_spec("wgpu"):
        return ""
    get = 'pip install "gpulessons[gpu-any]"'
    return f"This computer's own GPU can run the kernels: {get}, then start again."


def gpu() -> dict[str, Any] | None:
    """CUDA device 0 as plain numbers and strings (memory and L2 in bytes); None without one."""
    library, count, _ = driver()
    if not count:
        return None
    device = first_device(library)
    name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
    library.cuDeviceGetName(name, len(name), device)
    library.cuDeviceTotalMem_v2(ctypes.byref(memory), device)

    attribute = partial(attribute_of, library, device)
    return {
        "name": name.value.decode(),
        "memory": memory.value,
        "compute_capability": f"{attribute(MAJOR)}.{attribute(MINOR)}",
        "multiprocessors": attribute(MULTIPROCESSORS),
        "l2": attribute(L2_BYTES),
        "driver": driver_version(),
    }


def driver_version() -> str | None:
    """The driver's version as NVML has it; None where it cannot or will not say."""
    try:
        import pynvml as nvml

        nvml.nvmlInit()
    except Exception:  # not installed, no library, no permission, another driver's version
        return None
    try:
        version = nvml.nvmlSystemGetDriverVersion()
        return version.decode() if isinstance(version, bytes) else version  # older bindings
    except Exception:  # an old NVML
        return None
    finally:
        nvml.nvmlShutdown()
