"""What can be bought or rented: what its data sheet promises, and what it cost on some day.

A number that nobody has given is None, and whatever it is needed for stays empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpulessons.evidence import published
from warplens.model.devices import sheet

# The numbers that a product multiplies, and the bytes that one of them takes in memory. TF32 is
# what tensor cores make of a float32: as many bytes, 10 bits of the mantissa. In 16 bits bfloat16,
# and float16 where a card has no other; in 8 and 4 bits floats, too.
FACTORS = {"float32": 4, "TF32": 4, "16 bits": 2, "8 bits": 1, "4 bits": 0.5}
ON_SHEETS = {"float32": "float32", "TF32": "TF32", "bfloat16": "16 bits", "float16": "16 bits",
             "float8": "8 bits", "float4": "4 bits"}  # fmt: skip
CARDS = "RTX 4090", "A100 80 GB", "H100", "H200", "B200"


@dataclass(frozen=True)
class Device:
    """What computes. Prices are in dollars, or in any one currency of the learner's."""

    name: str
    rates: Mapping[str, float] = field(default_factory=dict)  # FLOP/s, by FACTORS
    bandwidth: float | None = None  # bytes/s of its memory
    memory: float | None = None  # bytes
    price: float | None = None  # to buy, with its part of the machine around it: the least
    price_most: float | None = None
    rent: float | None = None  # of an hour, whether it computes or not: the least
    rent_most: float | None = None
    watts: float | None = None
    where: str = ""  # where its numbers are from

    def ridge(self, factors: str) -> float | None:
        """Operations a byte where its roof bends: with fewer, a step waits for memory."""
        rate = self.rates.get(factors)
        return rate / self.bandwidth if rate and self.bandwidth else None


def cards() -> list[Device]:
    """The cards that this course prices, by their data sheets: each with the least and the most of
    its price on the latest day of which there is one, with its part of a machine, and of its
    sellers' rents by the hour."""
    return [card(name) for name in CARDS]


def card(name):
    promised = sheet(name)
    rates = {ON_SHEETS[each]: rate for each, rate in promised.peaks.items() if each in ON_SHEETS}
    price, price_most = bought(name)
    rents = [row.value * 3600 for row in rows("rent by the hour", name)]
    return Device(
        name, rates, promised.memory, promised.capacity, price=price, price_most=price_most,
        rent=min(rents, default=None), rent_most=max(rents, default=None),
        watts=promised.watts, where=promised.source,
    )  # fmt: skip


def bought(name):
    """The least and the most of a card's price, with its part of a machine; None, None if none."""
    prices = [end for row in latest("price", name) for end in row.ends]
    shares = [row.value for row in rows("share of a machine", around(name))]
    return (min(prices) / max(shares), max(prices) / min(shares)) if prices else (None, None)


def around(name):
    """What a card is put into: one for games into a PC, one for data centers into a server."""
    return "PC" if name.startswith("RTX") else "HGX server"


def rows(subject, name):
    return [row for row in published(subject) if row.device == name]


def latest(subject, name):
    """The rows of the latest day; [] where nothing is published."""
    found = rows(subject, name)
    day = max((row.source.measured for row in found), default="")
    return [row for row in found if row.source.measured == day]
