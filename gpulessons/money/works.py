"""What one step asks of a device, and how long that takes at least.

    seconds ≥ max(operations / FLOP/s, bytes / bytes/s, launches × a launch)  and it has to fit

A step cannot be over before its arithmetic is done, its bytes have moved, and its kernels have
begun one after another. Bytes and kernels are modelled: a program that fuses more has fewer. Caches
and what a framework adds are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from gpulessons.evidence import published

from .devices import FACTORS, Device

LAYERS, WIDTH = 32, 4_096  # of a transformer of some 6.4 billion parameters, called a "7 B"
PRODUCTS, OPS = 6, 12  # of one of its layers, forward: the ops are its products and as many others
# How a step's kernels are begun.
ONE_BY_ONE, GRAPH, FUSED = HOW = "an op at a time", "as a CUDA graph", "fused, as a CUDA graph"


@dataclass(frozen=True)
class Work:
    """One step: operations, and bytes by the numbers it multiplies (money.FACTORS)."""

    name: str
    flops: float
    moved: Mapping[str, float]  # bytes that go through memory at least
    held: Mapping[str, float]  # bytes that have to fit at once
    launched: float = 0.0  # seconds in which a GPU is given its kernels, at least

    def intensity(self, factors: str) -> float:
        """Operations for each byte that must move."""
        return self.flops / self.moved[factors]

    def fits(self, device: Device, factors: str) -> bool:
        """Whether its memory, as far as it is known, has room."""
        return device.memory is None or self.held[factors] <= device.memory

    def parts(self, device: Device, factors: str) -> dict[str, float]:
        """{"FLOP/s": seconds of the arithmetic, "bytes/s": of the bytes, "launches": of those};
        {} where the device multiplies no such numbers."""
        rate, bandwidth = device.rates.get(factors), device.bandwidth
        if not rate or not bandwidth:
            return {}
        return {"FLOP/s": self.flops / rate, "bytes/s": self.moved[factors] / bandwidth,
                "launches": self.launched}  # fmt: skip

    def seconds(self, device: Device, factors: str) -> float | None:
        """At least; None where the device cannot do it."""
        parts = self.parts(device, factors)
        return max(parts.values()) if parts and self.fits(device, factors) else None

    def limit(self, device: Device, factors: str) -> str:
        """Which of the three takes longest; "" where one is unknown."""
        parts = self.parts(device, factors)
        return max(parts, key=parts.get) if parts else ""

    def cost(self, device: Device, factors: str) -> tuple[float, float] | None:
        """Dollars of the rent of its time, by the least rent and by the most; None where no rent is
        known, or it cannot be done."""
        seconds = self.seconds(device, factors)
        if seconds is None or device.rent is None:
            return None
        return device.rent / 3600 * seconds, device.rent_most / 3600 * seconds


@cache
def launch(how: str = ONE_BY_ONE) -> float:
    """Seconds from one tiny kernel to the next, the least published for an H200. Other cards are
    taken for like it: giving out kernels is mostly the host's work."""
    what = "scale, in a stream" if how == ONE_BY_ONE else "scale, a CUDA graph"
    rows = published("launch", device="H200", what=what, elements=4096)
    return min(row.sizes["bytes"] / row.value for row in rows)


def networks(batch: int | None = None, how: str = ONE_BY_ONE) -> list[Work]:
    """A step of training of each of the six networks; batch: another than published.

    Operations are those of its products. A weight moves six times: it is read twice, its gradient
    written and read, and the update reads and writes it. An op at a time, a layer's output
    moves eight times: its result and what the function after it makes of it are written and read,
    and the gradients of both. Fused it moves four times: that function never stores its own. In 16
    bits the update also reads and writes a copy of each weight in 32.
    """
    from gpulessons.models.six_networks import FULL, cost  # imports PyTorch

    from .launches import kernels

    works = []
    for size in FULL.values():
        needs = cost(size if batch is None else replace(size, batch=batch))
        outputs = (needs.memory / 4 - 2 * needs.parameters) / 4
        moved = by_width(6 * needs.parameters + (4 if how == FUSED else 8) * outputs)
        moved["16 bits"] += 8 * needs.parameters
        held = by_width(needs.memory / 4)
        held["16 bits"] += 4 * needs.parameters
        every, chain = kernels(size.name)
        launched = (chain if how == FUSED else every) * launch(how)
        works.append(Work(size.name, needs.flops, moved, held, launched))
    return works


def by_width(count):
    """{factors: bytes} of so many numbers."""
    return {factors: width * count for factors, width in FACTORS.items()}


def transformer_launched(layers, passes, how):
    """Seconds of the launches of so many passes through a transformer, forward or back."""
    return (PRODUCTS if how == FUSED else OPS) * layers * passes * launch(how)


def training(
    tokens: int = 4_096, layers: int = LAYERS, width: int = WIDTH, how: str = ONE_BY_ONE
) -> Work:
    """A step of training of a transformer by Adam on so many tokens, its outputs kept.

    6 operations a parameter and token. A parameter takes 16 bytes: weight, gradient, two means of
    Adam's, and in 16 bits a copy in 32. In a step weights are read twice, gradients written and
    read, and Adam reads and writes its own. A layer keeps 16 numbers of its width for each token
    (what its norms, products, attention and activation were given), written once and read once.
    """
    parameters, kept = 12 * layers * width**2, 16 * layers * width * tokens
    moved, held = {}, {}
    for factors, each in FACTORS.items():
        adam = 34 if each == 2 else 40
        moved[factors] = adam * parameters + 2 * each * kept
        held[factors] = 16 * parameters + each * kept
    return Work(f"training a {parameters / 1e9:.2g} B transformer on {tokens:,} tokens",
                6 * parameters * tokens, moved, held,
                transformer_launched(layers, 2, how))  # fmt: skip


def generating(
    sequences: int = 1, context: int = 1_024, layers: int = LAYERS, width: int = WIDTH,
    how: str = ONE_BY_ONE,
) -> Work:  # fmt: skip
    """The next token of each of so many sequences: every weight is read once, and used by each. The
    keys and values of the tokens before, so many as `context`, are a sequence's own."""
    parameters, cached = 12 * layers * width**2, 2 * layers * width * context * sequences
    nbytes = by_width(parameters + cached)
    what = "a token" if sequences == 1 else f"{sequences:,} tokens"
    return Work(f"{what} from a {parameters / 1e9:.2g} B transformer",
                2 * parameters * sequences + 2 * cached, nbytes, nbytes,
                transformer_launched(layers, 1, how))  # fmt: skip


def dense(batch: int, width: int = WIDTH) -> Work:
    """A dense layer of as many inputs as outputs, each number moved once."""
    moved = by_width(width**2 + 2 * batch * width)
    return Work(f"a dense layer for {batch:,} examples", 2 * batch * width**2, moved, moved)
