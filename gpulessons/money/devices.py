"""Devices to compare: what each can do at best, and what it costs where somebody has said so.

    live         the machine here, as measured just now
    recorded     another machine, or another day, as measured there
    published    what a data sheet or a board's specification says: nobody has measured it here
    typed in     what a learner read on a box

Prices are the learner's and never ours: they change by the week and by the country. A number that
nobody has given is None, and whatever it is needed for stays empty.
"""

import json
import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from gpulessons import units
from gpulessons.hardware import files
from warplens.model.devices import sheet

KINDS = "live", "recorded", "published", "typed in"
NUMBERS = {  # what a device's numbers count
    "cores": "cores, as its box counts them", "lanes": "float32 numbers computed at once",
    "flop_rate": "FLOP/s in float32", "bandwidth": "bytes/s of its memory", "price": "money",
    "price_per_hour": "money for an hour of rent", "watts": "watts",
}  # fmt: skip
MAY_BE_FREE = ("price", "price_per_hour")


@dataclass(frozen=True, repr=False)
class Device:
    """What computes, in plain numbers, None where unknown. Prices are in any one currency."""

    name: str
    cores: float | None = None  # logical processors of a CPU, a GPU's "CUDA cores"
    lanes: float | None = None  # a CPU's cores × SIMD bits / 32; a GPU's cores are lanes
    flop_rate: float | None = None  # FLOP/s in float32, or as its name says
    bandwidth: float | None = None  # bytes/s
    price: float | None = None  # to buy
    price_per_hour: float | None = None  # to rent
    watts: float | None = None
    kind: str = "typed in"
    where: str = ""  # where its numbers are from: a machine and a day, or a citation

    def __post_init__(self):
        if not (isinstance(self.name, str) and self.name.strip()):
            raise ValueError(f'A device has a name, as in Device("my card"), not {self.name!r}.')
        if self.kind not in KINDS:
            raise ValueError(f"{self.name}: a kind is one of {', '.join(KINDS)}, not "
                             f"{self.kind!r}.")  # fmt: skip
        for field, counts in NUMBERS.items():
            check_number(self.name, field, getattr(self, field), counts)

    @property
    def corner(self):
        """FLOPs a byte where its roof bends: left of it bytes are the limit. None where unknown."""
        known = self.flop_rate and self.bandwidth
        return self.flop_rate / self.bandwidth if known else None

    def __repr__(self):
        rates = units.rate(self.flop_rate, "FLOP/s"), units.rate(self.bandwidth, "B/s")
        return f"{self.name} ({self.kind}): {rates[0]}, {rates[1]}"


def check_number(device, field, value, counts):
    """ValueError unless it is None, or a finite number above 0 (a price may be 0)."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    free = real and field in MAY_BE_FREE and value == 0
    if not (value is None or free or (real and 0 < value < math.inf)):
        least = "of at least 0" if field in MAY_BE_FREE else "above 0"
        raise ValueError(
            f"{device}: {field} is a number {least} ({counts}), or None where nobody knows it; "
            f"not {value!r}."
        )


# -- Published. No prices, and no number that the source does not give.

TF32 = " TF32"  # float32 numbers whose products tensor cores make, of 10 bits of each mantissa


def published(name, factors="float32"):
    """The Device that a data sheet promises, by the type of its factors."""
    promised = sheet(name)
    return Device(
        name + TF32 * (factors == "TF32"), cores=promised.lanes, lanes=promised.lanes,
        flop_rate=promised.peaks[factors], bandwidth=promised.memory, kind="published",
        where=f"{promised.source}; {factors}",
    )  # fmt: skip


PUBLISHED = (
    published("K80 board"), published("T4"),
    published("A100 40 GB"), published("A100 40 GB", "TF32"),
    published("H200"), published("H200", "TF32"),
)  # fmt: skip


# -- Measured.


def of_machine(machine, price=None, gpu_price=None, kind="live"):
    """[Device] of a hardware.Machine: its CPU, and its GPU if it has one, by measured ceilings.

    price, gpu_price: what the learner paid, or would. The rate is that of the float32 product, the
    bandwidth the best of read, copy and triad. Two logical processors may share a core's lanes: the
    lanes counted are the most that there can be.
    """
    where = f"{machine.name}, {machine.date[:10]}" + f"; {machine.note}" * bool(machine.note)
    lanes = machine.cores * machine.simd_bits // 32 if machine.simd_bits else None
    named = f"{machine.cpu or 'CPU'}, {machine.cores} core{'s' * (machine.cores > 1)}"
    cpu = Device(named, machine.cores, lanes, *best_rates(machine, "host"), price=price,
                 kind=kind, where=where)  # fmt: skip
    if not machine.gpu:
        return [cpu]
    lanes = lanes_of(machine.gpu)
    gpu = Device(machine.gpu["name"], lanes, lanes, *best_rates(machine, "gpu"), price=gpu_price,
                 kind=kind, where=where)  # fmt: skip
    return [cpu, gpu]


# Float32 lanes of a multiprocessor, by compute capability: the CUDA programming guide's table of
# the throughput of arithmetic instructions.
LANES = {**dict.fromkeys(("5", "6", "8", "9", "10", "12"), 128), "6.0": 64, "7": 64, "8.0": 64}


def lanes_of(gpu):
    """All its float32 lanes, which its box calls cores; None where its capability is not known."""
    capability = str(gpu.get("compute_capability"))
    each = LANES.get(capability, LANES.get(capability.partition(".")[0]))
    return each and gpu.get("multiprocessors") and each * gpu["multiprocessors"]


def best_rates(machine, backend):
    """(FLOP/s, bytes/s) of a backend, None where they were not measured."""
    return machine.ceiling(backend, "float32"), machine.bandwidth(backend)


# -- Shown and kept.


def shown(number, unit=""):
    """A number for a cell; "" where there is none."""
    if number is None:
        return ""
    return units.rate(number, unit) if unit else f"{number:,.12g}"


def save(devices, path):
    """Write devices into a small JSON file, which people may edit. Returns its path."""
    given = [{k: v for k, v in asdict(d).items() if v not in (None, "")} for d in devices]
    return files.write(path, json.dumps(given, indent=1, ensure_ascii=False) + "\n")


def load(path):
    """[Device] of a file that `save` or a person wrote; ValueError with a sentence otherwise.

    What was live when it was saved is recorded now.
    """
    example = '[{"name": "my card", "flop_rate": 1e13, "bandwidth": 4e11}]'
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
        found = named_apart([Device(**{"name": None, **each}) for each in given])
    except (OSError, ValueError, TypeError, RecursionError) as trouble:
        why = files.why(trouble)
        raise ValueError(f"{path} cannot be read: {why}. It should hold {example}.") from None
    return [replace(d, kind="recorded") if d.kind == "live" else d for d in found]


def with_prices(devices: Iterable[Device], prices: Mapping[str, float | None]):
    """[Device], each with its price of prices, {name: price}; None, or no entry: as it was.

    Raises ValueError where a name is that of no device: it is misspelled, most likely.
    """
    devices = named_apart(devices)
    names = [device.name for device in devices]
    if unknown := [name for name in prices if name not in names]:
        raise ValueError(f"No device is called {unknown[0]!r}. There are: "
                         f"{', '.join(map(repr, names))}.")  # fmt: skip
    return [d if prices.get(d.name) is None else replace(d, price=prices[d.name]) for d in devices]


def latest(devices: Iterable[Device]):
    """[Device], one for each name: a later one takes the place of an earlier one."""
    return list({device.name: device for device in devices}.values())


def named_apart(devices: Iterable[Device]):
    """The list of them; ValueError where it is empty or two have one name."""
    devices = list(devices)
    names = [device.name for device in devices]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"Two devices are called {twice[0]!r}: give each a name of its own, "
                         "as in replace(device, name=…).")  # fmt: skip
    if not devices:
        raise ValueError('Give at least one device, as in [Device("my card", flop_rate=1e13)].')
    return devices
