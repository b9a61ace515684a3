"""What throughput costs, and what a machine that is not owned would do. No price here is ours.

    devices      the machine here, recorded ones, published ones, and those that a learner types in
    throughput   the price of a core, a lane, a FLOP/s, a byte/s
    prediction   the time of an op or a network on a device, and which device is worth its price
    errors       how wrong such a prediction is, on machines that were measured
    cores        what is called a core: the K80's 4,992, and one of this CPU
    renting      rent or buy, energy, utilization, the end of support
    brain        an estimate with nothing under it: the brain's arithmetic, by its assumptions

Every public name is loaded at its first use, as the package's are.
"""

import importlib

HOMES = {
    "devices": "Device PUBLISHED latest load of_machine save with_prices",
    "throughput": "costs",
    "prediction": "Work networks worth",
    "errors": "Measured by_ceilings by_shares one_core_to_all steps_here",
    "cores": "Cores beside_the_k80",
    "renting": "Energy Plan",
    "brain": "ASSUMPTIONS Assumed operations_per_second spread",
}

HOME = {name: home for home, names in HOMES.items() for name in names.split()}
__all__ = sorted(HOME)


def __getattr__(name):
    if name not in HOME:
        raise AttributeError(f"gpulessons.money has no {name!r}; it has {', '.join(__all__)}.")
    value = getattr(importlib.import_module(f"{__name__}.{HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
