"""What the operating system says about the processor and its memory."""

import functools
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "numba", "numba-cuda", "torch", "llvmlite", "ipywidgets", "jupyterlab")

# Flag in /proc/cpuinfo -> name and bits, best first. SVE's width differs between processors.
SIMD = {
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
BASELINE = {"x86_64": "sse2", "amd64": "sse2", "arm64": "asimd", "aarch64": "asimd"}

SYSFS_CACHES = {"L1d": ("1", "Data"), "L2": ("2", "Unified"), "L3": ("3", "Unified")}
CPUINFO_CACHES = {"L1d": "l1_data_cache_size", "L2": "l2_cache_size", "L3": "l3_cache_size"}


def cores() -> int:
    """Logical processors that this process may use: affinity and cgroup quota, at least 1.

    A browser has more, and its Python (WebAssembly) can start no thread on them.
    """
    if sys.platform in ("emscripten", "wasi"):
        return 1
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    else:
        usable = os.cpu_count() or 1
    return max(1, int(min([usable, *quotas()])))


def cpu_name() -> str | None:
    return proc_cpuinfo().get("model name") or py_cpuinfo().get("brand_raw")


def simd() -> tuple[str | None, int | None]:
    """The widest vector instructions: name and bits, None where unknown."""
    info = proc_cpuinfo()
    flags = (info.get("flags") or info.get("Features") or "").split()
    flags = flags or py_cpuinfo().get("flags") or [BASELINE.get(platform.machine().lower())]
    name, bits = next((SIMD[flag] for flag in SIMD if flag in flags), (None, None))
    if name and not bits:
        vector_bytes = read("/proc/sys/abi/sve_default_vector_length")
        bits = 8 * int(vector_bytes) if vector_bytes.isdigit() else None
    return name, bits


def caches() -> dict[str, int]:
    """Bytes of L1d, L2 and L3, as one core sees them; without those that the system hides."""
    found = {}
    for index in range(8):
        folder = f"/sys/devices/system/cpu/cpu0/cache/index{index}"
        found[read(f"{folder}/level"), read(f"{folder}/type")] = read(f"{folder}/size")
    sizes = {level: found.get(key, "").removesuffix("K") for level, key in SYSFS_CACHES.items()}
    nbytes = {level: 1024 * int(size) for level, size in sizes.items() if size.isdigit()}
    told = {level: py_cpuinfo().get(key) for level, key in CPUINFO_CACHES.items() if not nbytes}
    return nbytes or {level: size for level, size in told.items() if isinstance(size, int)}


def memory() -> int | None:
    """Bytes of memory that this process may use: the machine's, or its cgroup's limit."""
    limits = [read(folder / "memory.max") for folder in cgroup_folders()]
    numbers = [int(limit) for limit in limits if limit.isdigit()]
    total = known(lambda: of_memory("total"))
    return min([*numbers, *([total] if total else [])], default=None)


def free_memory() -> float:
    """Bytes that this process may still take: the least that the system or a cgroup has left.

    Infinity where that is unknown. A cgroup counts the files it has read; those are given back.
    """
    available = known(lambda: of_memory("available"))
    left = [math.inf if available is None else available]
    for folder in cgroup_folders():
        files = dict(line.split() for line in read(folder / "memory.stat").splitlines())
        most, used = read(folder / "memory.max"), read(folder / "memory.current")
        if most.isdigit() and used.isdigit():
            given_back = int(files.get("inactive_file", 0))
            left.append(max(0, int(most) - int(used) + given_back))
    return min(left)


def libraries() -> dict[str, str]:
    """Installed version of each library that matters to a timing, without importing any."""
    versions = {name: known(functools.partial(metadata.version, name)) for name in LIBRARIES}
    return {name: version for name, version in versions.items() if version}


def commit() -> str | None:
    """The package's git commit, "-dirty" if edited since; None outside a checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12",
               "--exclude=*"]
    return known(lambda: subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=5
    ).stdout.strip())


def of_memory(what: str) -> int:
    """Bytes of the system's memory, "total" or "available"."""
    import psutil

    return getattr(psutil.virtual_memory(), what)


def quotas() -> Iterator[float]:
    """The cgroups' limits, in cores; a cgroup without one says "max"."""
    for folder in cgroup_folders():
        words = read(folder / "cpu.max").split()
        if len(words) == 2 and words[0].isdigit():
            yield int(words[0]) / int(words[1])


def cgroup_folders() -> Iterator[Path]:
    """This process's cgroup (v2) and those above it, which limit it too; a container may see its
    own only as the root."""
    root = Path("/sys/fs/cgroup")
    for line in read("/proc/self/cgroup").splitlines():
        if line.startswith("0::"):
            own = root / line.removeprefix("0::").lstrip("/")
            yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(root))


def proc_cpuinfo() -> dict[str, str]:
    """The first processor of /proc/cpuinfo; empty where there is none."""
    first = read("/proc/cpuinfo").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


@functools.cache
def py_cpuinfo() -> dict[str, Any]:
    """py-cpuinfo's answer: it takes a second, so it is asked only for what /proc hides."""

    def ask() -> dict[str, Any]:
        import cpuinfo

        return cpuinfo.get_cpu_info()

    return known(ask) or {}


def read(path: str | Path) -> str:
    """The text of a system file, stripped; empty if it cannot be read."""
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def known(ask: Callable[[], Any]) -> Any:
    """The answer, or None: what a system hides, it hides with an exception of its own."""
    try:
        return ask()
    except Exception:
        return None
