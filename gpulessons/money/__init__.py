"""What throughput costs: cards by their data sheets and dated prices, and what a step asks of them.

    devices      the machine here, and cards that can be bought or rented
    works        what one step of a network asks: operations, bytes that move, bytes that must fit
    renting      rent or buy: where the two are even
    cores        what is called a core: the K80's 4,992, and one of this CPU
    brain        an estimate that meets no clock: the brain's arithmetic, by its assumptions

Every public name is loaded at its first use, as the package's are.
"""

import importlib

HOMES = {
    "devices": "Device FACTORS cards of_machine with_rents",
    "works": "Work dense generating networks training",
    "cores": "Cores beside_the_k80",
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
