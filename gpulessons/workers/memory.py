"""What processes on one machine share, an array; and what each has alone, a core."""

import os
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch.distributed as dist
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numpy.typing import DTypeLike, NDArray

from .worker import MEMORY, Worker

APART = 16  # int64s: two cache lines, since a core may fetch them in pairs


def shared(worker: Worker, size: int, dtype: DTypeLike) -> NDArray:
    """An array in memory that all workers of this machine see; zeros at first.

    RuntimeError where there are other machines.
    """
    if int(os.environ["LOCAL_WORLD_SIZE"]) < worker.world_size:
        raise RuntimeError("This program needs shared memory: several hosts have none in common.")
    path = MEMORY / f"{worker.folder.name}-memory"  # by which the launch finds it, come what may
    if worker.rank == 0:
        path.write_bytes(bytes(size * np.dtype(dtype).itemsize))
    dist.barrier()
    array = np.asarray(np.memmap(path, dtype, "r+"))
    dist.barrier()
    if worker.rank == 0:
        path.unlink()  # the memory stays as long as somebody uses it
    return array


def adding(typing: Any, array: Any, place: Any, value: Any) -> tuple[Any, Callable[..., Any]]:
    """array[place] += value, of which nothing is ever lost: nobody comes between read and write.

    For compiled code; array: (n,) without gaps, and place within it. Numba has no such addition on
    CPUs, but LLVM does: an instruction for whole numbers, and for floats, where a processor lacks
    one, a loop that begins again when somebody else has written.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, values[0]).data
        what = "fadd" if isinstance(array.dtype, types.Float) else "add"
        builder.atomic_rmw(what, builder.gep(data, [values[1]]), values[2], "monotonic")
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


atomic_add = cast("Callable[[NDArray, int, float], None]", intrinsic(adding))


def keep_to_a_core(worker: Worker) -> None:
    """Have a core of one's own, where the system lets us: whom it moves about loses its cache."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[worker.local_rank % len(cores)]})
