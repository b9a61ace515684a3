"""peak_memory(): the most memory that a version holds at any one time, beside its inputs.

Counted, not sampled: Python's tracemalloc sees every allocation of NumPy, and of Numba too, whose
compiled code asks Python for memory. PyTorch and GPUs have allocators of their own.
"""

import tracemalloc
from typing import Any

from gpulessons.backends import host
from gpulessons.operation import Version


def peak_memory(version: Version, *inputs: Any) -> int:
    """Bytes allocated at the worst moment of one call: the result and all that led to it.

    A version of the host; ValueError for any other. Inputs are NumPy arrays and numbers.
    """
    if version.backend is not host:
        raise ValueError(
            f"{version} allocates where tracemalloc does not see it: measure a version on host."
        )
    version(*inputs)  # compiles, and asks the specification for the result's shape, once
    already = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        version(*inputs)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not already:
            tracemalloc.stop()
