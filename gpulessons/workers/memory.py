"""What processes on one machine share, an array and a lock; and what each has alone, a core."""

import os
import tempfile

import numpy as np
import torch.distributed as dist

from .worker import MEMORY

APART = 16  # int64s: two cache lines, since a core may fetch them in pairs


def shared(worker, size, dtype):
    """An array in memory that all workers of this machine see; zeros at first."""
    if int(os.environ["LOCAL_WORLD_SIZE"]) < worker.world:
        raise ValueError("Workers on several hosts share no memory: start all of them on one.")
    name = [None]
    if worker.rank == 0:
        folder = MEMORY if os.access(MEMORY, os.W_OK) else worker.folder
        mark = f"{worker.folder.name}-"  # by which the launch finds it, whatever happens here
        with tempfile.NamedTemporaryFile(prefix=mark, dir=folder, delete=False) as file:
            np.zeros(size, dtype).tofile(file)
        name = [file.name]
    dist.broadcast_object_list(name)
    array = np.asarray(np.memmap(name[0], dtype, "r+"))
    dist.barrier()
    if worker.rank == 0:
        os.unlink(name[0])  # the memory stays as long as somebody uses it
    return array


def keep_to_a_core(worker):
    """Have a core of one's own, where the system lets us: whom it moves about loses its cache."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[worker.local_rank % len(cores)]})


class locked:
    """A lock that processes can share: a file that one at a time may hold."""

    def __init__(self, worker):
        self.file = open(os.path.join(worker.folder, "lock"), "w")  # noqa: SIM115

    def __enter__(self):
        import fcntl

        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *trouble):
        import fcntl

        fcntl.flock(self.file, fcntl.LOCK_UN)
