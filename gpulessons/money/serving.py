"""Ways to have the tokens of Llama 3.3 70B written by a card: rented, reserved or owned.

A card is paid by the day, whatever it writes, unlike an API. What a full card writes is
published (NVIDIA, TensorRT-LLM 1.0), and so is what each way costs.
"""

import math
from dataclasses import dataclass

from gpulessons.evidence import published
from warplens.model.devices import sheet

from .devices import around, bought, rows
from .renting import HOURS, energy

VERBS = {"rent by the hour": "rent", "rent of a reservation": "reserve", "price": "own"}
WATTS = {"RTX PRO 6000": 600}  # at most, as announced (gpu.name, 2025): no data sheet was read
RUNS = {"H100": (2, 8), "H200": (1, 8), "B200": (1, 4), "RTX PRO 6000": (1, 4)}
# The published runs: cards that share one copy of the model, and the bits of a weight.


@dataclass(frozen=True)
class Way:
    """Cards, had in one way: dollars a day, whatever they write, and what they write when full."""

    verb: str  # rent, reserve, own
    cards: str  # "H200, 8 bits"
    together: int  # copies of the model that are bought at once: a server's
    least: float  # $ a day, of one
    most: float  # inf: only the least is known
    full: float  # millions of tokens a day


def by_the_token(seller: str, tokens_in: int, tokens_out: int) -> float:
    """Dollars that an API's seller asks for one request, published."""
    read, written = (published("price of tokens", what=f"{seller}: a million {which}")[0].value
                     for which in ("read", "written"))  # fmt: skip
    return (tokens_in * read + tokens_out * written) / 1e6


def tokens(device: str) -> dict[tuple[int, int], float]:
    """{(tokens in, tokens out): tokens that a card writes in a second when full}, published; of
    RUNS, two H100s."""
    found = published("decoding", what="tokens of Llama 3.3 70B", device=device)
    return {(row.sizes["prompt"], row.sizes["output"]): row.value for row in found}


def ways(tokens_in: int, tokens_out: int, years: tuple[float, float], kwh: float) -> list[Way]:
    """Each card in each way that has a price. Owned: its price over the most and the least years,
    and its energy at so many dollars a kWh. ValueError where nobody published these lengths."""
    found = []
    for device, (count, bits) in RUNS.items():
        rates = tokens(device)
        if (tokens_in, tokens_out) not in rates:
            raise ValueError(f"Published are {', '.join(map(str, sorted(rates)))}: tokens in and "
                             f"out, not {(tokens_in, tokens_out)}.")  # fmt: skip
        for offer, verb in VERBS.items():
            if ends := a_day(device, offer, years, kwh):
                full = 86400 * rates[tokens_in, tokens_out] / 1e6
                together = 8 if verb == "own" and around(device) == "HGX server" else 1
                cards = f"{count} × {device}" if count > 1 else device
                days = (count * end for end in ends)
                found.append(Way(verb, f"{cards}, {bits} bits", together, *days, full))
    return found


def a_day(
    device: str, offer: str, years: tuple[float, float], kwh: float
) -> tuple[float, float] | None:
    """Dollars a day of one card, at least and at most."""
    asked = [row.value * 86400 for row in rows(offer, device)]
    if offer == "price" and asked:
        power = 24 * energy(WATTS.get(device) or sheet(device).watts, kwh)
        return tuple(24 * price / (HOURS * of) + power
                     for price, of in zip(bought(device), reversed(years), strict=True))
    most = math.inf if offer == "rent of a reservation" else max(asked, default=0)  # “from”
    return (min(asked), most) if asked else None
