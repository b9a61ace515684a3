"""Which number matters for which network: the time of a step on hardware that nobody here owns.

    seconds = max(FLOPs / FLOP/s, bytes / bytes/s) / share

A step cannot be over before its arithmetic is done, nor before its bytes have moved; whichever
takes longer is the limit, and the number on the box to pay for. The share is how much of this roof
is reached: 1 is the device at its best, and a share that was measured elsewhere may be assumed. A
step is one program: of a board with two GPUs it has one, with half of the board's numbers.

A time predicted is "modelled", and never stands among measured ones. How wrong it is, errors.py
measures. Launches, caches, tensor cores and what a framework adds are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpulessons import units
from warplens.tables import Table

from .devices import NUMBERS, Device, named_apart
from .throughput import amount

LIMITS = {"FLOP/s": ("flops", "flop_rate"), "bytes/s": ("bytes", "bandwidth")}
BOARDS = {"K80 board": ("one GPU of a K80", 2)}  # what a program sees of it, of how many
ROOFS = {"live": "reached", "recorded": "reached", "published": "maximum", "typed in": "typed in"}


@dataclass(frozen=True)
class Work:
    """What one call of an op, or one step of a network, asks of a machine."""

    name: str
    flops: float
    bytes: float  # that must move at least
    size: int | None = None  # of an op's problem, or a network's batch
    version: str = ""
    seconds: float | None = None  # measured

    @property
    def intensity(self):
        """FLOPs for each byte that must move."""
        return self.flops / self.bytes

    @property
    def label(self):
        return self.name if self.size is None else f"{self.name} at {units.count(self.size)}"


def of_network(size, seconds=None):
    """The Work of one step of training of a models.six_networks.Size.

    FLOPs are those of its products. Bytes: each number that a step holds (weights, their gradients,
    layers' outputs, theirs) is written once and read once, and the update reads and writes each
    weight. A library that keeps outputs in a cache moves fewer, one that copies them moves more.
    """
    from gpulessons.models.six_networks import cost  # imports PyTorch

    needs = cost(size)
    nbytes = 2 * needs.memory + 8 * needs.parameters
    return Work(size.name, needs.flops, nbytes, size.batch, seconds=seconds)


def networks(batch=None):
    """[Work] of the six networks, as large as published; batch: other than published."""
    from gpulessons.models.six_networks import FULL

    return [of_network(replace(size, batch=batch or size.batch)) for size in FULL.values()]


@dataclass(frozen=True)
class Prediction:
    """A time that nobody has measured: modelled."""

    work: Work
    device: Device
    share: float = 1.0  # of the roof that is reached, assumed

    @property
    def parts(self):
        """{"FLOP/s": seconds of the arithmetic, "bytes/s": of the bytes}, None where unknown."""
        return {
            limit: seconds(getattr(self.work, asked), getattr(self.device, rate))
            for limit, (asked, rate) in LIMITS.items()
        }

    @property
    def seconds(self):
        """Modelled; None where a number of the device is missing."""
        parts = self.parts.values()
        return None if None in parts else max(parts) / self.share

    @property
    def limit(self):
        """ "FLOP/s" or "bytes/s", whichever takes longer; "" where one is unknown."""
        return "" if self.seconds is None else max(self.parts, key=self.parts.get)


def seconds(amount_of_work, rate):
    """Of so much work at this rate: None where the rate is unknown, 0 where nothing is asked."""
    if not amount_of_work:
        return 0.0
    return None if rate is None else amount_of_work / rate


def for_one_program(device):
    """Of a board with several GPUs one of them, with its part of every number; else the device."""
    if device.name not in BOARDS:
        return device
    name, gpus = BOARDS[device.name]
    known = {each: getattr(device, each) for each in NUMBERS}
    parts = {each: number / gpus for each, number in known.items() if number is not None}
    return replace(device, name=name, **parts)


# -- What is worth its price.


@dataclass(frozen=True, repr=False)
class Worth:
    """Each work on each device, modelled, and which device makes it cheapest."""

    works: Sequence[Work]
    devices: Sequence[Device]

    def cost(self, work):
        """{device: price × seconds}, what one step a second costs to buy. Without those where a
        number is missing."""
        predicted = [(device, Prediction(work, device).seconds) for device in self.devices]
        return {device.name: device.price * time for device, time in predicted
                if None not in (device.price, time)}  # fmt: skip

    @property
    def buys(self):
        """{work: the device on which it costs least}, where at least two can be compared."""
        costs = {work.label: self.cost(work) for work in self.works}
        return {name: min(cost, key=cost.get) for name, cost in costs.items() if len(cost) > 1}

    @property
    def limits(self):
        """{device: how many works its FLOP/s limit}, of those that are known."""
        return {
            device.name: sum(Prediction(w, device).limit == "FLOP/s" for w in self.works)
            for device in self.devices
        }

    @property
    def verdict(self):
        if not self.buys:
            return "No best buy can be named: type in the price of at least two devices."
        groups = {}
        for name, device in self.buys.items():
            groups.setdefault(device, []).append(name)
        if len(groups) == 1:
            return f"Modelled: {next(iter(groups))} is the best buy for all {len(self.buys)}."
        each = "; ".join(f"{device} for {', '.join(names)}" for device, names in groups.items())
        return f"Modelled: the best buy depends on the network. {each}."

    def table(self):
        """Times, each with the number that is its limit."""
        rows = [
            [w.label, f"{w.intensity:.3g}", *(cell(Prediction(w, d)) for d in self.devices)]
            for w in self.works
        ]
        head = ["step", "FLOPs a byte", *(f"{d.name} ({ROOFS[d.kind]})" for d in self.devices)]
        notes = ["In brackets: which of the device's two numbers is the limit. Above: whether its "
                 "rates were reached, or are a maximum that nothing quite reaches; do not compare "
                 "the two."]  # fmt: skip
        return Table("Time of one step, MODELLED and not measured", head, rows, notes)

    def cost_table(self):
        rows, buys = [], self.buys
        for work in self.works:
            cost = {name: amount(each) for name, each in self.cost(work).items()}
            cells = [cost.get(d.name, "") + " (best)" * (d.name == buys.get(work.label))
                     for d in self.devices]  # fmt: skip
            rows.append([work.label, *cells])
        head = ["step", *(d.name for d in self.devices)]
        return Table("The price of one step a second, MODELLED", head, rows, [self.verdict])

    @property
    def tables(self):
        priced = any(self.cost(work) for work in self.works)
        return [self.table(), self.cost_table()] if priced else [self.table()]

    def __repr__(self):
        return "\n\n".join(map(repr, self.tables))

    def _repr_html_(self):
        return "".join(table._repr_html_() for table in self.tables)


def cell(prediction):
    if prediction.seconds is None:
        return ""
    return f"{units.seconds(prediction.seconds)} ({prediction.limit})"


def worth(works, devices):
    """The Worth of devices for Works. A step is one program."""
    return Worth([*works], [*map(for_one_program, named_apart(devices))])
