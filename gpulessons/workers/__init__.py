"""Many processes: one program on several workers, on one machine or on many hosts.

    from gpulessons import launch
    launch("data_parallel", workers=2, how="ring")

In goes the name of a program, a module with main(worker, **options), and its options; out come the
lines it prints, how far it is, and what each worker returned, or WorkersFailed with the reason.
Read a program (programs/hello first), then the part it is made of, then who runs it (launcher/).

    programs/                                     the parts that they share, of no program
    hello              who is there               worker       what each program is handed
    check_collectives  ours against the backend's collectives  all-reduce: naive, tree, ring
    measure_split      one of several, or cut     links        a model of how long one takes
                                                  emulated     a wire that you set
    data_parallel      one network, shared        gradients    what is sent, and packed how
                       minibatches                training     a network, minibatches, a log
    several            of these, one by one       batches      what a larger batch buys
    hogwild            shared weights, no locks   memory       an array that all see
    lost_updates       additions that vanish      seldom       local SGD and DiLoCo, in one process
    pipeline           a network in stages        schedules    GPipe, 1F1B … simulated
    tensor_parallel    every layer cut
    two_cuts           which cut on which wire
    sharded            what each worker keeps: ZeRO's stages, and PyTorch's own
    restarting         killed, and resumed        restarts     a run, and its checkpoints
    faults             a skipped call, a straggler

The launcher knows no program, and the parts know neither.
"""

from .launcher.failures import WorkersFailed
from .launcher.launching import launch
from .links import LINKS, Link, ring_of
from .schedules import bubble, kept, simulate, waiting
from .worker import Worker

__all__ = [
    "LINKS", "Link", "Worker", "WorkersFailed", "bubble", "kept", "launch", "ring_of", "simulate",
    "waiting",
]  # fmt: skip
