"""What one of a device's numbers costs: a core, a lane, a TFLOP/s, a GB/s.

    cost = price / number

A box advertises whichever of its numbers is largest. Cores are the least comparable: a CPU's is
many lanes at a high clock, a GPU's is one lane. FLOP/s are comparable, and so are bytes/s; which of
the two to pay for depends on the network (prediction.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpulessons import units
from warplens.tables import Table

from .devices import Device, named_apart, shown

# What is paid for: the field of a Device that counts it, and how many of it make one.
MEASURES = {
    "core": ("cores", 1), "lane": ("lanes", 1), "TFLOP/s": ("flop_rate", 1e12),
    "GB/s": ("bandwidth", 1e9),
}  # fmt: skip
UNITS = {"flop_rate": "FLOP/s", "bandwidth": "B/s"}


@dataclass(frozen=True, repr=False)
class Costs:
    """The costs of some devices, None where a price or a number is missing."""

    devices: Sequence[Device]

    def per(self, measure):
        """{device: what one core, lane, TFLOP/s or GB/s of it costs, or None}."""
        field, one = MEASURES[measure]
        found = {d.name: (d.price, getattr(d, field)) for d in self.devices}
        return {name: None if None in (price, number) else price / (number / one)
                for name, (price, number) in found.items()}  # fmt: skip

    def best(self, measure):
        """The names of the cheapest; [] unless at least two can be compared."""
        known = {name: cost for name, cost in self.per(measure).items() if cost is not None}
        return [name for name in known if known[name] == min(known.values())] * (len(known) > 1)

    @property
    def verdict(self):
        """Which device is the cheapest by which measure, in a sentence."""
        best = {}
        for measure in MEASURES:
            if self.best(measure):
                best.setdefault(" and ".join(self.best(measure)), []).append(measure)
        if not best:
            return "Nothing can be compared yet: two devices need a price."
        each = "; ".join(f"{names} per {' and per '.join(each)}" for names, each in best.items())
        return f"Cheapest: {each}."

    def table(self):
        """What each number costs; where no price is known, the numbers themselves."""
        if all(device.price is None for device in self.devices):
            return self.numbers()
        head = ["device", "kind", "price", *(f"per {measure}" for measure in MEASURES)]
        rows = [
            [d.name, d.kind, amount(d.price), *(self.cell(d, measure) for measure in MEASURES)]
            for d in self.devices
        ]
        return Table("What throughput costs: price / number", head, rows)

    def numbers(self):
        fields = [field for field, _ in MEASURES.values()]
        rows = [[d.name, d.kind, *(shown(getattr(d, f), UNITS.get(f, "")) for f in fields)]
                for d in self.devices]  # fmt: skip
        head = ["device", "kind", "cores", "lanes", "FLOP/s", "bytes/s"]
        notes = ["No price is known. Prices are yours, not ours: type one in, as in "
                 "Device(…, price=…) or replace(device, price=…)."]  # fmt: skip
        caption = "What a price would be divided by; empty where the source gives none"
        return Table(caption, head, rows, notes)

    def cell(self, device, measure):
        best = " (best)" * (device.name in self.best(measure))
        return amount(self.per(measure)[device.name]) + best

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def costs(devices):
    """Costs of devices, to buy."""
    return Costs(tuple(named_apart(devices)))


def amount(money):
    """A sum for a cell: three digits of it; "" where there is none."""
    return "" if money is None else units.three_digits(money)
