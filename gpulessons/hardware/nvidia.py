"""NVIDIA GPUs, asked of the driver itself: no import, 0.2 ms, and no simulator can answer for it.

The driver is asked, rather than NVML, for everything that it knows: it obeys CUDA_VISIBLE_DEVICES
and MIG, so what it says is what a kernel gets. NVML adds clocks, power and the driver's version.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any

# Attribute numbers of cuDeviceGetAttribute, CUDA driver API.
MULTIPROCESSORS, L2_BYTES, MAJOR, MINOR = 16, 38, 75, 76
CLOCK, MEMORY_CLOCK, BUS_BITS = 13, 36, 37  # the clocks in kHz, at most

# Bits of NVML's clocks event reasons that mean slower than asked; idling is not one of them.
THROTTLES = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "temperature",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}


def gpu_count() -> int:
    """How many GPUs CUDA can use here; 0 without a driver. Never true of a simulator."""
    return driver()[1]


def why_no_gpu() -> str:
    """One sentence: what was looked for, and what to do. Empty where there is a GPU."""
    return driver()[2]


def gpu() -> dict[str, Any] | None:
    """CUDA device 0 as plain numbers and strings (memory and L2 in bytes); None without one."""
    library, count, _ = driver()
    if not count:
        return None
    device, name, memory = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_size_t()
    library.cuDeviceGet(ctypes.byref(device), 0)
    library.cuDeviceGetName(name, len(name), device)
    library.cuDeviceTotalMem_v2(ctypes.byref(memory), device)

    attribute = partial(attribute_of, library, device)
    return {
        "name": name.value.decode(),
        "memory": memory.value,
        "compute_capability": f"{attribute(MAJOR)}.{attribute(MINOR)}",
        "multiprocessors": attribute(MULTIPROCESSORS),
        "l2": attribute(L2_BYTES),
        **{"driver": None, **nvml_readings({"driver": driver_version})},
    }


def compute_capability() -> tuple[int, int] | None:
    """Of CUDA device 0, such as (7, 5); None without one."""
    library, count, _ = driver()
    if not count:
        return None
    device = ctypes.c_int()
    library.cuDeviceGet(ctypes.byref(device), 0)
    return attribute_of(library, device, MAJOR), attribute_of(library, device, MINOR)


def attribute_of(library: Any, device: ctypes.c_int, number: int) -> int:
    value = ctypes.c_int()
    library.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value


def cuda_package() -> str:
    """What pip calls Numba's CUDA compiler, of the CUDA whose libraries PyTorch brought along."""
    try:
        metadata.version("nvidia-cuda-runtime-cu12")
    except metadata.PackageNotFoundError:
        return "numba-cuda[cu13]"
    return "numba-cuda[cu12]"


def gpu_load() -> dict[str, Any]:
    """Clocks, power, temperature and throttling of CUDA device 0 now: what NVML will tell."""
    if not gpu_count():
        return {}
    return nvml_readings({
        "gpu_hertz": lambda nvml, gpu: 1e6 * nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM),
        "gpu_watts": lambda nvml, gpu: nvml.nvmlDeviceGetPowerUsage(gpu) / 1e3,
        "gpu_celsius": lambda nvml, gpu: nvml.nvmlDeviceGetTemperature(
            gpu, nvml.NVML_TEMPERATURE_GPU
        ),
        "gpu_throttled": throttled,
    })


def driver() -> tuple[Any, int, str]:
    """The driver's library, the GPUs it counts, and the sentence that says why there is none."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError:
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


def gpu_rates() -> dict[str, float]:
    """What CUDA device 0 reaches at most: "clock" (Hz), "memory" (B/s); without what it hides.

    The memory moves a word twice in a clock of its own, as the driver counts it.
    """
    library, count, _ = driver()
    if not count:
        return {}
    device = ctypes.c_int()
    library.cuDeviceGet(ctypes.byref(device), 0)

    attribute = partial(attribute_of, library, device)
    memory = 2e3 * attribute(MEMORY_CLOCK) * attribute(BUS_BITS) / 8
    rates = {"clock": 1e3 * attribute(CLOCK), "memory": memory}
    return {name: rate for name, rate in rates.items() if rate > 0}


def nvml_readings(readings: dict[str, Callable[[Any, Any], Any]]) -> dict[str, Any]:
    """{key: read(nvml, handle of CUDA device 0)}, without what NVML cannot or will not say."""
    try:
        import pynvml as nvml

        nvml.nvmlInit()
    except Exception:  # not installed, no library, no permission, another driver's version
        return {}
    known = {}
    try:
        for key, read in readings.items():
            try:
                known[key] = read(nvml, nvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id()))
            except Exception:  # a laptop's GPU, a virtual one, an old NVML: each hides its own
                continue
    finally:
        nvml.nvmlShutdown()
    return known


def pci_bus_id() -> bytes:
    """NVML counts every GPU and CUDA only the visible ones; the bus address is common to both."""
    address = ctypes.create_string_buffer(32)
    driver()[0].cuDeviceGetPCIBusId(address, len(address), ctypes.c_int(0))
    return address.value


def driver_version(nvml: Any, _: Any) -> str:
    version = nvml.nvmlSystemGetDriverVersion()
    return version.decode() if isinstance(version, bytes) else version  # older bindings


def throttled(nvml: Any, gpu: Any) -> str:
    reasons = nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu)
    return ", ".join(word for bit, word in THROTTLES.items() if reasons & bit) or "no"
