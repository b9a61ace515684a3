"""What the operating system says about the processor, its memory, and what else is running."""

import functools
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from gpulessons.hardware.nvidia import gpu_load

LIBRARIES = ("numpy", "numba", "numba-cuda", "torch", "llvmlite", "ipywidgets", "jupyterlab")

# Flag in /proc/cpuinfo -> name and bits, best first. SVE's width differs between processors.
_SIMD = {
    "avx512f": ("AVX-512", 512),
    "avx2": ("AVX2", 256),
    "avx": ("AVX", 256),
    "sse2": ("SSE2", 128),
    "sve2": ("SVE2", None),
    "sve": ("SVE", None),
    "asimd": ("NEON", 128),
    "neon": ("NEON", 128),
}
# What every processor of an architecture has, for a system that shows no flags.
_BASELINE = {"x86_64": "sse2", "amd64": "sse2", "arm64": "asimd", "aarch64": "asimd"}

_CACHES = {"L1d": ("1", "Data"), "L2": ("2", "Unified"), "L3": ("3", "Unified")}
_CPUINFO_CACHES = {"L1d": "l1_data_cache_size", "L2": "l2_cache_size", "L3": "l3_cache_size"}


def cores():
    """Logical processors that this process may use: affinity and cgroup quota, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    else:
        usable = os.cpu_count() or 1
    return max(1, int(min([usable, *_quotas()])))


def cpu_name():
    return _proc_cpuinfo().get("model name") or _py_cpuinfo().get("brand_raw")


def simd():
    """The widest vector instructions: name and bits, None where unknown."""
    info = _proc_cpuinfo()
    flags = (info.get("flags") or info.get("Features") or "").split()
    flags = flags or _py_cpuinfo().get("flags") or [_BASELINE.get(platform.machine().lower())]
    name, bits = next((_SIMD[flag] for flag in _SIMD if flag in flags), (None, None))
    if name and not bits:
        vector_bytes = _read("/proc/sys/abi/sve_default_vector_length")
        bits = 8 * int(vector_bytes) if vector_bytes.isdigit() else None
    return name, bits


def caches():
    """Bytes of L1d, L2 and L3, as one core sees them; without those that are not told."""
    told = {}
    for index in range(8):
        folder = f"/sys/devices/system/cpu/cpu0/cache/index{index}"
        told[_read(f"{folder}/level"), _read(f"{folder}/type")] = _read(f"{folder}/size")
    sizes = {level: told.get(key, "").removesuffix("K") for level, key in _CACHES.items()}
    known = {level: 1024 * int(size) for level, size in sizes.items() if size.isdigit()}
    return known or _py_cpuinfo_caches()


def memory():
    """Bytes of memory that this process may use: the machine's, or its cgroup's limit."""
    limits = [_known(_total_memory)]
    for folder in _cgroup_folders("memory"):
        limits += [_read(folder / "memory.max"), _read(folder / "memory.limit_in_bytes")]
    numbers = [int(limit) for limit in limits if str(limit).isdigit()]
    # cgroup v1 writes "no limit" as nearly 2**63.
    return min((number for number in numbers if number < 2**60), default=None)


def libraries():
    """Installed version of each library that matters to a timing, without importing any."""
    versions = {name: _known(lambda name=name: metadata.version(name)) for name in LIBRARIES}
    return {name: version for name, version in versions.items() if version}


def commit():
    """The package's git commit, "-dirty" if edited since; None outside a checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12",
               "--exclude=*"]
    return _known(lambda: subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=5
    ).stdout.strip())


def accelerator():
    """What torch computes on, such as "cuda: NVIDIA A100" or "mps", or "none".

    None if torch is not imported: importing it, to ask, would take a second.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    for kind in ("cuda", "xpu"):
        device_name = _known(lambda: getattr(torch, kind).get_device_name())  # noqa: B023
        if device_name:
            return f"{kind}: {device_name}"
    return "mps" if _known(lambda: torch.backends.mps.is_available()) else "none"


def load():
    """What else the machine is doing now; only what can be read, so an empty dict is possible.

    load_average (processes, last minute), cpu_hertz, gpu_hertz, gpu_watts, gpu_celsius,
    gpu_throttled (why, or "no").
    """
    readings = {"load_average": _known(_load_average), "cpu_hertz": _known(_cpu_hertz)}
    return {key: value for key, value in readings.items() if value is not None} | gpu_load()


def _load_average():
    return os.getloadavg()[0]


def _cpu_hertz():
    import psutil

    return psutil.cpu_freq().current * 1e6 or None


def _total_memory():
    import psutil

    return psutil.virtual_memory().total


def _quotas():
    """The cgroups' limits, in cores; a cgroup without one says "max" (v2) or -1 (v1)."""
    for folder in _cgroup_folders("cpu"):
        v1 = f"{_read(folder / 'cpu.cfs_quota_us')} {_read(folder / 'cpu.cfs_period_us')}"
        words = (_read(folder / "cpu.max") or v1).split()
        if len(words) == 2 and words[0].isdigit():
            yield int(words[0]) / int(words[1])


def _cgroup_folders(controller):
    """This process's cgroup and those above it, which limit it too; v1 has a tree per controller,
    and a container may see its own cgroup only as the root."""
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers or controller in controllers.split(","):
            root = Path("/sys/fs/cgroup", controller if controllers else "")
            own = root / path.lstrip("/")
            yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(root))


def _proc_cpuinfo():
    """The first processor of /proc/cpuinfo; empty where there is none."""
    first = _read("/proc/cpuinfo").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


@functools.cache
def _py_cpuinfo():
    """py-cpuinfo's answer: it takes a second, so it is asked only for what /proc hides."""

    def ask():
        import cpuinfo

        return cpuinfo.get_cpu_info()

    return _known(ask) or {}


def _py_cpuinfo_caches():
    sizes = {level: _py_cpuinfo().get(key) for level, key in _CPUINFO_CACHES.items()}
    return {level: size for level, size in sizes.items() if isinstance(size, int)}


def _read(path):
    """The text of a system file, stripped; empty if it cannot be read."""
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _known(ask):
    """The answer, or None: what a system hides, it hides with an exception of its own."""
    try:
        return ask()
    except Exception:
        return None
