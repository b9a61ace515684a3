"""Where a version's arrays live, and how time is kept there.

Four backends, each with the same few methods:

    why_not()            "" when it can run here, else one sentence that says why not and what to do
    put(array)           a NumPy array, copied to the backend (numbers pass through)
    get(array)           back to NumPy
    write(array, value)  overwrite a backend's array with a NumPy array's values
    empty(shape, dtype)  an array with nothing in it yet
    sync()               wait until everything launched so far is done
    mark(), elapsed(a, b)   two marks in the stream of work, and the seconds between them
    computing(arithmetic)   a context in which its library multiplies float32 as this says

Nothing heavy is imported until a backend is used.
"""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np

from gpulessons.hardware import compute_capability, cuda_package, why_no_gpu

TF32 = (8, 0), "Ampere, 2020"  # the compute capability that brought it, and when


class NotHere(RuntimeError):
    """A version that this very machine cannot run, though its backend can; the text says why."""


def is_array(value: Any) -> bool:
    """Arrays travel between backends; plain numbers are the same everywhere."""
    return hasattr(value, "shape") and value.shape != ()


class Host:
    """NumPy arrays in the CPU's memory, for Python, NumPy and Numba."""

    name, label = "host", "CPU"

    def why_not(self) -> str:
        return ""

    def put(self, value: Any) -> Any:
        return np.array(value, order="C") if is_array(value) else value

    def get(self, value: Any) -> Any:
        return np.array(value) if is_array(value) else value

    def write(self, array: Any, value: Any) -> None:
        if is_array(array):
            array[...] = value

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.empty(shape, dtype)

    def sync(self) -> None:
        pass

    def mark(self) -> Any:
        return time.perf_counter_ns()

    def elapsed(self, start: Any, stop: Any) -> float:
        return (stop - start) * 1e-9

    def computing(self, arithmetic: str) -> AbstractContextManager[None]:
        return nullcontext()  # what a version computes in stands in its own code


class Gpu(Host):
    """Device arrays of Numba-CUDA. Events in the stream keep the time, not the caller's clock."""

    name, label = "gpu", "GPU, Numba-CUDA"

    @cache  # noqa: B019  (one instance, alive as long as the process)
    def why_not(self) -> str:
        if why_no_gpu():
            return "no NVIDIA GPU here (`gpulessons doctor` says more)"
        from numba import cuda

        try:
            cuda.current_context()
        except Exception as trouble:
            return (
                f"the GPU is there but Numba cannot use it ({trouble}); "
                f"try: pip install '{cuda_package()}'"
            )
        return ""

    def put(self, value: Any) -> Any:
        from numba import cuda

        return cuda.to_device(np.ascontiguousarray(value)) if is_array(value) else value

    def get(self, value: Any) -> Any:
        return value.copy_to_host() if hasattr(value, "copy_to_host") else host.get(value)

    def write(self, array: Any, value: Any) -> None:
        if is_array(array):
            array.copy_to_device(value)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        from numba import cuda

        return cuda.device_array(shape, dtype)

    def sync(self) -> None:
        from numba import cuda

        cuda.synchronize()

    def mark(self) -> Any:
        from numba import cuda

        event = cuda.event()  # which keeps time unless told not to
        event.record()
        return event

    def elapsed(self, start: Any, stop: Any) -> float:
        from numba import cuda

        stop.synchronize()
        return cuda.event_elapsed_time(start, stop) * 1e-3


class TorchCpu(Host):
    """PyTorch tensors in the CPU's memory, where the caller's clock keeps time as the host's."""

    name, label = "torch_cpu", "CPU, PyTorch"

    def why_not(self) -> str:
        try:
            import torch  # noqa: F401
        except ImportError:
            return "PyTorch is not installed; try: pip install torch"
        return ""

    def device(self) -> str:
        return "cpu"

    def put(self, value: Any) -> Any:
        import torch

        if not is_array(value):
            return value
        return torch.tensor(np.ascontiguousarray(value), device=self.device())

    def get(self, value: Any) -> Any:
        return value.detach().cpu().numpy() if hasattr(value, "detach") else host.get(value)

    def write(self, array: Any, value: Any) -> None:
        if is_array(array):
            array.copy_(self.put(value))

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        import torch

        like = torch.from_numpy(np.empty(0, dtype)).dtype
        return torch.empty(shape, dtype=like, device=self.device())

    @contextmanager
    def computing(self, arithmetic: str) -> Iterator[None]:
        """float32 as it is, unless "TF32" is asked for: then factors are rounded to 11 bits."""
        from torch import backends

        tf32 = arithmetic == "TF32"
        with allow_tf32(backends.cuda.matmul, tf32), allow_tf32(backends.cudnn, tf32):
            yield


class TorchGpu(TorchCpu):
    """PyTorch tensors on whatever torch calls an accelerator: CUDA, ROCm, MPS, XPU."""

    name, label = "torch_gpu", "GPU, PyTorch"

    def why_not(self) -> str:
        return super().why_not() or ("" if self.device() else "PyTorch sees no accelerator here")

    @cache  # noqa: B019
    def device(self) -> str:
        """The accelerator's type, such as "cuda" or "mps"; "" where there is none."""
        import torch

        if torch.cuda.is_available():
            return "cuda"
        accelerator: Any = getattr(torch, "accelerator", None)  # since torch 2.6
        there = accelerator is not None and accelerator.is_available()
        return str(accelerator.current_accelerator()) if there else ""

    def sync(self) -> None:
        import torch

        module = getattr(torch, self.device().split(":")[0])
        module.synchronize()

    def mark(self) -> Any:
        if self.device() != "cuda":  # no timed events there: wait, then read the caller's clock
            self.sync()
            return super().mark()
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def elapsed(self, start: Any, stop: Any) -> float:
        if self.device() != "cuda":
            return super().elapsed(start, stop)
        stop.synchronize()
        return start.elapsed_time(stop) * 1e-3


@cache  # it is asked while something is timed
def why_no_tf32() -> str:
    """One sentence where this machine's GPU is older than TF32; "" elsewhere."""
    has = compute_capability()
    if has is None or has >= TF32[0]:
        return ""
    return too_old("TF32", *TF32, has)


def too_old(what: str, needed: tuple[int, int], when: str, has: tuple[int, int]) -> str:
    """One sentence: this GPU's compute capability is not the one that is needed."""
    return (
        f"{what} needs a GPU of compute capability {needed[0]}.{needed[1]} ({when}) or newer; "
        f"this one has {has[0]}.{has[1]}"
    )


@contextmanager
def allow_tf32(library: Any, allowed: bool) -> Iterator[None]:
    """Whether a library of PyTorch's may round float32 factors to TF32's 11 bits meanwhile.

    library: torch.backends.cuda.matmul, where the default is no; or torch.backends.cudnn, for
    convolutions and recurrent layers, where it is yes. Raises NotHere where it is to happen on a
    GPU that has no TF32, and PyTorch would quietly compute in float32.
    """
    if allowed and (why := why_no_tf32()):
        raise NotHere(why)
    before, library.allow_tf32 = library.allow_tf32, allowed
    try:
        yield
    finally:
        library.allow_tf32 = before


Backend = Host
host, gpu, torch_cpu, torch_gpu = Host(), Gpu(), TorchCpu(), TorchGpu()
BACKENDS: dict[str, Backend] = {each.name: each for each in (host, gpu, torch_cpu, torch_gpu)}
