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

import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from gpulessons.hardware import compute_capability, cuda_package, other_gpu, why_no_gpu

CHOICE = "GPULESSONS_GPU"  # "webgpu": the GPU by WebGPU even where there is CUDA
NO_GPU = "no NVIDIA GPU here (`gpulessons doctor` says more)"
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


@cache
def any_gpu() -> Any:
    """What WebGPU reaches (`name`, `software`, …), if it is asked at all; else None."""
    asked = why_no_gpu() or os.environ.get(CHOICE) == "webgpu"
    if not asked or not (find_spec("wgpu") or sys.platform == "emscripten"):
        return None
    from warplens import webgpu

    return None if webgpu.why_not() else webgpu.found()


def meant() -> str:
    """Where `cuda`'s arrays are if not CUDA's: "under the microscope", "by WebGPU"; else ""."""
    from numba import cuda

    return getattr(getattr(cuda.to_device, "__self__", None), "place", "")


class Gpu(Host):
    """Device arrays of Numba-CUDA. Events in the stream keep the time, not the caller's clock.

    Without CUDA the same names may mean the GPU that WebGPU reaches: docs/any-gpu.md.
    """

    by_webgpu = ExitStack()  # for the rest of the process, once it is entered

    name, label = "gpu", "GPU, Numba-CUDA"

    def why_not(self) -> str:
        found = any_gpu()
        if found is None:
            return self.why_no_cuda()
        if found.software:
            return f"{found.name} is a processor in a GPU's place: right or wrong there, not timed"
        if not meant():
            self.by_webgpu.enter_context(self.answering())
        return ""

    def remark(self) -> str:
        """By what its rows differ from CUDA's, where WebGPU runs them; else ""."""
        if "WebGPU" not in meant():
            return ""
        found = any_gpu()
        clock = "the GPU's clock" if found.clock_of_its_own else "the caller's clock, launches too"
        return (f"GPU rows: {found.name}, by WebGPU, the same kernels; shuffles and votes through "
                f"shared memory, four neighbours in four reads, memory perhaps the CPU's; {clock}")

    def named(self, machine: str) -> str:
        """A machine, and before it the GPU that runs kernels by WebGPU there, if one does."""
        return f"{any_gpu().name} {meant()}, {machine}" if "WebGPU" in meant() else machine

    def answering(self) -> AbstractContextManager[None]:
        """Where kernels run for right or wrong, though perhaps nothing is timed there."""
        if any_gpu() is None or self.remark():
            return nullcontext()
        from warplens import webgpu

        return webgpu.running()

    def answers(self) -> bool:
        return any_gpu() is not None or not self.why_not()

    @cache  # noqa: B019  (one instance, alive as long as the process)
    def why_no_cuda(self) -> str:
        if why_no_gpu():
            return ". ".join(filter(None, (NO_GPU, other_gpu())))
        from numba import cuda

        try:
            cuda.current_context()
        except Exception as trouble:
            return (f"the GPU is there but Numba cannot use it ({trouble}); "
                    f"try: pip install '{cuda_package()}'")  # fmt: skip
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

        getattr(torch, self.device().split(":")[0]).synchronize()

    def mark(self) -> Any:
        import torch

        timed = getattr(getattr(torch, self.device().split(":")[0]), "Event", None)
        if timed is None:  # no timed events there: wait, then read the caller's clock
            self.sync()
            return super().mark()
        event = timed(enable_timing=True)
        event.record()
        return event

    def elapsed(self, start: Any, stop: Any) -> float:
        if isinstance(start, int):
            return super().elapsed(start, stop)
        stop.synchronize()
        return start.elapsed_time(stop) * 1e-3


@cache  # it is asked while something is timed
def why_no_tf32() -> str:
    """One sentence where this machine's GPU has no TF32; "" elsewhere."""
    has = compute_capability()
    if has is None and (device := torch_gpu.device()):
        return f"TF32 is arithmetic of NVIDIA's GPUs; PyTorch's {device} here is none of them"
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
