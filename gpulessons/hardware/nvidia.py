"""NVIDIA GPUs, asked of the driver itself: no import, 0.2 ms, and no simulator can answer for it.

The driver is asked, rather than NVML, for everything that it knows: it obeys CUDA_VISIBLE_DEVICES
and MIG, so what it says is what a kernel gets. NVML adds clocks, power and the driver's version.
"""

import ctypes
from collections.abc import Callable
from functools import partial
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
        **{"driver": None, **nvml_readings({"driver": driver_version})},
    }


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


def gpu_rates() -> dict[str, float]:
    """What CUDA device 0 reaches at most: "clock" (Hz), "memory" (B/s); without what it hides.

    The memory moves a word twice in a clock of its own, as the driver counts it.
    """
    library, count, _ = driver()
    if not count:
        return {}
    attribute = partial(attribute_of, library, first_device(library))
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
