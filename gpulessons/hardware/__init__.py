"""What this machine is, and what it was measured to do: `machine()` is a card to read.

Everything is read from the system as it is now. What a system hides is None, and reads "unknown":
a container without /sys and a laptop without a GPU still have a card. Nothing here imports NumPy,
Numba or torch until a ceiling is measured.
"""

from warplens.code.driver import compute_capability, cuda_package

from .card import Machine, buffer_bytes, machine
from .nvidia import gpu, gpu_count, other_gpu, why_no_gpu
from .pools import thread_choices, threads
from .system import cores, free_memory

__all__ = [
    "Machine", "buffer_bytes", "compute_capability", "cores", "cuda_package", "free_memory", "gpu",
    "gpu_count", "machine", "other_gpu", "thread_choices",
    "threads", "why_no_gpu",
]
