"""What one step asks of a device, and how long that takes at least.

    seconds ≥ max(operations / FLOP/s, bytes / bytes/s, launches × a launch)  and it has to fit

A step cannot be over before its arithmetic is done, its bytes have moved, and its kernels have
begun one after another. It takes so little only if all three overlap; kernels in a row overlap
little. Bytes are those of weights and caches far larger than an L2, and pass through memory; what
might stay on the chip (outputs, logits, scores) and what a framework adds are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpulessons import units
from gpulessons.evidence import published

from .devices import FACTORS, Device

LAYERS, WIDTH = 32, 4_096  # of Llama 2's "7 B", 6.74 billion parameters
VOCABULARY = 32_000
PRODUCTS, OPS = 6, 12  # of one of its layers, forward: the ops are its products and as many others
EAGER, COMPILED = "eager", "compiled"  # into a CUDA graph of fewer kernels


@dataclass(frozen=True)
class Work:
    """One step: operations, and bytes by the numbers it multiplies (money.FACTORS)."""

    name: str
    flops: float
    moved: Mapping[str, float]  # bytes that go through memory at least
    held: Mapping[str, float]  # bytes that have to fit at once
    launched: float = 0.0  # seconds in which a GPU is given its kernels, at least
    tokens: int = 1  # that it makes, or learns from: what is paid for

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
        """Dollars for each of its tokens, at least: the rent of its time, by the least rent and by
        the most; None where no rent is known, or it cannot be done."""
        seconds = self.seconds(device, factors)
        if seconds is None or device.rent is None:
            return None
        return tuple(rent / 3600 * seconds / self.tokens
                     for rent in (device.rent, device.rent_most))


@cache
def launch(how: str = EAGER) -> float:
    """Seconds from one tiny kernel to the next, the least published of any card."""
    what = "scale, in a stream" if how == EAGER else "scale, a CUDA graph"
    return min(row.sizes["bytes"] / row.value
               for row in published("launch", what=what, elements=4096))


def networks() -> list[Work]:
    """A step of training of each of the six networks of 2017, an op at a time. Each layer is
    launched twice at least: forward, and back.

    Operations are those of its products. A weight moves six times: it is read twice, its gradient
    written and read, and the update reads and writes it. A layer's output moves eight times: its
    result and what the function after it makes of it are written and read, and the gradients of
    both. In 16 bits the update also reads and writes a copy of each weight in 32.
    """
    from gpulessons.models.six_networks import KINDS, cost  # imports PyTorch

    works = []
    for name in KINDS:
        needs = cost(name)
        outputs = (needs.memory / 4 - 2 * needs.parameters) / 4
        moved = by_width(6 * needs.parameters + 8 * outputs)
        moved["16 bits"] += 8 * needs.parameters
        works.append(Work(name, needs.flops, moved, by_width(needs.memory / 4),
                          2 * needs.layers * launch()))  # fmt: skip
    return works


def by_width(count):
    """{factors: bytes} of so many numbers."""
    return {factors: width * count for factors, width in FACTORS.items()}


def weights(layers, width):
    """Parameters of a transformer of Llama's kind: four square matrices and three of an MLP 2.6875
    times as wide in each layer, an embedding before, and a projection onto the vocabulary after."""
    return layers * (4 + 3 * 2.6875) * width**2 + 2 * VOCABULARY * width


def transformer_launched(layers, passes, how):
    """Seconds of the launches of so many passes through a transformer, forward or back."""
    return (PRODUCTS if how == COMPILED else OPS) * layers * passes * launch(how)


def training(
    tokens: int = 4_096, layers: int = LAYERS, width: int = WIDTH, how: str = COMPILED
) -> Work:
    """A step of training of a transformer by Adam on so many tokens, its outputs kept.

    6 operations a parameter and token. A parameter takes 16 bytes: weight, gradient, two means of
    Adam's, and in 16 bits a copy in 32. In a step weights are read twice, gradients written and
    read, and Adam reads and writes its own. A layer keeps 16 numbers of its width for each token
    (what its norms, products, attention and activation were given), written once and read once.
    """
    parameters, kept = weights(layers, width), 16 * layers * width * tokens
    moved, held = {}, {}
    for factors, each in FACTORS.items():
        adam = 34 if each == 2 else 40
        moved[factors] = adam * parameters + 2 * each * kept
        held[factors] = 16 * parameters + each * kept
    return Work(f"training, {tokens:,} tokens",
                6 * parameters * tokens, moved, held,
                transformer_launched(layers, 2, how), tokens)  # fmt: skip


def generating(
    sequences: int = 1, context: int = 1_024, layers: int = LAYERS, width: int = WIDTH,
    how: str = COMPILED,
) -> Work:  # fmt: skip
    """The next token of each of so many sequences: every weight is read once, and used by each. The
    keys and values of the tokens before, so many as `context`, are a sequence's own."""
    parameters, cached = weights(layers, width), 2 * layers * width * context * sequences
    nbytes = by_width(parameters + cached)
    return Work(f"decode, {units.plural(sequences, 'sequence')} at once",
                2 * parameters * sequences + 2 * cached, nbytes, nbytes,
                transformer_launched(layers, 1, how), sequences)  # fmt: skip


def filling(device: Device, factors: str = "16 bits", context: int = 1_024) -> Work:
    """Decode with as many sequences at once as the device's memory has room for, at least one."""
    one, two = (generating(count, context).held[factors] for count in (1, 2))
    more = max(0, (device.memory or one) - one) // (two - one)
    return generating(1 + int(more), context)


def prefill(tokens: int, layers: int = LAYERS, width: int = WIDTH) -> Work:
    """A prompt of so many tokens, all at once: every weight is read once, and used by each; each
    token attends to those before it. The cache is written."""
    parameters, cached = weights(layers, width), 2 * layers * width * tokens
    nbytes = by_width(parameters + cached)
    return Work(f"prefill, {tokens:,} tokens", 2 * parameters * tokens + cached * tokens, nbytes,
                nbytes, transformer_launched(layers, 1, COMPILED), tokens)  # fmt: skip
