"""What one step asks of a device: operations, and the bytes that move for them at least.

Bytes are those of weights and caches far larger than an L2, and pass through memory; what might
stay on the chip (outputs, logits, scores) and what a framework adds are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .devices import FACTORS

# The networks of S. Shi et al., 2016 (arXiv 1608.07249), as hclhkbu/dlbench has them, built and
# counted by PyTorch: parameters, operations of a training step (its FlopCounterMode), the numbers
# that its layers put out. Minibatches of 64 (FCN), 16 (AlexNet, ResNet-56), 128 (LSTM).
SIX = {
    "FCN-5": (117_997_696, 45_298_483_200, 2_498_560),
    "FCN-8": (130_586_752, 50_130_321_408, 3_284_992),
    "AlexNet": (89_578, 1_180_631_040, 721_056),
    "ResNet": (853_018, 12_046_626_816, 17_303_712),
    "LSTM-32": (6_182_672, 88_684_363_776, 43_057_152),
    "LSTM-64": (6_182_672, 177_368_727_552, 86_114_304),
}
# Llama 2: 32 layers of 4,096, an MLP of 11,008, 32,000 words that go in and come out.
LLAMA_7B = 32 * (4 * 4_096 + 3 * 11_008) * 4_096 + 2 * 32_000 * 4_096  # parameters
CACHED = 2 * 32 * 4_096  # numbers of a token: keys and values


@dataclass(frozen=True)
class Work:
    """One step: operations, and bytes by the numbers it multiplies (money.FACTORS)."""

    name: str
    flops: float
    moved: Mapping[str, float]  # bytes that go through memory at least

    def intensity(self, factors: str) -> float:
        """Operations for each byte that must move."""
        return self.flops / self.moved[factors]


def networks() -> list[Work]:
    """A step of training of each of the six networks of 2017, an op at a time.

    Operations are those of its products. A weight moves six times: it is read twice, its gradient
    written and read, and the update reads and writes it. A layer's output moves eight times: its
    result and what the function after it makes of it are written and read, and the gradients of
    both. In 16 bits the update also reads and writes a copy of each weight in 32.
    """
    works = []
    for name, (parameters, flops, outputs) in SIX.items():
        moved = {factors: width * (6 * parameters + 8 * outputs)
                 for factors, width in FACTORS.items()}  # fmt: skip
        moved["16 bits"] += 8 * parameters
        works.append(Work(name, flops, moved))
    return works


def generating(sequences: int = 1, context: int = 1_024) -> Work:
    """The next token of each of so many sequences by Llama-2-7B: every weight is read once, and
    used by each. The keys and values of the tokens before, so many as `context`, are its own."""
    cached = sequences * CACHED * context
    return Work("decode", 2 * LLAMA_7B * sequences + 2 * cached, in_memory(cached))


def prefill(tokens: int) -> Work:
    """A prompt of so many tokens, all at once: every weight is read once, and used by each; each
    token attends to those before it. The cache is written."""
    cached = CACHED * tokens
    return Work("prefill", 2 * LLAMA_7B * tokens + cached * tokens, in_memory(cached))


def in_memory(cached: float) -> dict[str, float]:
    """{factors: bytes} of Llama's weights and a cache; a number in it takes a byte at least."""
    return {factors: width * LLAMA_7B + max(width, 1) * cached
            for factors, width in FACTORS.items()}  # fmt: skip
