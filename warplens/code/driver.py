"""NVIDIA's driver, asked without an import: 0.2 ms, and no simulator can answer for it.

It obeys CUDA_VISIBLE_DEVICES and MIG, so what it says is what a kernel gets.
"""

import ctypes
import os
import sys
from importlib import metadata
from typing import Any

# Attribute numbers of cuDeviceGetAttribute, CUDA driver API.
MULTIPROCESSORS, MAJOR, MINOR = 16, 75, 76


def driver() -> tuple[Any, int, str]:
    """The driver's library, the GPUs it counts, and the sentence that says why there is none."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
        library.cuInit  # noqa: B018  (in a browser every library is found, and empty)
    except (OSError, AttributeError):
        return None, 0, (
            f"No NVIDIA driver ({name}) was found: install it if this machine has an NVIDIA GPU, "
            "or use a machine that has one (on Colab: Runtime, Change runtime type, GPU)."
        )
    count = ctypes.c_int()
    error = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
    if error or not count.value:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        return library, 0, (
            f"The NVIDIA driver ({name}) is here but offers no GPU (error {error}): run nvidia-smi "
            f"to see why, and check CUDA_VISIBLE_DEVICES, which is "
            f"{'not set' if visible is None else repr(visible)}."
        )
    return library, count.value, ""


def attribute_of(library: Any, device: ctypes.c_int, number: int) -> int:
    value = ctypes.c_int()
    library.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value


def first_device(library: Any) -> ctypes.c_int:
    """CUDA device 0."""
    device = ctypes.c_int()
    library.cuDeviceGet(ctypes.byref(device), 0)
    return device


def compute_capability() -> tuple[int, int] | None:
    """Of CUDA device 0, such as (7, 5); None without one."""
    library, count, _ = driver()
    if not count:
        return None
    device = first_device(library)
    return attribute_of(library, device, MAJOR), attribute_of(library, device, MINOR)


def gpu_name() -> tuple[str, int]:
    """(what the driver calls CUDA device 0, its multiprocessors); ("", 0) without one."""
    library, count, _ = driver()
    if not count:
        return "", 0
    device, name = first_device(library), ctypes.create_string_buffer(256)
    library.cuDeviceGetName(name, len(name), device)
    return name.value.decode(), attribute_of(library, device, MULTIPROCESSORS)


def cuda_package() -> str:
    """What pip calls Numba's CUDA compiler, of the CUDA whose libraries PyTorch brought along."""
    try:
        metadata.version("nvidia-cuda-runtime-cu12")
    except metadata.PackageNotFoundError:
        return "numba-cuda[cu13]"
    return "numba-cuda[cu12]"
