"""What a worker does before and after its program: join the others, report, leave no trace.

A program is an importable module with a function `main(worker, **options)`. torchrun starts this
module once for each worker; the programs themselves know nothing of launching.

    python -m torch.distributed.run --standalone --nproc-per-node 2 \\
        -m gpulessons.workers.launcher.harness gpulessons.workers.programs.hello '{}'
"""

import faulthandler
import importlib
import json
import os
import pickle
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

import psutil

from gpulessons.hardware.system import cores

from ..worker import Worker
from .failures import Error
from .processes import end_with_parent


def run(program: str, options: dict[str, Any]) -> None:
    """Join the other workers, run the program's main, and hand its result to the launcher."""
    worker = Worker()
    try:
        if worker.report:
            report(worker)
        main = importlib.import_module(program).main
        join(worker)
        worker.keep("joined", b"")
        worker.keep("result", pickle.dumps(main(worker, **options)))
        leave()
    except BaseException as trouble:
        if not worker.report:
            raise
        with suppress(OSError):  # no room for it
            worker.keep("error", Error.of(trouble).packed)
        end(1)
    if worker.report:
        end(0)


def end(status: int) -> None:
    """Be gone. An ordinary exit trips over what others left undone, or a thread of the engine's."""
    with suppress(OSError):  # no room for the last words
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def report(worker: Worker) -> None:
    """Be heard by the launcher, be found by it, and end with it."""
    end_with_parent()
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
    import torch
    import torch.distributed as dist

    here = int(os.environ["LOCAL_WORLD_SIZE"])
    torch.set_num_threads(max(1, cores() // here))
    on_gpu = worker.device.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(worker.device)
    if here < worker.world_size:
        choose_network()
    dist.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo")
    dist.barrier()  # whoever left before all have met would break the meeting of the others


def choose_network() -> None:
    """Make gloo use the network that leads to the master: a host's own name may lead nowhere."""
    with suppress(OSError):  # the engine will say it better
        *kind, _, address = socket.getaddrinfo(
            os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), type=socket.SOCK_DGRAM
        )[0]
        with socket.socket(*kind) as probe:
            probe.connect(address)  # finds the way, sends nothing
            here = probe.getsockname()[0]
        for name, addresses in psutil.net_if_addrs().items():
            if here in (each.address for each in addresses):
                os.environ.setdefault("GLOO_SOCKET_IFNAME", name)


def leave() -> None:
    """Wait for each other, so that nobody's partner vanishes while it still sends."""
    import torch.distributed as dist

    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    run(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
