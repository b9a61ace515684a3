"""How wide Numba's vectors are: a CPU may have 512 bits of which LLVM uses half.

The first CPUs with AVX-512 lowered their clock for wide vectors, so LLVM prefers 256 bits on many
that came later, too. A library's product takes the full width; so that a loop of Numba's may, the
pages and the commands of the course ask for it, with `wide_vectors()`. Nothing else does.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

CPU, FEATURES = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
WIDE = "-prefer-256-bit"  # LLVM's name for it
SETTINGS = (CPU, FEATURES, "NUMBA_ENABLE_AVX")  # of the reader's: then nothing is chosen
CONFIG = ".numba_config.yaml"  # where Numba looks for settings, too


def wide_vectors() -> None:
    """Have Numba's loops use all of the CPU's vector width, 512 bits where there are so many.

    It sets NUMBA_CPU_NAME and NUMBA_CPU_FEATURES for this process and those that it starts, so call
    it before anything is compiled; later it does nothing. What the reader has set stays as it is.
    """
    if has_512() and not set_by_reader() and not has_compiled():
        os.environ |= full_width()
        if config := sys.modules.get("numba.core.config"):
            config.reload_config()


def has_compiled() -> bool:
    """Whether Numba has made its code generator: from then on its width stays."""
    target = getattr(sys.modules.get("numba.core.registry"), "cpu_target", None)
    return "_toplevel_target_context" in vars(target or object)


def set_by_reader() -> bool:
    """Whether the environment, or Numba's file of settings, says something that is not ours."""
    said = {name: os.environ[name] for name in SETTINGS if name in os.environ}
    return Path(CONFIG).exists() or bool(said and said != full_width())


def in_words() -> str:
    """Which width Numba's loops have, and why; "" where there is no choice."""
    if not has_512():
        return ""
    if set_by_reader():
        return f"as {' and '.join(filter(os.environ.get, SETTINGS)) or CONFIG} says"
    if FEATURES in os.environ:
        return "512 bits, by wide_vectors()"
    return "as LLVM prefers: wide_vectors(), before anything is compiled, asks for 512 bits"


def has_512() -> bool:
    # A stand-in for LLVM, where there is none, says neither yes nor no.
    return bool(find_spec("llvmlite")) and host_features().get("avx512f") is True


def host_features() -> dict[str, bool]:
    """What LLVM finds this CPU to have; empty where it cannot tell."""
    import llvmlite.binding as llvm

    try:
        return llvm.get_host_cpu_features()
    except RuntimeError:
        return {}


def full_width() -> dict[str, str]:
    """The settings that make Numba's vectors as wide as the CPU's."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return {CPU: llvm.get_host_cpu_name(), FEATURES: f"{features},{WIDE}"}
