"""What throughput costs: cards by their data sheets and dated prices, and what a step asks of them.

    devices      the machine here, and cards that can be bought or rented
    works        what one step asks: operations, and bytes that move
    renting      rent or buy: where the two are even
    serving      tokens by the million, by a card that is rented or owned
"""

from .devices import FACTORS, cards
from .renting import break_even, energy
from .serving import by_the_token, tokens, ways
from .works import generating, networks, prefill

__all__ = [
    "FACTORS", "break_even", "by_the_token", "cards", "energy", "generating", "networks",
    "prefill", "tokens", "ways",
]  # fmt: skip
