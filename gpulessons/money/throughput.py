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
PAID = {"price": "price", "price_per_hour": "rent for an hour"}


@dataclass(frozen=True, repr=False)
class Costs:
    """The costs of some devices, None where a price or a number is missing."""

    devices: Sequence[Device]
    by: str = "price"  # or "price_per_hour"
    currency: str = ""  # a word of the learner's, shown and never converted

    def per(self, measure):
        """{device: what one core, lane, TFLOP/s or GB/s of it costs, or None}."""
        field, one = MEASURES[measure]
        return {d.name: quotient(getattr(d, self.by), getattr(d, field), one) for d in self.devices}

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
            return f"Nothing can be compared yet: two devices need a {PAID[self.by]}."
        told = "; ".join(f"{names} per {' and per '.join(each)}" for names, each in best.items())
        return f"Cheapest: {told}."

    def table(self):
        """What each number costs; where no price is known, the numbers themselves."""
        if all(getattr(d, self.by) is None for d in self.devices):
            return self.numbers()
        head = ["device", "kind", "price" if self.by == "price" else "an hour",
                *(f"per {measure}" for measure in MEASURES)]  # fmt: skip
        rows = []
        for device in self.devices:
            cells = [self.cell(device, measure) for measure in MEASURES]
            rows.append([device.name, device.kind, amount(getattr(device, self.by)), *cells])
        caption = f"What throughput costs: {PAID[self.by]} / number"
        caption += f", in {self.currency}" * bool(self.currency)
        return Table(caption, head, rows, self.notes())

    def numbers(self):
        units_of = {"flop_rate": "FLOP/s", "bandwidth": "B/s"}
        fields = [field for field, _ in MEASURES.values()]
        rows = [[d.name, d.kind, *(shown(getattr(d, f), units_of.get(f, "")) for f in fields)]
                for d in self.devices]  # fmt: skip
        caption = f"What a {PAID[self.by]} would be divided by; empty where the source gives none"
        return Table(caption, ["device", "kind", "cores", "lanes", "FLOP/s", "bytes/s"], rows,
                     self.notes())  # fmt: skip

    def cell(self, device, measure):
        best = " (best)" * (device.name in self.best(measure))
        return amount(self.per(measure)[device.name]) + best

    def notes(self):
        """What to type in where a column is empty, and where the numbers are from."""
        if all(getattr(d, self.by) is None for d in self.devices):
            return ["No price is known. Prices are yours, not ours: type one in, as in "
                    f"Device(…, {self.by}=…) or replace(device, {self.by}=…)."]  # fmt: skip
        empty = [m for m in MEASURES if not any(v is not None for v in self.per(m).values())]
        return [
            f"– per {measure}: empty, because no device has both; type in "
            f"Device(…, {self.by}=…, {MEASURES[measure][0]}=…)."
            for measure in empty
        ]

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def costs(devices, by="price", currency=""):
    """Costs of devices. by: "price", to buy, or "price_per_hour", to rent."""
    if by not in PAID:
        raise ValueError(f"by is one of {', '.join(PAID)}, not {by!r}.")
    return Costs(tuple(named_apart(devices)), by, currency)


def quotient(price, number, one):
    return None if price is None or number is None else price / (number / one)


def amount(money):
    """A sum for a cell: three digits of it; "" where there is none."""
    return "" if money is None else units.three_digits(money)
