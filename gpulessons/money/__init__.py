"""What throughput costs: cards by their data sheets and dated prices, and what a step asks of them.

    devices      the machine here, and cards that can be bought or rented
    works        what one step asks: operations, bytes that move, bytes that must fit, launches
    chain        one network on one card, run in four ways
    renting      rent or buy: where the two are even

Every public name is loaded at its first use, as the package's are.
"""

import importlib

HOMES = {
    "devices": "Device FACTORS cards several",
    "works": "LLAMA_7B LLAMA_70B Work filling generating in_flight launch networks prefill",
    "chain": "Stage stages",
    "renting": "break_even energy hours_up",
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
