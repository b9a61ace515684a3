"""Run any Numba-CUDA kernel warp by warp, without a GPU, and see exactly what it did."""

from .faults import (
    Caution,
    KernelFault,
    LaunchError,
    NoProgress,
    OutOfBounds,
    PartialBarrier,
    Unsupported,
)
from .runner import trace
from .tracing import tracing
from .traces import Trace

__all__ = [
    "Caution", "KernelFault", "LaunchError", "NoProgress", "OutOfBounds", "PartialBarrier", "Trace", "Unsupported",
    "trace", "tracing",
]  # fmt: skip
