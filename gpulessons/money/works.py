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

PRODUCTS, OPS = 6, 12  # of one of its layers, forward: the ops are its products and as many others
EAGER, COMPILED = "eager", "compiled"  # into a CUDA graph of fewer kernels
# The networks of S. Shi et al., 2016 (arXiv 1608.07249), as hclhkbu/dlbench has them, built and
# counted by PyTorch: parameters, operations of a training step (its FlopCounterMode), the numbers
# that its layers put out, layers. Minibatches of 64 (FCN), 16 (AlexNet, ResNet-56), 128 (LSTM).
SIX = {
    "FCN-5": (117_997_696, 45_298_483_200, 2_498_560, 7),
    "FCN-8": (130_586_752, 50_130_321_408, 3_284_992, 13),
    "AlexNet": (89_578, 1_180_631_040, 721_056, 4),
    "ResNet": (853_018, 12_046_626_816, 17_303_712, 114),
    "LSTM-32": (6_182_672, 88_684_363_776, 43_057_152, 3),
    "LSTM-64": (6_182_672, 177_368_727_552, 86_114_304, 3),
}


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
    works = []
    for name, (parameters, flops, outputs, layers) in SIX.items():
        moved = by_width(6 * parameters + 8 * outputs)
        moved["16 bits"] += 8 * parameters
        works.append(Work(name, flops, moved, by_width(2 * parameters + 4 * outputs),
                          2 * layers * launch()))
    return works


def by_width(count):
    """{factors: bytes} of so many numbers."""
    return {factors: width * count for factors, width in FACTORS.items()}


def in_memory(weights: float, cached: float) -> dict[str, float]:
    """{factors: bytes} of both; a number in a cache takes a byte at least."""
    return {factors: width * weights + max(width, 1) * cached for factors, width in FACTORS.items()}


@dataclass(frozen=True)
class Model:
    """A transformer of Llama's kind: in each layer four square matrices, and three of an MLP; an
    embedding, and its like at the end."""

    layers: int
    width: int
    mlp: float  # its width, over the layer's
    vocabulary: int

    @property
    def parameters(self) -> float:
        square = 4 + 3 * self.mlp
        return self.layers * square * self.width**2 + 2 * self.vocabulary * self.width

    def cached(self, tokens: float) -> float:
        """Numbers in the KV cache of so many tokens."""
        return 2 * self.layers * self.width * tokens

    def launched(self, how: str) -> float:
        """Seconds of the launches of one pass."""
        return (PRODUCTS if how == COMPILED else OPS) * self.layers * launch(how)


LLAMA_7B = Model(32, 4_096, 2.6875, 32_000)  # Llama 2


def generating(
    sequences: int = 1, context: float = 1_024, model: Model = LLAMA_7B, how: str = COMPILED
) -> Work:
    """The next token of each of so many sequences: every weight is read once, and used by each. The
    keys and values of the tokens before, so many as `context`, are a sequence's own."""
    cached = sequences * model.cached(context)
    nbytes = in_memory(model.parameters, cached)
    return Work(f"decode, {units.plural(sequences, 'sequence')} at once",
                2 * model.parameters * sequences + 2 * cached, nbytes, nbytes,
                model.launched(how), sequences)  # fmt: skip


def prefill(tokens: int, model: Model = LLAMA_7B) -> Work:
    """A prompt of so many tokens, all at once: every weight is read once, and used by each; each
    token attends to those before it. The cache is written."""
    cached = model.cached(tokens)
    nbytes = in_memory(model.parameters, cached)
    return Work(f"prefill, {tokens:,} tokens",
                2 * model.parameters * tokens + cached * tokens, nbytes, nbytes,
                model.launched(COMPILED), tokens)  # fmt: skip
