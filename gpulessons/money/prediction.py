"""Which number matters for which network: the time of a step on hardware that nobody here owns.

    seconds = max(FLOPs / FLOP/s, bytes / bytes/s) / share

A step cannot be over before its arithmetic is done, nor before its bytes have moved; whichever
takes longer is the limit, and the number on the box to pay for. The share is how much of this roof
is reached: 1 is the device at its best, and a share that was measured elsewhere may be assumed. A
step is one program: of a board with two GPUs it has one, with half of the board's numbers.

A time predicted is "modelled", and never stands among measured ones. How wrong it is, errors.py
measures. Launches, caches, tensor cores and what a framework adds are left out.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpulessons import units
from warplens.tables import Table

from .devices import NUMBERS, Device, named_apart
from .throughput import PAID, amount

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
    threads: int | None = None  # None: it computes in one

    @property
    def intensity(self):
        """FLOPs for each byte that must move."""
        return self.flops / self.bytes

    @property
    def label(self):
        return self.name if self.size is None else f"{self.name} at {units.count(self.size)}"


def of_timing(timing):
    """The Work of a measure.results.Timing, with the time that it took."""
    return Work(timing.op, timing.flops, timing.bytes, timing.size, timing.version, timing.median,
                timing.threads)  # fmt: skip


def of_network(size, seconds=None):
    """The Work of one step of training of a models.six_networks.Size.

    FLOPs are those of its products. Bytes: each number that a step holds (weights, their gradients,
    layers' outputs, theirs) is written once and read once, and the update reads and writes each
    weight. A library that keeps outputs in a cache moves fewer, one that copies them moves more.
    """
    from gpulessons.models.six_networks import cost  # imports PyTorch

    needs = cost(size)
    return Work(size.name, needs.flops, 2 * needs.memory + 8 * needs.parameters, size.batch,
                seconds=seconds)  # fmt: skip


def networks(batch=None):
    """[Work] of the six networks, as large as published; batch: other than published."""
    from gpulessons.models.six_networks import FULL

    return [of_network(replace(size, batch=batch or size.batch)) for size in FULL.values()]


@dataclass(frozen=True, repr=False)
class Prediction:
    """A time that nobody has measured: modelled."""

    work: Work
    device: Device
    share: float = 1.0  # of the roof that is reached, assumed

    @property
    def parts(self):
        """{"FLOP/s": seconds of the arithmetic, "bytes/s": of the bytes}, None where unknown."""
        return {
            limit: part(getattr(self.work, asked), getattr(self.device, rate))
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

    def __repr__(self):
        head = f"{self.work.label} on {self.device.name}: "
        if self.seconds is None:
            missing = [LIMITS[limit][1] for limit, time in self.parts.items() if time is None]
            return head + f"unknown; type in its {' and '.join(missing)}"
        return head + f"{units.seconds(self.seconds)} (modelled; {self.limit} are the limit)"


def part(amount_of_work, rate):
    """Seconds; 0 where nothing is asked."""
    return 0.0 if not amount_of_work else None if rate is None else amount_of_work / rate


def predict(work, device, share=1.0):
    """The Prediction for a Work, a Timing or a network's Size. share: of the roof, above 0."""
    if not share > 0:
        raise ValueError(f"A share of the roof is a number above 0, such as 0.5, not {share!r}.")
    return Prediction(as_work(work), for_one_program(device), share)


def for_one_program(device):
    """Of a board with several GPUs one of them, with its part of every number; else the device."""
    if device.name not in BOARDS:
        return device
    name, gpus = BOARDS[device.name]
    known = {each: getattr(device, each) for each in NUMBERS}
    parts = {each: number / gpus for each, number in known.items() if number is not None}
    return replace(device, name=name, **parts)


def as_work(something):
    if isinstance(something, Work):
        return something
    return of_timing(something) if hasattr(something, "samples") else of_network(something)


# -- What is worth its price.


@dataclass(frozen=True, repr=False)
class Worth:
    """Each work on each device, modelled, and which device makes it cheapest."""

    works: Sequence[Work]
    devices: Sequence[Device]
    by: str = "price"
    currency: str = ""

    @property
    def predictions(self):
        """{(work's label, device's name): Prediction}"""
        return {
            (w.label, d.name): Prediction(w, d) for w in self.works for d in self.devices
        }  # fmt: skip

    def seconds(self, work):
        """{device: seconds of a step, modelled}, without those where it is unknown."""
        found = {d.name: Prediction(work, d).seconds for d in self.devices}
        return {name: time for name, time in found.items() if time is not None}

    def cost(self, work):
        """{device: price × seconds}, what one step a second costs to buy; or to rent for an hour,
        over 3,600: what a step costs. Without those where a number is missing."""
        prices = {d.name: getattr(d, self.by) for d in self.devices}
        seconds = self.seconds(work)
        per = 1 if self.by == "price" else 3600
        return {n: prices[n] * t / per for n, t in seconds.items() if prices[n] is not None}

    def fastest(self, work):
        """The device with the least time, or None."""
        seconds = self.seconds(work)
        return min(seconds, key=seconds.get, default=None)

    def buy(self, work):
        """The device on which it costs least, or None unless at least two can be compared."""
        cost = self.cost(work)
        return min(cost, key=cost.get) if len(cost) > 1 else None

    @property
    def buys(self):
        """{work: the device to buy for it}, where that can be said."""
        found = {work.label: self.buy(work) for work in self.works}
        return {name: device for name, device in found.items() if device}

    @property
    def differs(self):
        """Does the best buy depend on the network? None where it cannot be said."""
        return len(set(self.buys.values())) > 1 if self.buys else None

    @property
    def limits(self):
        """{device: how many works its FLOP/s limit}, of those that are known."""
        found = Counter(d for (_, d), p in self.predictions.items() if p.limit == "FLOP/s")
        return {d.name: found[d.name] for d in self.devices}

    @property
    def verdict(self):
        if self.differs is None:
            return f"No best buy can be named: type in the {PAID[self.by]} of at least two devices."
        groups = {}
        for name, device in self.buys.items():
            groups.setdefault(device, []).append(name)
        if not self.differs:
            return f"Modelled: {next(iter(groups))} is the best buy for all {len(self.buys)}."
        told = "; ".join(f"{device} for {', '.join(names)}" for device, names in groups.items())
        return f"Modelled: the best buy depends on the network. {told}."

    def table(self):
        """Times, each with the number that is its limit."""
        rows = [
            [w.label, f"{w.intensity:.3g}", *(self.cell(w, d) for d in self.devices)]
            for w in self.works
        ]
        head = ["step", "FLOPs a byte", *(f"{d.name} ({ROOFS[d.kind]})" for d in self.devices)]
        notes = ["In brackets: which of the device's two numbers is the limit. Above: whether its "
                 "rates were reached, or are a maximum that nothing quite reaches; do not compare "
                 "the two."]  # fmt: skip
        return Table("Time of one step, MODELLED and not measured", head, rows, notes)

    def cell(self, work, device):
        p = Prediction(work, device)
        return "" if p.seconds is None else f"{units.seconds(p.seconds)} ({p.limit})"

    def cost_table(self):
        bought = self.by == "price"
        caption = "The price of one step a second" if bought else "The rent for 1,000 steps"
        caption += f", in {self.currency}, MODELLED" if self.currency else ", MODELLED"
        rows = []
        for work in self.works:
            cost, best = self.cost(work), self.buy(work)
            each = {n: amount(c if bought else 1000 * c) for n, c in cost.items()}
            cells = [each.get(d.name, "") + " (best)" * (d.name == best) for d in self.devices]
            rows.append([work.label, *cells])
        return Table(caption, ["step", *(d.name for d in self.devices)], rows, [self.verdict])

    @property
    def tables(self):
        priced = any(self.cost(work) for work in self.works)
        return [self.table(), self.cost_table()] if priced else [self.table()]

    def __repr__(self):
        return "\n\n".join(map(repr, self.tables))

    def _repr_html_(self):
        return "".join(table._repr_html_() for table in self.tables)


def worth(works, devices, by="price", currency=""):
    """The Worth of devices for works: Works, Timings or networks' Sizes. A step is one program."""
    if by not in PAID:
        raise ValueError(f"by is one of {', '.join(PAID)}, not {by!r}.")
    works = [as_work(work) for work in works]
    if not works:
        raise ValueError("Give at least one op's timing or network, as in worth(networks(), …).")
    return Worth(works, [*map(for_one_program, named_apart(devices))], by, currency)
