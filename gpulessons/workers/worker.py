"""What a worker does before and after its program: join the others, report, leave no trace.

A program is an importable module with a function `main(worker, **options)`. torchrun starts this
module once for each worker; the programs themselves know nothing of launching.

    python -m torch.distributed.run --standalone --nproc-per-node 2 \\
        -m gpulessons.workers.worker gpulessons.workers.hello '{"greeting": "hi"}'
"""

import faulthandler
import importlib
import json
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path

MARK = "\x1e"  # begins a line that is meant for the launcher and not for a reader
REPORT, LAUNCHER = "GPULESSONS_REPORT", "GPULESSONS_LAUNCHER"  # a folder; a process


class Worker:
    """One process among several: its rank, its device, and how it talks to the launcher."""

    def __init__(self):
        self.rank, self.world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.report = Path(os.environ[REPORT]) if REPORT in os.environ else None

    @property
    def folder(self):
        """A folder that all workers on this host can write to."""
        run = os.environ.get("TORCHELASTIC_RUN_ID", "alone")
        folder = self.report or Path(tempfile.gettempdir()) / f"gpulessons-{run}"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def device(self):
        """A GPU of its own where every worker here can have one; else the CPU."""
        import torch

        enough = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
        return torch.device("cuda", self.local_rank) if enough else torch.device("cpu")

    def say(self, *words):
        """Print a line under this worker's name, at once."""
        write(f"worker {self.rank}: {' '.join(map(str, words))}")

    def progress(self, done, total, words=""):
        """Tell the launcher how far the work is: one worker's word is enough."""
        note = json.dumps({"rank": self.rank, "done": done, "total": total, "words": words})
        if self.report:
            write(f"{MARK}{note}")

    def keep(self, name, value):
        """Leave a file for the launcher, whole or not at all."""
        if self.report:
            partial = self.report / f"{name}-{self.rank}.partial"
            partial.write_bytes(value)
            partial.rename(partial.with_suffix(""))


def write(line):
    """A line in one piece: what print() writes in several may mingle with another worker's."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(program, options):
    """Join the other workers, run the program's main, and hand its result to the launcher."""
    worker = Worker()
    worker.keep("pid", str(os.getpid()).encode())
    if worker.report:
        watch_launcher()
        stacks = open(worker.report / f"stack-{worker.rank}", "w")  # noqa: SIM115 (until the end)
        faulthandler.register(signal.SIGUSR1, stacks, all_threads=False)
    try:
        join(worker)
        result = importlib.import_module(program).main(worker, **options)
        worker.keep("result", pickle.dumps(result))
        leave()
    except BaseException as trouble:
        worker.keep("trouble", "".join(traceback.format_exception(trouble)).encode())
        raise


def join(worker):
    """Meet the other workers: NCCL where each has a GPU, gloo on CPUs."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(max(1, (os.cpu_count() or 1) // int(os.environ["LOCAL_WORLD_SIZE"])))
    on_gpu = worker.device.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(worker.device)
    dist.init_process_group("nccl" if on_gpu else "gloo")


def leave():
    """Wait for each other, so that nobody's partner vanishes while it still sends."""
    import torch.distributed as dist

    dist.barrier()
    dist.destroy_process_group()


def watch_launcher():
    """End this process when its launcher is gone: a killed notebook leaves nothing running."""
    launcher, parent = int(os.environ[LAUNCHER]), os.getppid()

    def watch():
        while alive(launcher) and os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def alive(pid):
    with suppress(PermissionError):  # someone else's process is alive too
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True


if __name__ == "__main__":
    run(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
