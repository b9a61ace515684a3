"""What throughput costs: cards by their data sheets and dated prices, and what a step asks of them.

    devices      the machine here, and cards that can be bought or rented
    works        what one step asks: operations, bytes that move, bytes that must fit, launches
    chain        one network on one card, run in four ways
    renting      rent or buy: where the two are even
"""

from .chain import stages
from .devices import FACTORS, cards, several
from .renting import break_even, energy
from .works import LLAMA_70B, filling, generating, launch, networks, prefill

__all__ = [
    "FACTORS", "LLAMA_70B", "break_even", "cards", "energy", "filling", "generating",
    "launch", "networks", "prefill", "several", "stages",
]  # fmt: skip
