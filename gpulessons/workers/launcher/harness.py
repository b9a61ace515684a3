"""What a worker does before and after its program: join the others, report, leave no trace.

A program is an importable module with a function `main(worker, **options)`. torchrun runs this file
once for each worker; the programs themselves know nothing of launching.

    python -m torch.distributed.run --standalone --nproc-per-node 2 \\
        gpulessons/workers/launcher/harness.py gpulessons.workers.programs.hello '{}'
"""

import faulthandler
import importlib
import json
import multiprocessing
import os
import pickle
import signal
import sys
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record

from gpulessons.workers.launcher.failures import lost
from gpulessons.workers.worker import REPORT, Worker


@record  # torchrun hears of what it raises
def run(program: str, options: dict[str, Any]) -> None:
    """Join the other workers, run the program's main, and hand its result to the launcher."""
    worker = Worker()
    if worker.report:
        report(worker)
    try:
        main = importlib.import_module(program).main
        join(worker)
        worker.keep("result", pickle.dumps(main(worker, **options)))
        dist.barrier()  # nobody's partner vanishes while it still sends
        dist.destroy_process_group()
    except RuntimeError as trouble:
        if lost(trouble):
            time.sleep(3)  # so that torchrun hears of the cause first, and ends this one
        raise


def report(worker: Worker) -> None:
    """Be heard by the launcher, and be found by it."""
    append = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    output = os.open(worker.folder / f"output-{worker.rank}", append, 0o600)
    for stream in (1, 2):
        os.dup2(output, stream)
    stacks = open(worker.folder / f"stack-{worker.rank}", "w")  # noqa: SIM115 (until the end)
    faulthandler.enable(stacks, all_threads=False)
    faulthandler.register(signal.SIGUSR1, stacks, all_threads=False)
    worker.keep("pid", str(os.getpid()).encode())


def join(worker: Worker) -> None:
    """Meet the other workers: NCCL between GPUs where each has one, gloo between CPUs."""
    on_gpu = worker.device.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(worker.device)
    dist.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo")
    dist.barrier()  # whoever left before all have met would break the meeting of the others
    worker.keep("joined", b"")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a fork has torchrun's answer to it
    failed = True
    try:
        run(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
        failed = False
    finally:
        forked = multiprocessing.parent_process()  # torchrun waits for what it returns, nothing
        if REPORT in os.environ and (failed or not forked):
            sys.stdout.flush()  # an ordinary exit trips over what others left undone
            sys.stderr.flush()
            os._exit(failed)
