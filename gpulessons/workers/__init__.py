"""Many processes: one program on several workers, on one machine or on many hosts.

    from gpulessons import launch
    launch("data_parallel", workers=2, how="ring")

A program is a module with main(worker, **options); each of these is one, and says in its docstring
what it shows. The modules beside them hold what they are made of, without any process.

    hello              who is there                       launching    launch(): torchrun, watched
    check_collectives  ours against the engine's          collectives  all-reduce: naive, tree, ring
    measure_links      how long an all-reduce takes       links        a model of that, and its fit
    inference          questions, a share for each
    data_parallel      one network, shares of a batch     gradients    what is sent, and packed how
    several            that, several times                training     a network, batches, a log
                                                          batches      what a larger batch buys
    hogwild            shared weights, and no locks       memory       an array that all see, a lock
    lost_updates       additions that vanish without one
    pipeline           one network, cut into stages       schedules    GPipe and 1F1B, simulated
    measure_pipeline   how much of it is waiting
    tensor_parallel    one network, every layer cut
    measure_split      does that bring an example sooner

What a worker does around its program is in worker; how its failures are told in failures; which
processes belong to a launch, and why none outlives it, in processes and engine. Every public name
is loaded at its first use, as the package's are.
"""

import importlib

HOMES = {
    "launcher.launching": "launch",
    "launcher.failures": "WorkersFailed",
    "worker": "Worker",
    "collectives": "Wire naive tree ring reduce_scatter all_gather",
    "links": "Link Sample fit messages",
    "schedules": "Task bubble kept simulate waiting",
}

_home = {name: home for home, names in HOMES.items() for name in names.split()}
__all__ = sorted(_home)


def __getattr__(name):
    if name not in _home:
        raise AttributeError(f"gpulessons.workers has no {name!r}; it has {', '.join(__all__)}.")
    value = getattr(importlib.import_module(f"{__name__}.{_home[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
